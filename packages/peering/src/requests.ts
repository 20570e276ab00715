/** Requests of those who have little time and a loop of their own. */
import { type Clock, KopfError, type KubeClient, type Seconds } from '@kopf-ts/core';
import { abortable, childController } from '@kopf-ts/core/engine';

/** The same client, but it gives up at the first error: it is us who try again, and with newer data. */
export function impatient(client: KubeClient): KubeClient {
  return {
    request: (request) => client.request({ ...request, retries: 'none' }),
    stream: (request) => client.stream(request),
  };
}

/**
 * Runs it for a limited time: then its signal aborts, and the outcome is an error, be the signal obeyed or not.
 * The same when the parent signal aborts.
 */
export async function withinTime<T>(
  clock: Clock,
  limit: Seconds,
  parent: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  parent?.throwIfAborted();
  const attempt = childController(parent);
  clock.sleep(limit, { signal: attempt.signal }).then(
    () => attempt.abort(new KopfError(`There is no answer for ${limit} seconds.`, { code: 'KOPF_PEERING_NO_ANSWER' })),
    () => {}, // It is over before that.
  );
  try {
    return await abortable(run(attempt.signal), attempt.signal);
  } finally {
    attempt.abort(new KopfError('The request is over.', { code: 'KOPF_PEERING_OVER' }));
  }
}
