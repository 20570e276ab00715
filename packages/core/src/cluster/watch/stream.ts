/** A watch-stream at work: it makes the connections that its state asks for, and emits what comes by them. */
import { type ApiError, type ApiStatus, apiError, describeError, toError } from '../../errors.js';
import { type Facts, NO_FACTS } from '../../observing/facts.js';
import type { Awaitable } from '../../seams/awaitable.js';
import type { KubeClient, KubeRequest } from '../../seams/client.js';
import type { Seconds } from '../../seams/clock.js';
import { alarm } from '../../sync/alarm.js';
import { getOwn, isMapping } from '../../values/json.js';
import type { AnyObject } from '../../values/objects/body.js';
import { type QueryFields, resourceUrl } from '../../values/resources/resource.js';
import { formatWatchTarget, type WatchTarget } from '../../values/resources/watch-target.js';
import { type ListPage, listPages } from '../list.js';
import { checkedList, isUsualListKind, notAList } from '../list-answers.js';
import { Connection, LineReader } from './connection.js';
import { type ConnectionLimiter, connectionLimiter } from './connection-limiter.js';
import { StreamHealth } from './health.js';
import { KnownObjects } from './known-objects.js';
import {
  afterConnection,
  type Doing,
  type Ending,
  LISTING,
  type News,
  NO_TROUBLES,
  PAUSED,
  type Reach,
  type Troubles,
  type WatchState,
} from './machine.js';
import { describeMalformed, flawOf, type MalformedObjects, malformedObjects } from './malformed.js';
import { isRewound, SeenVersions } from './seen-versions.js';
import type { Emit, ServerCapabilities, WatchedEvent, WatchOptions } from './signals.js';

/** Whatever happens, no stream makes more connections than this in the long run. */
const STREAM_LIMITS = { perSecond: 1, burst: 10 };
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
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';
const NOTHING = Object.freeze({});

/** Where a watching stands: from its request to its end. */
interface Watching {
  readonly connection: Connection;
  /** The server has answered before this watching began, and is not waited for. */
  readonly isServerThere: boolean;
  version: string | undefined;
  /** It is past the initial listing. */
  isListed: boolean;
  /** Something malformed has come for the first time: a listing must follow. */
  isDoubtful: boolean;
  /** It is not only asked for, but works. */
  isProven: boolean;
  forgetDoubts: () => void;
}

export class WatchStream {
  readonly #client: KubeClient;
  readonly #target: WatchTarget;
  readonly #options: WatchOptions;
  readonly #emit: Emit;
  readonly #title: string;
  readonly #capabilities: ServerCapabilities;
  readonly #random: () => number;
  readonly #facts: Facts;
  readonly #health: StreamHealth;
  readonly #malformed: MalformedObjects;
  readonly #pacer: ConnectionLimiter;
  readonly #known = new KnownObjects();
  readonly #versions = new SeenVersions();
  #troubles: Troubles = NO_TROUBLES;
  /** Not the same as of the server: it can have other servers behind it. */
  #canStreamLists = true;
  /** How this kind calls its lists, if not as all others do: by its own name with `List` at the end. */
  #unusualListKind: string | undefined;
  #listingSince: Seconds = 0;
  #isListedOnce = false;

  constructor(client: KubeClient, target: WatchTarget, options: WatchOptions, emit: Emit) {
    const { clock, logger, signal, facts = NO_FACTS, onTrouble, isReportedElsewhere } = options;
    // A wrong address is a mistake of the caller, and would fail for ever: it is thrown here, before any retrying.
    resourceUrl(target.resource, { namespace: target.namespace });
    const title = formatWatchTarget(target);
    this.#client = client;
    this.#target = target;
    this.#options = options;
    this.#emit = emit;
    this.#title = title;
    this.#capabilities = options.capabilities ?? {};
    this.#random = options.random ?? Math.random;
    this.#facts = facts;
    this.#health = new StreamHealth({ target, title, clock, logger, signal, facts, onTrouble, isReportedElsewhere });
    this.#malformed = malformedObjects(logger, title);
    this.#pacer = connectionLimiter(clock, STREAM_LIMITS);
  }

  /** From state to state, until the signal aborts. */
  async run(): Promise<void> {
    const { signal, paused } = this.#options;
    let state: WatchState = LISTING;
    try {
      while (!signal.aborted) {
        if (paused?.isOn) state = PAUSED;
        state = await this.#live(state);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #live(state: WatchState): Promise<WatchState> {
    switch (state.kind) {
      case 'paused':
        return this.#pause();
      case 'backing off':
        return this.#backOff(state.delay, state.next);
      case 'listing': {
        const isStreamed = this.#canStreamLists && this.#capabilities.streamingLists !== false;
        return isStreamed ? this.#watch(undefined) : this.#list();
      }
      case 'watching':
        return this.#watch(state);
    }
  }

  async #pause(): Promise<WatchState> {
    const { paused, logger, signal } = this.#options;
    this.#health.enter('paused');
    logger.debug(`Pausing the watch-stream for ${this.#title}.`);
    await paused?.whenOff(signal);
    logger.debug(`Resuming the watch-stream for ${this.#title}.`);
    this.#troubles = { ...this.#troubles, failures: 0, refusals: 0 };
    return LISTING;
  }

  async #backOff(delay: Seconds, next: Doing): Promise<WatchState> {
    const connection = this.#connection();
    try {
      await this.#options.clock.sleep(delay, { signal: connection.signal });
      return next;
    } catch (error) {
      if (connection.interruption === 'paused') return PAUSED;
      throw error;
    } finally {
      connection.close();
    }
  }

  /** Lists all objects, page by page. */
  async #list(): Promise<WatchState> {
    const connection = this.#connection();
    const { resource, namespace, labelSelector, fieldSelector } = this.#target;
    const { pageSize } = this.#options;
    const { signal } = connection;
    let version: string | undefined;
    let isDoubtful = false;
    let ending: Ending;
    try {
      this.#health.enter('listing');
      await this.#waitForTurn(signal);
      const request = { namespace, labelSelector, fieldSelector, pageSize, signal, retries: 'none' } as const;
      // The server prepares a page while we look at the one before it. If we leave, the connection ends with that page.
      for await (const page of listPages(this.#client, resource, { ...request, readsAhead: true })) {
        this.#health.touch(this.#options.clock.now());
        this.#checkPage(page);
        if (page.isFirst) this.#beginListing();
        version = page.resourceVersion;
        if (page.isFirst && isRewound(this.#versions.newest, version)) await this.#emitRewound();
        if (version !== undefined) this.#versions.remember(version);
        for (const object of page.items) {
          const flaw = flawOf(object);
          if (flaw !== undefined) {
            isDoubtful = this.#skipListed(object, flaw) || isDoubtful;
            continue;
          }
          const emitted = this.#emitSeen({ type: null, object });
          if (emitted !== undefined) await emitted;
          signal.throwIfAborted();
        }
      }
      ending = { kind: 'listed', version, isDoubtful };
    } catch (error) {
      ending = this.#endingBy(error, connection);
    } finally {
      connection.close();
    }
    if (ending.kind === 'listed') {
      this.#health.succeed('listing');
      this.#versions.isDoubtful = false;
      if (!isDoubtful) await this.#emitListed();
    }
    return await this.#after(ending, { doing: LISTING, isListStreamed: false, isProven: false });
  }

  /** Watches from a version; or from the very beginning, and then the listing is a part of the same stream. */
  async #watch(from: { readonly version: string | undefined } | undefined): Promise<WatchState> {
    const { clock } = this.#options;
    const watching: Watching = {
      connection: this.#connection(),
      // After a silence, the server is asked at once; but one that is away is not asked before it is back.
      isServerThere: this.#troubles.failures === 0,
      version: from?.version,
      isListed: from !== undefined,
      isProven: false,
      isDoubtful: false,
      forgetDoubts: () => {},
    };
    const { connection } = watching;
    let reader: LineReader | undefined;
    let ending: Ending;
    try {
      this.#health.enter(watching.isListed ? 'watching' : 'listing');
      await this.#waitForTurn(connection.signal);
      const startedAt = clock.now();
      if (!watching.isListed) this.#beginListing();
      reader = this.#read(watching, from);
      if (watching.isServerThere && watching.isListed) void this.#checkVersion(connection);
      await reader.read();
      if (clock.now() - startedAt >= SHORT_STREAM) this.#prove(watching);
      ending = { kind: 'closed' };
    } catch (error) {
      ending = this.#endingBy(error, connection);
    } finally {
      watching.forgetDoubts();
      reader?.close();
      connection.close();
    }
    const { isListed, isDoubtful, isProven, version } = watching;
    const doing: Doing = isListed && !isDoubtful ? { kind: 'watching', version } : LISTING;
    return await this.#after(ending, { doing, isListStreamed: !isListed, isProven });
  }

  #read(watching: Watching, from: { readonly version: string | undefined } | undefined): LineReader {
    const { clock, settings } = this.#options;
    return new LineReader(this.#client, this.#watchRequest(from), {
      connection: watching.connection,
      clock,
      accept: (line) => this.#accept(watching, line),
      silenceLimit: () => this.#silenceLimit(watching),
      lineLimit: () => settings.watching.lineTimeout,
      listingLimit: () => this.#listingLimit(watching),
      steadyAfter: handshakeLimit(settings),
      // Not at once: there are servers that agree, and then end it, or answer with an error.
      steadyAfterOpening: SHORT_STREAM,
      onSteady: () => this.#prove(watching),
      onOpened: () => {
        if (!this.#facts.wants['stream.opened']) return;
        this.#facts.tell({ kind: 'stream.opened', stream: this.#target, version: from?.version });
      },
      signs: this.#health,
    });
  }

  #connection(): Connection {
    return new Connection(this.#options.signal, this.#options.paused);
  }

  /** Waits until one more connection may be made: by the limit of this stream, and by that of all of them. */
  async #waitForTurn(signal: AbortSignal): Promise<void> {
    await this.#pacer.acquire(signal);
    await this.#options.limiter?.acquire(signal);
  }

  #watchRequest(from: { readonly version: string | undefined } | undefined): KubeRequest {
    const { resource, namespace, labelSelector, fieldSelector } = this.#target;
    const { watching, networking } = this.#options.settings;
    const query: QueryFields = {
      labelSelector,
      fieldSelector,
      watch: true,
      allowWatchBookmarks: true,
      ...(from === undefined ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } : {}),
      resourceVersion: from === undefined ? '' : from.version,
      timeoutSeconds: this.#serverTimeout(),
    };
    const connect = watching.connectTimeout ?? networking.connectTimeout ?? networking.requestTimeout;
    const headers = networking.headersTimeout;
    const total = watching.clientTimeout;
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
  #serverTimeout(): number | undefined {
    const { serverTimeout: timeout } = this.#options.settings.watching;
    if (timeout === undefined) return undefined;
    const seconds = typeof timeout === 'number' ? timeout : timeout.min + this.#random() * (timeout.max - timeout.min);
    return Math.max(1, Math.round(seconds));
  }

  /** A server of which it is not known that it can stream lists gets little time for saying something. */
  #silenceLimit({ isListed }: Watching): Seconds {
    const { inactivityTimeout } = this.#options.settings.watching;
    const isProbing = !isListed && this.#capabilities.streamingLists !== true;
    return isProbing ? Math.min(inactivityTimeout, STREAMED_LIST_PROBE) : inactivityTimeout;
  }

  /** The same for the end of the list. If other streams have found out meanwhile that it cannot, there is no hope. */
  #listingLimit({ isListed }: Watching): Seconds {
    const { streamingLists } = this.#capabilities;
    if (isListed || streamingLists === true) return Number.POSITIVE_INFINITY;
    return streamingLists === false ? STREAMED_LIST_PROBE : STREAMED_LIST_LIMIT;
  }

  #endingBy(error: unknown, { interruption }: Connection): Ending {
    if (this.#options.signal.aborted) throw error;
    return interruption === undefined ? { kind: 'failed', error } : { kind: 'interrupted', why: interruption };
  }

  /** The connection is over: what that tells is told, and what follows is returned. */
  async #after(ending: Ending, reach: Reach): Promise<WatchState> {
    const { reconnectBackoff, lineTimeout } = this.#options.settings.watching;
    const pace = { reconnectBackoff, lineTimeout, random: this.#random };
    const { state, troubles, news } = afterConnection(ending, reach, this.#troubles, pace);
    this.#troubles = troubles;
    if (news?.kind === 'rewound') await this.#emitRewound();
    else if (news !== undefined) this.#tell(news);
    return state;
  }

  #tell(news: Exclude<News, { readonly kind: 'rewound' }>): void {
    const { logger, settings } = this.#options;
    switch (news.kind) {
      case 'silent':
        logger.debug(`Watch-stream for ${this.#title} is inactive, reconnecting.`);
        this.#versions.isDoubtful = true;
        if (this.#facts.wants['stream.lagging']) {
          const silence = settings.watching.inactivityTimeout;
          this.#facts.tell({ kind: 'stream.lagging', stream: this.#target, silence });
        }
        return;
      case 'cut':
        logger.debug(`Watch-stream for ${this.#title} is cut, reconnecting.`, { error: news.error });
        this.#tellFailure(news.error, 0);
        return;
      case 'undecodable':
        this.#malformed.notice(news.what, 'event');
        return;
      case 'not streamed':
        this.#canStreamLists = false;
        if (news.isOfServer) this.#capabilities.streamingLists ??= false;
        logger.debug(`The list for ${this.#title} is not streamed by the server; listing in pages.`);
        return;
      case 'failed':
        if (news.isVersionDoubtful) this.#versions.isDoubtful = true;
        if (news.isExpired) logger.debug(`Restarting the watch-stream for ${this.#title}.`);
        if (news.isDown) this.#health.fail(news.what, news.error);
        this.#tellFailure(news.error, news.delay);
        return;
    }
  }

  #tellFailure(thrown: unknown, delay: Seconds): void {
    if (!this.#facts.wants['stream.failed']) return;
    const { failures } = this.#troubles;
    this.#facts.tell({ kind: 'stream.failed', stream: this.#target, error: toError(thrown), failures, delay });
  }

  /** The watching works: all the past failures are forgotten. */
  #prove(watching: Watching): void {
    // A listing that is never complete is not yet a success.
    if (watching.isProven || !watching.isListed) return;
    watching.isProven = true;
    this.#troubles = { ...this.#troubles, failures: 0, refusals: 0 };
    this.#health.succeed('watching');
    if (!watching.isServerThere) void this.#checkVersion(watching.connection);
  }

  /** One line of the stream, as what it means. */
  #accept(watching: Watching, line: unknown): Awaitable<void> {
    const { type, object } = (line ?? NOTHING) as { readonly type?: unknown; readonly object?: AnyObject };
    if (type === 'BOOKMARK' && isMapping(object)) return this.#acceptBookmark(watching, object);
    if (type === 'ERROR') throw errorOfEvent(object);
    const isSupported = type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED';
    if (!isSupported || object === undefined) return this.#ignore(watching, type, object);
    const flaw = flawOf(object);
    if (flaw !== undefined) return this.#skip(watching, type, object, flaw);
    this.#advance(watching, object.metadata?.resourceVersion);
    if (type === 'DELETED') {
      this.#known.forget(object);
      return this.#emitEvent({ type, object });
    }
    return this.#emitSeen({ type: watching.isListed || type !== 'ADDED' ? type : null, object });
  }

  /** The stream works, and has come to this version. */
  #advance(watching: Watching, version: unknown): void {
    if (typeof version === 'string') {
      const isUnderstood = watching.isListed && version !== watching.version;
      if (isUnderstood && this.#troubles.undecodables > 0) this.#troubles = { ...this.#troubles, undecodables: 0 };
      watching.version = version;
      this.#versions.remember(version);
    }
    this.#prove(watching);
  }

  #acceptBookmark(watching: Watching, object: AnyObject): Awaitable<void> {
    const reached: unknown = isMapping(object.metadata) ? object.metadata.resourceVersion : undefined;
    // Only bookmarks tell of the whole: an object is as old as it is.
    if (typeof reached === 'string' && isRewound(this.#versions.newest, reached)) {
      return watching.connection.interrupt('rewound');
    }
    this.#advance(watching, reached);
    if (this.#facts.wants['stream.bookmark']) {
      const version = object.metadata?.resourceVersion;
      this.#facts.tell({ kind: 'stream.bookmark', stream: this.#target, version });
    }
    const annotations = isMapping(object.metadata?.annotations) ? object.metadata.annotations : {};
    if (watching.isListed || getOwn(annotations, INITIAL_EVENTS_END) !== 'true') return;
    this.#capabilities.streamingLists = true;
    this.#versions.isDoubtful = false;
    if (watching.isDoubtful) return this.#listSoon(watching);
    watching.isListed = true;
    this.#prove(watching);
    this.#health.enter('watching');
    return this.#emitListed();
  }

  #ignore(watching: Watching, type: unknown, object: unknown): void {
    const isObject = isMapping(object);
    const shown = `${JSON.stringify(type)}${isObject ? '' : ' without an object'}`;
    this.#options.logger.warn(`Ignoring an unsupported event type in the watch-stream for ${this.#title}: ${shown}`);
    // What it was about is not known.
    if (!isObject && this.#malformed.notice(`an event of type ${shown}`, 'event')) this.#doubt(watching);
  }

  #skip(watching: Watching, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: AnyObject, flaw: string): void {
    if (!isMapping(object)) {
      this.#ignore(watching, type, object);
      return;
    }
    this.#advance(watching, isMapping(object.metadata) ? object.metadata.resourceVersion : undefined);
    const isOfListing = !watching.isListed && type !== 'DELETED';
    const what = describeMalformed(type, object, flaw);
    const isNews = isOfListing ? this.#skipListed(object, flaw) : this.#malformed.notice(what, 'event');
    if (isNews) this.#doubt(watching);
    else this.#options.logger.debug(`Skipped again in the watch-stream for ${this.#title}: ${what}`);
  }

  /**
   * The object is there, but cannot be emitted. True if that is news: then nothing can be concluded from this listing,
   * as it is not known which object was malformed; and one more listing has to confirm it.
   */
  #skipListed(object: unknown, flaw: string): boolean {
    const what = describeMalformed(null, object, flaw);
    if (isMapping(object) && isMapping(object['metadata'])) this.#known.keep(object['metadata']);
    if (this.#malformed.notice(what, 'listing')) return true;
    this.#malformed.confirm(what);
    return false;
  }

  /** Not everything that has happened could be understood, so a listing must tell what there is; after this one, if any. */
  #doubt(watching: Watching): void {
    if (watching.isListed && !watching.isDoubtful) this.#listSoon(watching);
    watching.isDoubtful = true;
  }

  /** Ends the stream in a moment, and lists anew. */
  #listSoon(watching: Watching): void {
    watching.forgetDoubts();
    watching.forgetDoubts = alarm(this.#options.clock, LISTED_ANEW_AFTER, () =>
      watching.connection.interrupt('doubtful'),
    );
  }

  /** Throws if the page cannot be believed: nothing is gone because of it. */
  #checkPage({ kind, items, resourceVersion }: ListPage): void {
    const { resource } = this.#target;
    if (resourceVersion === undefined) throw notAList(resource, `${kind} without metadata.resourceVersion`);
    const stranger = resource.kind && items.find((item) => isMapping(item) && item.kind !== resource.kind);
    if (stranger) throw notAList(resource, `${kind} with an item of kind ${String(stranger.kind)}`);
    // A definition may give its lists any name, also after it was made. So an unusual one is learnt, unless it would
    // mean that all objects are gone: then it is more probable that the list is of something else.
    const isBelievable = isUsualListKind(kind, resource) || kind === this.#unusualListKind;
    if (!isBelievable && items.length === 0 && this.#known.size > 0) throw notAList(resource, `an empty ${kind}`);
    if (!isBelievable) this.#unusualListKind = kind;
  }

  /** Asks for the current version, if there was a trouble since it was last known. Interrupts the connection if it is below. */
  async #checkVersion(connection: Connection): Promise<void> {
    const { resource, namespace, labelSelector, fieldSelector } = this.#target;
    const { signal } = connection;
    const versions = this.#versions;
    if (!versions.isDoubtful || versions.newest === undefined) return;
    try {
      await this.#options.limiter?.acquire(signal);
      // Events go on coming while it is asked for: the answer can be older than they are, but not than those before it.
      const { newest } = versions;
      // The empty version means the newest state. One object is enough: it is the version of the list that matters.
      const query = { labelSelector, fieldSelector, limit: 1, resourceVersion: '' };
      const path = resourceUrl(resource, { namespace, query });
      const answer = await this.#client.request({ method: 'GET', path, retries: 'none', signal });
      const { resourceVersion } = checkedList(answer, resource).metadata;
      if (signal.aborted) return;
      if (isRewound(newest, resourceVersion)) connection.interrupt('rewound');
      else versions.isDoubtful = false;
    } catch (error) {
      // It is asked again the next time; the stream itself reports troubles with the server.
      if (signal.aborted) return;
      this.#options.logger.debug(`The current version of ${this.#title} is not known: ${describeError(error)}`);
    }
  }

  #beginListing(): void {
    this.#known.beginListing();
    this.#listingSince = this.#options.clock.now();
  }

  /** The object is there, in a listing or in an event. */
  #emitSeen(event: WatchedEvent): Awaitable<void> {
    const namesake = this.#known.see(event.object);
    return namesake === undefined ? this.#emitEvent(event) : this.#emitAll([vanished(namesake), event]);
  }

  #emitEvent(event: WatchedEvent): Awaitable<void> {
    if (this.#facts.wants['stream.event']) this.#tellEvent(event);
    return this.#emit(event);
  }

  async #emitAll(events: readonly WatchedEvent[]): Promise<void> {
    for (const event of events) await this.#emitEvent(event);
  }

  /** The listing is complete. */
  async #emitListed(): Promise<void> {
    this.#malformed.conclude();
    await this.#emitAll(this.#known.endListing().map(vanished));
    const isFirst = !this.#isListedOnce;
    this.#isListedOnce = true;
    if (this.#facts.wants['stream.listed']) {
      const duration = this.#options.clock.now() - this.#listingSince;
      const count = this.#known.size;
      this.#facts.tell({ kind: 'stream.listed', stream: this.#target, count, isFirst, duration });
    }
    await this.#emit({ type: 'LISTED' });
  }

  /** To be called before anything of the earlier state is emitted. */
  async #emitRewound(): Promise<void> {
    this.#options.logger.warn(
      `The cluster was restored to an earlier state: versions in the watch-stream for ${this.#title} are below ` +
        `${this.#versions.newest}, which was seen before. All objects are listed and looked at anew.`,
    );
    this.#versions.forget();
    await this.#emit({ type: 'REWOUND' });
  }

  #tellEvent({ type, object }: WatchedEvent): void {
    const { resource } = this.#target;
    const { namespace, name, uid, resourceVersion } = object.metadata ?? {};
    this.#facts.tell({
      kind: 'stream.event',
      stream: this.#target,
      type,
      object: { resource, kind: object.kind ?? resource.kind, namespace, name, uid },
      version: resourceVersion,
    });
  }
}

/**
 * A client does not have to tell of success before the first line. But it tells of failures in time: so if there is none
 * when all the limits are over, the server must have agreed to watch, and there is just nothing to tell.
 */
function handshakeLimit({ watching, networking }: WatchOptions['settings']): Seconds {
  const connecting = watching.connectTimeout ?? networking.connectTimeout ?? PRESUMED_DONE;
  const answering = networking.headersTimeout ?? PRESUMED_DONE;
  return Math.min(connecting + answering, watching.inactivityTimeout);
}

function vanished(object: AnyObject): WatchedEvent {
  return { type: 'DELETED', object, vanished: true };
}

/** Errors can come inside of a stream, with HTTP 200: the same errors as they would be with their own HTTP codes. */
function errorOfEvent(object: unknown): ApiError {
  const status = (isMapping(object) ? object : {}) as Partial<ApiStatus>;
  const retryAfter = status.details?.retryAfterSeconds;
  return apiError({
    status: typeof status.code === 'number' ? status.code : 500,
    payload: object,
    ...(typeof retryAfter === 'number' ? { retryAfter } : {}),
  });
}
