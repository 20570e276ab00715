import { setTimeout as pause } from 'node:timers/promises';

/** Waits for a condition that comes true by itself; false if it does not. */
export async function becomesTrue(condition: () => boolean | Promise<boolean>, withinMs = 20_000): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (performance.now() < deadline) {
    if (await condition()) return true;
    await pause(50);
  }
  return false;
}
