/** One watching, from its request to its end: what its lines mean, and how long to wait for them. */
import { type ApiError, type ApiStatus, apiError } from '../../errors.js';
import type { Awaitable } from '../../seams/awaitable.js';
import type { Seconds } from '../../seams/clock.js';
import { alarm } from '../../sync/alarm.js';
import { getOwn, isMapping } from '../../values/json.js';
import type { AnyObject } from '../../values/objects/body.js';
import type { Connection } from './connection.js';
import { describeMalformed, flawOf } from './objects/malformed.js';
import { isRewound } from './seen-versions.js';
import type { StreamParts } from './stream-parts.js';
import type { WatchFrom } from './watch-request.js';

/** A server that can stream a list begins at once; one that has ignored our asking for it may be silent for ever. */
const STREAMED_LIST_PROBE: Seconds = 10;
/** Or it may go on with changes for ever, and never say that all is listed. Big lists take their time, too. */
const STREAMED_LIST_LIMIT: Seconds = 60;
/** If something malformed comes, other such things often follow: one listing serves for all of them. */
const LISTED_ANEW_AFTER: Seconds = 1;
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';
const NOTHING = Object.freeze({});

export interface WatchingOptions {
  readonly parts: StreamParts;
  readonly connection: Connection;
  readonly from: WatchFrom;
  /** The server has answered before this watching began, and is not waited for. */
  readonly isServerThere: boolean;
  /** Called once: the watching works. */
  onProven(watching: Watching): void;
  /** An event was understood: it was not the stream as such that made others undecodable. */
  onUnderstood(): void;
}

export class Watching {
  readonly #options: WatchingOptions;
  readonly #parts: StreamParts;
  #version: string | undefined;
  #isListed: boolean;
  #isDoubtful = false;
  #isProven = false;
  #forgetDoubts: () => void = () => {};

  constructor(options: WatchingOptions) {
    this.#options = options;
    this.#parts = options.parts;
    this.#version = options.from?.version;
    this.#isListed = options.from !== undefined;
  }

  get connection(): Connection {
    return this.#options.connection;
  }

  get isServerThere(): boolean {
    return this.#options.isServerThere;
  }

  /** How far it has come. */
  get version(): string | undefined {
    return this.#version;
  }

  /** It is past the initial listing. */
  get isListed(): boolean {
    return this.#isListed;
  }

  /** Something malformed has come for the first time: a listing must follow. */
  get isDoubtful(): boolean {
    return this.#isDoubtful;
  }

  /** It is not only asked for, but works. */
  get isProven(): boolean {
    return this.#isProven;
  }

  end(): void {
    this.#forgetDoubts();
  }

  /** The watching works, as far as anybody can tell from outside of it. */
  prove(): void {
    // A listing that is never complete is not yet a success.
    if (this.#isProven || !this.#isListed) return;
    this.#isProven = true;
    this.#options.onProven(this);
  }

  /** A server of which it is not known that it can stream lists gets little time for saying something. */
  get silenceLimit(): Seconds {
    const { options, capabilities } = this.#parts;
    const { inactivityTimeout } = options.settings.watching;
    const isProbing = !this.#isListed && capabilities.streamingLists !== true;
    return isProbing ? Math.min(inactivityTimeout, STREAMED_LIST_PROBE) : inactivityTimeout;
  }

  /** The same for the end of the list. If other streams have found out meanwhile that it cannot, there is no hope. */
  get listingLimit(): Seconds {
    const { streamingLists } = this.#parts.capabilities;
    if (this.#isListed || streamingLists === true) return Number.POSITIVE_INFINITY;
    return streamingLists === false ? STREAMED_LIST_PROBE : STREAMED_LIST_LIMIT;
  }

  /** One line of the stream, as what it means. */
  accept(line: unknown): Awaitable<void> {
    const { type, object } = (line ?? NOTHING) as { readonly type?: unknown; readonly object?: AnyObject };
    if (type === 'BOOKMARK' && isMapping(object)) return this.#acceptBookmark(object);
    if (type === 'ERROR') throw errorOfEvent(object);
    const isSupported = type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED';
    if (!isSupported || object === undefined) return this.#ignore(type, object);
    const flaw = flawOf(object);
    if (flaw !== undefined) return this.#skip(type, object, flaw);
    this.#advance(object.metadata?.resourceVersion);
    const { emitter } = this.#parts;
    if (type === 'DELETED') return emitter.forget(object);
    return emitter.see({ type: this.#isListed || type !== 'ADDED' ? type : null, object });
  }

  /** The stream works, and has come to this version. */
  #advance(version: unknown): void {
    if (typeof version === 'string') {
      if (this.#isListed && version !== this.#version) this.#options.onUnderstood();
      this.#version = version;
      this.#parts.versions.remember(version);
    }
    this.prove();
  }

  #acceptBookmark(object: AnyObject): Awaitable<void> {
    const { versions, facts, target, capabilities, health, emitter } = this.#parts;
    const reached: unknown = isMapping(object.metadata) ? object.metadata.resourceVersion : undefined;
    // Only bookmarks tell of the whole: an object is as old as it is.
    if (typeof reached === 'string' && isRewound(versions.newest, reached)) {
      return this.connection.interrupt('rewound');
    }
    this.#advance(reached);
    if (facts.wants['stream.bookmark']) {
      facts.tell({ kind: 'stream.bookmark', stream: target, version: object.metadata?.resourceVersion });
    }
    const annotations = isMapping(object.metadata?.annotations) ? object.metadata.annotations : {};
    if (this.#isListed || getOwn(annotations, INITIAL_EVENTS_END) !== 'true') return;
    capabilities.streamingLists = true;
    versions.isDoubtful = false;
    if (this.#isDoubtful) return this.#listSoon();
    this.#isListed = true;
    this.prove();
    health.enter('watching');
    return emitter.endListing();
  }

  #ignore(type: unknown, object: unknown): void {
    const { logger, title, malformed } = this.#parts;
    const isObject = isMapping(object);
    const shown = `${JSON.stringify(type)}${isObject ? '' : ' without an object'}`;
    logger.warn(`Ignoring an unsupported event type in the watch-stream for ${title}: ${shown}`);
    // What it was about is not known.
    if (!isObject && malformed.notice(`an event of type ${shown}`, 'event')) this.#doubt();
  }

  #skip(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: AnyObject, flaw: string): void {
    const { logger, title, malformed, emitter } = this.#parts;
    if (!isMapping(object)) {
      this.#ignore(type, object);
      return;
    }
    this.#advance(isMapping(object.metadata) ? object.metadata.resourceVersion : undefined);
    const isOfListing = !this.#isListed && type !== 'DELETED';
    const what = describeMalformed(type, object, flaw);
    const isNews = isOfListing ? emitter.skipListed(object, flaw) : malformed.notice(what, 'event');
    if (isNews) this.#doubt();
    else logger.debug(`Skipped again in the watch-stream for ${title}: ${what}`);
  }

  /** Not everything that has happened could be understood, so a listing must tell what there is; after this one, if any. */
  #doubt(): void {
    if (this.#isListed && !this.#isDoubtful) this.#listSoon();
    this.#isDoubtful = true;
  }

  /** Ends the stream in a moment, and lists anew. */
  #listSoon(): void {
    this.#forgetDoubts();
    this.#forgetDoubts = alarm(this.#parts.clock, LISTED_ANEW_AFTER, () => this.connection.interrupt('doubtful'));
  }
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
