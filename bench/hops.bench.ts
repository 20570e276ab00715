/** How many times the way of an update goes from one of our files into another; see `hops/hops.ts` for what counts. */
import { type Row, row } from './figures.js';
import { countHops, summaryOf } from './hops/hops.js';

/** By the same script on 1dab4ab, the last commit before the engine got its second edition: 260 pairs, 1228 calls. */
const BEFORE = 430;

export default async function run(): Promise<readonly Row[]> {
  const counted = await countHops();
  console.log(`${summaryOf(counted)}. To list them: node bench/hops.mjs`);
  return [
    row('hops of an update between our files', [counted.hops.length], { unit: '', digits: 0, atMost: BEFORE / 2 }),
  ];
}
