/** Requests with little time, and with a retrying loop of their own around them. */
import { type Clock, KopfError, type KubeClient, type Seconds } from '@kopf-ts/core';
import { abortable, childController } from '@kopf-ts/core/engine';

/**
 * The same client for the requests that decide who acts: none of them waits behind the requests of handlers, however
 * many there are. An operator that cannot renew its lease or its keep-alive in time is taken for dead.
 */
export function urgent(client: KubeClient): KubeClient {
  return {
    request: (request) => client.request({ ...request, urgent: true }),
    stream: (request) => client.stream({ ...request, urgent: true }),
  };
}

/** The same, but it gives up at the first error: it is us who try again, and with newer data. */
export function impatient(client: KubeClient): KubeClient {
  const { request, stream } = urgent(client);
  return { request: (options) => request({ ...options, retries: 'none' }), stream };
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
  const timed = childController(parent);
  clock.sleep(limit, { signal: timed.signal }).then(
    () => timed.abort(new KopfError(`No answer for ${limit} seconds.`, { code: 'KOPF_PEERING_NO_ANSWER' })),
    () => {}, // It is over before that.
  );
  try {
    return await abortable(run(timed.signal), timed.signal);
  } finally {
    timed.abort(new KopfError('The request is over.', { code: 'KOPF_PEERING_OVER' }));
  }
}
