/** The watching of a watch-stream: one request, from its beginning to its end. */
import type { Awaitable } from '../seams/awaitable.js';
import type { KubeRequest } from '../seams/client.js';
import type { Seconds } from '../seams/clock.js';
import { alarm } from '../sync/alarm.js';
import { getOwn, isMapping } from '../values/json.js';
import type { AnyObject } from '../values/objects/body.js';
import { type QueryFields, resourceUrl } from '../values/resources/resource.js';
import { type Attempt, type LiveEvents, liveEvents, startAttempt } from './attempt.js';
import { describeMalformed, flawOf } from './malformed.js';
import { errorOfEvent } from './stream-failures.js';
import { emitListed, emitSeen, skipListed } from './watch-listing.js';
import { afterEnd, afterFailure, isUnsupported, nextDoing, withoutStreamedLists } from './watch-outcomes.js';
import { checkVersion, emitRewound, isRewound, rememberVersion } from './watch-rewinding.js';
import { type Emit, type Progress, prove, type State, type Stream, waitForPermission } from './watch-stream.js';

/** Streams that end sooner, and bring nothing, are suspicious. */
const SHORT_STREAM: Seconds = 1;
/** A server that can stream a list begins at once; one that has ignored our asking for it may be silent for ever. */
const STREAMED_LIST_PROBE: Seconds = 10;
/** Or it may go on with changes for ever, and never say that all is listed. Big lists take their time, too. */
const STREAMED_LIST_LIMIT: Seconds = 60;
/** If something malformed comes, other such things often follow: one listing serves for all of them. */
const LISTED_ANEW_AFTER: Seconds = 1;
/** If connecting, or the answer after it, may take any time: when to presume that it is done. */
const PRESUMED_DONE: Seconds = 5;

/** Watches from a version; or from the very beginning, and then the listing is a part of the same stream. */
export async function watching(
  stream: Stream,
  from: { readonly version: string | undefined } | undefined,
  emit: Emit,
): Promise<State> {
  const { client, clock, known, health } = stream;
  const attempt = startAttempt(stream.signal, stream.paused);
  // After a silence, the server is asked at once; but one that is away is not asked before it is back.
  const isServerThere = stream.failures === 0;
  const progress: Progress = {
    version: from?.version,
    isListed: from !== undefined,
    isProven: false,
    isDoubtful: false,
    onProven: () => void (isServerThere || checkVersion(stream, attempt)),
  };
  let events: LiveEvents | undefined;
  let forgetDoubts = (): void => {};
  const listSoon = (): void => {
    forgetDoubts();
    forgetDoubts = alarm(clock, LISTED_ANEW_AFTER, () => attempt.interrupt('doubtful'));
  };
  try {
    health.enter(progress.isListed ? 'watching' : 'listing');
    await waitForPermission(stream, attempt.signal);
    const startedAt = clock.now();
    if (!progress.isListed) known.beginListing();
    events = liveEvents(client, watchRequest(stream, from), {
      attempt,
      clock,
      silenceLimit: () => silenceLimit(stream, progress),
      lineLimit: () => stream.settings.watching.lineTimeout,
      listingLimit: () => listingLimit(stream, progress),
      steadyAfter: handshakeLimit(stream),
      // Not at once: there are servers that agree, and then end it, or tell of an error.
      steadyAfterOpening: SHORT_STREAM,
      onSteady: () => prove(stream, progress),
      onProgress: () => health.progress(),
    });
    if (isServerThere && progress.isListed) void checkVersion(stream, attempt);
    for (let raw = await events.next(); !raw.done; raw = await events.next()) {
      health.touch();
      const digested = digest(stream, { attempt, progress, listSoon }, raw.value, emit);
      if (digested !== undefined) await digested;
      attempt.signal.throwIfAborted();
    }
    if (clock.now() - startedAt >= SHORT_STREAM) prove(stream, progress);
    return afterEnd(stream, progress);
  } catch (error) {
    if (attempt.interruption === 'rewound' && !stream.signal.aborted) {
      await emitRewound(stream, emit);
      return { kind: 'listing' };
    }
    if (!progress.isListed && isUnsupported(attempt, error)) return withoutStreamedLists(stream, attempt, error);
    return afterFailure(stream, attempt, error, { doing: nextDoing(progress), isProven: progress.isProven });
  } finally {
    forgetDoubts();
    events?.close();
    attempt.dispose();
  }
}

function watchRequest(stream: Stream, from: { readonly version: string | undefined } | undefined): KubeRequest {
  const { resource, namespace, fieldSelector, settings } = stream;
  const query: QueryFields = {
    fieldSelector,
    watch: true,
    allowWatchBookmarks: true,
    ...(from === undefined ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } : {}),
    resourceVersion: from === undefined ? '' : from.version,
    timeoutSeconds: serverTimeout(stream),
  };
  const connect =
    settings.watching.connectTimeout ?? settings.networking.connectTimeout ?? settings.networking.requestTimeout;
  const headers = settings.networking.headersTimeout;
  const total = settings.watching.clientTimeout;
  return {
    method: 'GET',
    path: resourceUrl(resource, { namespace, query }),
    // The retries are ours: only here it is known from which version, and whether anybody still wants it.
    retries: 'none',
    timeouts: {
      ...(connect === undefined ? {} : { connect }),
      ...(headers === undefined ? {} : { headers }),
      ...(total === undefined ? {} : { total }),
    },
  };
}

/** Different for each request, so that all streams of all operators do not come back at the same moment. */
function serverTimeout({ settings, random }: Stream): number | undefined {
  const { serverTimeout: timeout } = settings.watching;
  if (timeout === undefined) return undefined;
  const seconds = typeof timeout === 'number' ? timeout : timeout.min + random() * (timeout.max - timeout.min);
  return Math.max(1, Math.round(seconds));
}

/**
 * A client tells of no success before the first line. But it tells of failures in time: so if there is none when all
 * the limits are over, the server must have agreed to watch, and there is just nothing to tell of.
 */
function handshakeLimit({ settings: { watching, networking } }: Stream): Seconds {
  const connecting = watching.connectTimeout ?? networking.connectTimeout ?? PRESUMED_DONE;
  const answering = networking.headersTimeout ?? PRESUMED_DONE;
  return Math.min(connecting + answering, watching.inactivityTimeout);
}

/** A server of which it is not known that it can stream lists, gets little time for saying something. */
function silenceLimit({ settings, capabilities }: Stream, { isListed }: Progress): Seconds {
  const { inactivityTimeout } = settings.watching;
  const isProbing = !isListed && capabilities.streamingLists !== true;
  return isProbing ? Math.min(inactivityTimeout, STREAMED_LIST_PROBE) : inactivityTimeout;
}

/** The same for the end of the list. If other streams have found out meanwhile that it cannot, then there is no hope. */
function listingLimit({ capabilities }: Stream, { isListed }: Progress): Seconds {
  if (isListed || capabilities.streamingLists === true) return Number.POSITIVE_INFINITY;
  return capabilities.streamingLists === false ? STREAMED_LIST_PROBE : STREAMED_LIST_LIMIT;
}

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

interface Digesting {
  readonly attempt: Attempt;
  readonly progress: Progress;
  /** Ends the stream in a moment, and lists anew. */
  readonly listSoon: () => void;
}

/** One line of the stream, as what it means. */
function digest(stream: Stream, digesting: Digesting, raw: unknown, emit: Emit): Awaitable<void> {
  const { known, malformed, logger, title } = stream;
  const { progress } = digesting;
  const { type, object } = (isMapping(raw) ? raw : {}) as { type?: unknown; object?: AnyObject };
  if (type === 'ERROR') throw errorOfEvent(object);
  const isSupported = type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED' || type === 'BOOKMARK';
  if (!isSupported || !isMapping(object)) {
    const shown = `${JSON.stringify(type)}${isMapping(object) ? '' : ' without an object'}`;
    logger.warn(`Ignoring an unsupported event type in the watch-stream for ${title}: ${shown}`);
    // What it was about is not known.
    if (!isMapping(object) && malformed.notice(`an event of type ${shown}`, 'event')) doubt(digesting);
    return;
  }
  const version: unknown = isMapping(object.metadata) ? object.metadata.resourceVersion : undefined;
  // Only bookmarks tell of the whole: an object is as old as it is.
  if (type === 'BOOKMARK' && typeof version === 'string' && isRewound(stream, version)) {
    return digesting.attempt.interrupt('rewound');
  }
  if (typeof version === 'string') {
    if (progress.isListed && version !== progress.version) stream.undecodables = 0;
    progress.version = version;
    rememberVersion(stream, version);
  }
  prove(stream, progress);
  if (type === 'BOOKMARK') return digestBookmark(stream, digesting, object, emit);
  const flaw = flawOf(object);
  if (flaw !== undefined) {
    const isOfListing = !progress.isListed && type !== 'DELETED';
    const what = describeMalformed(type, object, flaw);
    if (isOfListing ? skipListed(stream, object, flaw) : malformed.notice(what, 'event')) doubt(digesting);
    else logger.debug(`Skipped again in the watch-stream for ${title}: ${what}`);
    return;
  }
  switch (type) {
    case 'ADDED':
      return emitSeen(known, { type: progress.isListed ? type : null, object }, emit);
    case 'MODIFIED':
      return emitSeen(known, { type, object }, emit);
    case 'DELETED':
      known.forget(object);
      return emit({ type, object });
  }
}

/** Not everything that has happened could be understood, so a listing must tell what there is; after this one, if any. */
function doubt({ progress, listSoon }: Digesting): void {
  if (progress.isListed && !progress.isDoubtful) listSoon();
  progress.isDoubtful = true;
}

function digestBookmark(stream: Stream, digesting: Digesting, object: AnyObject, emit: Emit): Awaitable<void> {
  const { progress, listSoon } = digesting;
  const annotations = isMapping(object.metadata?.annotations) ? object.metadata.annotations : {};
  if (progress.isListed || getOwn(annotations, INITIAL_EVENTS_END) !== 'true') return;
  stream.capabilities.streamingLists = true;
  stream.isVersionDoubtful = false;
  if (progress.isDoubtful) return listSoon();
  progress.isListed = true;
  prove(stream, progress);
  stream.health.enter('watching');
  return emitListed(stream, emit);
}
