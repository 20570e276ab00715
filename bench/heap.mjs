/**
 * What an idle daemon or an idle object holds in the memory, by classes: `node bench/heap.mjs [daemons|objects]`.
 * It compares snapshots of the heap before and after 2,000 of them; on a cluster that is only imagined.
 */
import { withModules } from './bundle.mjs';

await withModules(['operator/heap.ts'], ({ default: heap }) => heap(process.argv.slice(2)));
