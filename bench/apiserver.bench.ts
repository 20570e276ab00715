/**
 * The embedded server: how soon it serves, how fast it is beside a real control plane, and how much memory its
 * objects take. Always in processes of its own, built as users get it.
 */
import { withBuiltServer } from './apiserver/building.js';
import { measureMemory } from './apiserver/memory.js';
import { measureStartUp } from './apiserver/start-up.js';
import { measureThroughput } from './apiserver/throughput.js';
import type { Row } from './figures.js';

export default async function run(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  await withBuiltServer(async (built) => {
    for (const measure of [measureStartUp, measureMemory, measureThroughput]) rows.push(...(await measure(built)));
  });
  return rows;
}
