/** Watches: what is there, what has changed since, and what changes from now on. */
import { randomInt } from 'node:crypto';
import type { ApiAnswer } from '../../contracts/request.js';
import type { Revision, StoreEvent } from '../../contracts/store.js';
import { type ListOptions, parseListOptions, parseVersion } from '../../http/query-options.js';
import { StatusError } from '../../http/status-errors.js';
import type { Backend, Call } from '../../routing/backend.js';
import { type Channel, makeChannel } from '../../watching/channel.js';
import { type EventType, errorLine, type LineMaker } from '../../watching/lines.js';
import { selectorOf } from './list.js';

const BOOKMARK_PERIOD = 60;
/** The last bookmark comes a little before the end, so that nothing is lost. */
const BOOKMARK_BEFORE_END = 2;
const DEFAULT_TIMEOUT = 1800;

export function watch(backend: Backend, call: Call): ApiAnswer {
  const options = parseListOptions(call.query, call.isWatchPath);
  const selects = selectorOf(call, options);
  const version = versionOf(options);
  const headers = { 'content-type': 'application/json' };

  const stopped = new AbortController();
  const stops: (() => void)[] = [() => stopped.abort()];
  const channel = makeChannel(() => {
    for (const stop of stops) stop();
  });
  const begin = { backend, call, options, selects, version, channel, maker: backend.watches.linesOf(call.served) };
  stops.push(backend.watches.add(call.served, channel));
  try {
    stops.push(start(begin));
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    channel.push(errorLine(error.status));
    channel.end();
  }
  call.request.signal.addEventListener('abort', channel.end, { once: true });
  stops.push(() => call.request.signal.removeEventListener('abort', channel.end));
  if (!channel.isClosed) void keepTime(begin, stopped.signal);
  return { status: 200, headers, body: '', stream: channel };
}

interface Watch {
  readonly backend: Backend;
  readonly call: Call;
  readonly options: ListOptions;
  readonly selects: ((revision: Revision) => boolean) | undefined;
  readonly version: number;
  readonly channel: Channel;
  readonly maker: LineMaker;
}

function versionOf({ resourceVersion }: ListOptions): number {
  try {
    return parseVersion(resourceVersion);
  } catch (error) {
    throw new StatusError(500, '', (error as Error).message);
  }
}

/** Sends the beginning, and subscribes to the rest; nothing can happen in between. Returns the way to unsubscribe. */
function start(watch: Watch): () => void {
  const { backend, call, options, selects, version, channel, maker } = watch;
  const { store } = backend;
  const { collection } = call.served;
  const sendsState = options.sendInitialEvents ?? version === 0;
  const isInNamespace = (revision: Revision): boolean => call.namespace === '' || revision.namespace === call.namespace;
  const isWanted = (revision: Revision): boolean =>
    isInNamespace(revision) && (selects === undefined || selects(revision));

  const send = (event: StoreEvent): void => {
    if (event.version <= version) return;
    const type = typeFor(event, isWanted);
    if (type !== undefined) channel.push(maker.ofEvent(event, type));
  };

  if (sendsState) {
    const namespace = call.served.namespaced && call.namespace !== '' ? call.namespace : undefined;
    for (const revision of store.list(collection, namespace)) {
      if (isWanted(revision)) channel.pushInitial(maker.ofRevision(revision));
    }
    if (options.allowsBookmarks) {
      channel.pushInitial(maker.bookmark(store.version, true));
    }
  } else if (version > 0) {
    for (const event of store.since(collection, version)) send(event);
  }
  return store.observe(collection, send);
}

/** What a change is to a watcher that sees only a part: things also come into view and leave it. */
function typeFor(event: StoreEvent, isWanted: (revision: Revision) => boolean): EventType | undefined {
  const { type, object, previous } = event;
  if (type === 'ADDED') return isWanted(object) ? 'ADDED' : undefined;
  const was = previous !== undefined && isWanted(previous);
  if (type === 'DELETED') return was ? 'DELETED' : undefined;
  const is = isWanted(object);
  if (was && is) return 'MODIFIED';
  if (is) return 'ADDED';
  return was ? 'DELETED' : undefined;
}

/** Bookmarks now and then, and the end. */
async function keepTime(watch: Watch, signal: AbortSignal): Promise<void> {
  const { backend, options, channel, maker } = watch;
  const { clock, store } = backend;
  // Not all at once: watches that began together should not come back together.
  const timeout = options.timeoutSeconds ?? DEFAULT_TIMEOUT + randomInt(DEFAULT_TIMEOUT);
  const end = clock.now() + timeout;
  const lastBookmark = end - BOOKMARK_BEFORE_END;
  let isLast = !options.allowsBookmarks || clock.now() >= lastBookmark;
  try {
    while (!isLast) {
      const now = clock.now();
      // Decided before: a sleep may be a little too short, and the last one is not to come twice.
      isLast = lastBookmark - now <= BOOKMARK_PERIOD;
      await clock.sleep(Math.min(BOOKMARK_PERIOD, lastBookmark - now), { signal });
      channel.push(maker.bookmark(store.version, false));
    }
    await clock.sleep(end - clock.now(), { signal });
  } catch {
    // Closed meanwhile.
  }
  channel.end();
}
