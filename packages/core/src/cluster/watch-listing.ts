/** The listing of a watch-stream, in pages; and what a listing tells of the objects seen before it. */
import type { Awaitable } from '../seams/awaitable.js';
import { isMapping } from '../values/json.js';
import type { AnyObject } from '../values/objects/body.js';
import { startAttempt } from './attempt.js';
import type { KnownObjects } from './known-objects.js';
import { type ListPage, listPages } from './list.js';
import { isUsualListKind, notAList } from './list-answers.js';
import { describeMalformed, flawOf } from './malformed.js';
import { afterFailure } from './watch-outcomes.js';
import { emitRewound, isRewound, rememberVersion } from './watch-rewinding.js';
import {
  type Emit,
  type State,
  type Stream,
  type WatchedEvent,
  type WatchSignal,
  waitForPermission,
} from './watch-stream.js';

/** Lists everything that there is. */
export async function listing(stream: Stream, emit: Emit): Promise<State> {
  const { client, resource, namespace, fieldSelector, pageSize, known, health } = stream;
  const attempt = startAttempt(stream.signal, stream.paused);
  let version: string | undefined;
  let isDoubtful = false;
  try {
    health.enter('listing');
    await waitForPermission(stream, attempt.signal);
    const request = { namespace, fieldSelector, pageSize, signal: attempt.signal, retries: 'none' } as const;
    // The server prepares a page while we digest the one before it. If we leave, the attempt ends, and that page with it.
    for await (const page of listPages(client, resource, { ...request, readsAhead: true })) {
      health.touch();
      checkPage(stream, page);
      if (page.isFirst) known.beginListing();
      version = page.resourceVersion;
      if (page.isFirst && isRewound(stream, version)) await emitRewound(stream, emit);
      if (version !== undefined) rememberVersion(stream, version);
      for (const object of page.items) {
        const flaw = flawOf(object);
        if (flaw !== undefined) {
          isDoubtful = skipListed(stream, object, flaw) || isDoubtful;
          continue;
        }
        const emitted = emitSeen(known, { type: null, object }, emit);
        if (emitted !== undefined) await emitted;
        attempt.signal.throwIfAborted();
      }
    }
  } catch (error) {
    return afterFailure(stream, attempt, error, { doing: { kind: 'listing' }, isProven: false });
  } finally {
    attempt.dispose();
  }
  health.succeed('listing');
  stream.isVersionDoubtful = false;
  if (isDoubtful) return RELISTING;
  await emitListed(stream, emit);
  return { kind: 'watching', version };
}

/** Soon, but not at once: what is malformed for a moment, may be mended by then. */
const RELISTING: State = { kind: 'backing off', delay: 1, next: { kind: 'listing' } };

/**
 * The object is there, but cannot be told of. True if that is news: then nothing can be concluded from this listing,
 * as it is not known who it is that was malformed; and it is confirmed by one more.
 */
export function skipListed({ malformed, known }: Stream, object: unknown, flaw: string): boolean {
  const what = describeMalformed(null, object, flaw);
  if (isMapping(object) && isMapping(object['metadata'])) known.keep(object['metadata']);
  if (malformed.notice(what, 'listing')) return true;
  malformed.confirm(what);
  return false;
}

/** Throws if the page cannot be believed: nothing is gone because of it. */
function checkPage(stream: Stream, { kind, items, resourceVersion }: ListPage): void {
  const { resource, known } = stream;
  if (resourceVersion === undefined) throw notAList(resource, `${kind} without metadata.resourceVersion`);
  const stranger = resource.kind && items.find((item) => isMapping(item) && item.kind !== resource.kind);
  if (stranger) throw notAList(resource, `${kind} with an item of kind ${String(stranger.kind)}`);
  // A definition may give its lists any name, also after it was made. So an unusual one is learnt, unless it would mean
  // that all objects are gone: then it is more probable that the list is of something else.
  const isBelievable = isUsualListKind(kind, resource) || kind === stream.unusualListKind;
  if (!isBelievable && items.length === 0 && known.size > 0) throw notAList(resource, `an empty ${kind}`);
  if (!isBelievable) stream.unusualListKind = kind;
}

/** The object is there, in a listing or in an event. */
export function emitSeen(known: KnownObjects, event: WatchedEvent, emit: Emit): Awaitable<void> {
  const namesake = known.see(event.object);
  return namesake === undefined ? emit(event) : emitAll([vanished(namesake), event], emit);
}

/** The listing is complete. */
export function emitListed({ known, malformed }: Stream, emit: Emit): Promise<void> {
  malformed.conclude();
  return emitAll([...known.endListing().map(vanished), { type: 'LISTED' }], emit);
}

async function emitAll(signals: readonly WatchSignal[], emit: Emit): Promise<void> {
  for (const signal of signals) await emit(signal);
}

function vanished(object: AnyObject): WatchedEvent {
  return { type: 'DELETED', object, vanished: true };
}
