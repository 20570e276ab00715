/**
 * The hops of an event between our files, listed: `node bench/hops.mjs`; or of another checkout with its dependencies
 * installed: `node bench/hops.mjs --at <folder>`. What counts as a hop, see `hops/hops.ts`.
 */
import { withModules } from './bundle.mjs';

await withModules(['hops/hops.ts'], ({ default: print }) => print(process.argv.slice(2)));
