/** How many times the way of an update goes from one of our files into another; see `hops/hops.ts` for what counts. */
import { type Row, row } from './figures.js';
import { countHops, summaryOf } from './hops/hops.js';

/** By the same script on 1dab4ab, the last commit before the engine got its second edition. */
const BEFORE = { calls: 1190, pairsOfFunctions: 420 };

export default async function run(): Promise<readonly Row[]> {
  const counted = await countHops();
  console.log(`${summaryOf(counted)}. To list them: node bench/hops.mjs`);
  return [
    row('calls from one of our files into another for an update', [counted.calls], {
      unit: '',
      digits: 0,
      atMost: BEFORE.calls / 2,
    }),
    row(`  … different ones, ${BEFORE.pairsOfFunctions} before`, [counted.hops.length], { unit: '', digits: 0 }),
  ];
}
