/** The listing of a watch-stream, in pages; and what a listing tells of the objects seen before it. */
import { startAttempt } from './attempt.js';
import type { KnownObjects } from './known-objects.js';
import { listPages } from './list.js';
import { afterFailure } from './watch-outcomes.js';
import { type Signals, type Stream, type WatchedEvent, type WatchSignal, waitForPermission } from './watch-stream.js';

/** Lists everything that there is. */
export async function* listing(stream: Stream): Signals {
  const { client, resource, namespace, pageSize, known, health } = stream;
  const attempt = startAttempt(stream.signal, stream.paused);
  let version: string | undefined;
  try {
    health.enter('listing');
    await waitForPermission(stream, attempt.signal);
    const request = { namespace, pageSize, signal: attempt.signal, retries: 'none' } as const;
    for await (const page of listPages(client, resource, request)) {
      health.touch();
      if (page.isFirst) known.beginListing();
      version = page.resourceVersion;
      for (const object of page.items) {
        yield* seen(known, { type: null, object });
        attempt.signal.throwIfAborted();
      }
    }
  } catch (error) {
    return afterFailure(stream, attempt, error, { doing: { kind: 'listing' }, isProven: false });
  } finally {
    attempt.dispose();
  }
  health.succeed('listing');
  yield* listed(known);
  return { kind: 'watching', version };
}

/** The object is there, in a listing or in an event. */
export function* seen(known: KnownObjects, event: WatchedEvent): Generator<WatchSignal, void, void> {
  const namesake = known.see(event.object);
  if (namesake !== undefined) yield { type: 'DELETED', object: namesake, vanished: true };
  yield event;
}

/** The listing is complete. */
export function* listed(known: KnownObjects): Generator<WatchSignal, void, void> {
  for (const object of known.endListing()) yield { type: 'DELETED', object, vanished: true };
  yield { type: 'LISTED' };
}
