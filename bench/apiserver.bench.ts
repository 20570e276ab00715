/**
 * The embedded server: how soon it serves, how fast it is beside a real control plane, and how much memory its
 * objects take. Always in processes of its own, built as users get it.
 */
import { withBuiltServer } from './apiserver/building.js';
import { measureMemory } from './apiserver/memory.js';
import { measureStartUp } from './apiserver/start-up.js';
import { measureThroughput } from './apiserver/throughput.js';

export default async function run(): Promise<void> {
  await withBuiltServer(async (built) => {
    await measureStartUp(built);
    await measureMemory(built);
    await measureThroughput(built);
  });
}
