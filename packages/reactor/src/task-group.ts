/** Tasks that make sense only all together. */
import { childController } from '@kopf-ts/core/engine';

/** Runs them until all have ended. If one fails, the others are aborted, awaited, and the failure is thrown. */
export async function taskGroup(
  signal: AbortSignal,
  ...tasks: readonly ((signal: AbortSignal) => Promise<void>)[]
): Promise<void> {
  const controller = childController(signal);
  const outcomes = await Promise.allSettled(
    tasks.map(async (task) => {
      try {
        await task(controller.signal);
      } catch (error) {
        controller.abort(error);
        throw error;
      }
    }),
  );
  controller.dispose();
  if (outcomes.some(({ status }) => status === 'rejected')) throw controller.signal.reason;
}
