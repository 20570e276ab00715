/** A running watch stream: goes from state to state, and makes the connections that each of them needs. */
import { toError } from '../../errors.js';
import { NO_FACTS } from '../../observing/facts.js';
import type { KubeClient } from '../../seams/client.js';
import type { Seconds } from '../../seams/clock.js';
import { resourceUrl } from '../../values/resources/resource.js';
import { formatWatchTarget, type WatchTarget } from '../../values/resources/watch-target.js';
import { Connection, LineReader } from './connection.js';
import { type ConnectionLimiter, connectionLimiter } from './connection-limiter.js';
import { StreamHealth } from './health.js';
import { PagedListing } from './listing.js';
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
import { ObjectEmitter } from './objects/emitter.js';
import { malformedObjects } from './objects/malformed.js';
import { checkVersion, SeenVersions } from './seen-versions.js';
import type { Emit, WatchOptions } from './signals.js';
import type { StreamParts } from './stream-parts.js';
import { handshakeLimit, type WatchFrom, watchRequest } from './watch-request.js';
import { Watching } from './watching.js';

/** The long-run limit of connections per stream, whatever happens. */
const STREAM_LIMITS = { perSecond: 1, burst: 10 };
/** Streams that end sooner without delivering anything are suspicious. */
const SHORT_STREAM: Seconds = 1;

export class WatchStream {
  readonly #parts: StreamParts;
  readonly #options: WatchOptions;
  readonly #random: () => number;
  readonly #pacer: ConnectionLimiter;
  readonly #listing: PagedListing;
  #troubles: Troubles = NO_TROUBLES;
  /** Not the same as of the server: it can have other servers behind it. */
  #canStreamLists = true;

  constructor(client: KubeClient, target: WatchTarget, options: WatchOptions, emit: Emit) {
    const { clock, logger, signal, facts = NO_FACTS, capabilities = {}, onTrouble, isReportedElsewhere } = options;
    // An invalid address is the caller's mistake, and would fail for ever: throw before any retrying.
    resourceUrl(target.resource, { namespace: target.namespace });
    const title = formatWatchTarget(target);
    const malformed = malformedObjects(logger, title);
    this.#parts = {
      client,
      target,
      title,
      options,
      clock,
      logger,
      facts,
      capabilities,
      health: new StreamHealth({ target, title, clock, logger, signal, facts, onTrouble, isReportedElsewhere }),
      malformed,
      versions: new SeenVersions(),
      emitter: new ObjectEmitter({ target, clock, facts, malformed, emit }),
    };
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#pacer = connectionLimiter(clock, STREAM_LIMITS);
    this.#listing = new PagedListing(this.#parts, () => this.#rewind());
  }

  /** Goes from state to state until the signal aborts. */
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
        const isStreamed = this.#canStreamLists && this.#parts.capabilities.streamingLists !== false;
        return isStreamed ? this.#watch(undefined) : this.#list();
      }
      case 'watching':
        return this.#watch(state);
    }
  }

  async #pause(): Promise<WatchState> {
    const { logger, title, health } = this.#parts;
    const { paused, signal } = this.#options;
    health.enter('paused');
    logger.debug(`Pausing the watch-stream for ${title}.`);
    await paused?.whenOff(signal);
    logger.debug(`Resuming the watch-stream for ${title}.`);
    this.#troubles = { ...this.#troubles, failures: 0, refusals: 0 };
    return LISTING;
  }

  async #backOff(delay: Seconds, next: Doing): Promise<WatchState> {
    const connection = this.#connection();
    try {
      await this.#parts.clock.sleep(delay, { signal: connection.signal });
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
    const { health, versions, emitter } = this.#parts;
    const connection = this.#connection();
    let ending: Ending;
    try {
      health.enter('listing');
      await this.#waitForTurn(connection.signal);
      ending = await this.#listing.run(connection.signal);
    } catch (error) {
      ending = this.#endingBy(error, connection);
    } finally {
      connection.close();
    }
    if (ending.kind === 'listed') {
      health.succeed('listing');
      versions.isDoubtful = false;
      if (!ending.isDoubtful) await emitter.endListing();
    }
    return await this.#after(ending, { doing: LISTING, isListStreamed: false, isProven: false });
  }

  /** Watches from a version, or from the very beginning: then the listing is a part of the same stream. */
  async #watch(from: WatchFrom): Promise<WatchState> {
    const { clock, health, emitter } = this.#parts;
    const connection = this.#connection();
    const watching = new Watching({
      parts: this.#parts,
      connection,
      from,
      // After a silence, the server is asked at once; but a server that was down is not asked before it is back.
      isServerThere: this.#troubles.failures === 0,
      onProven: this.#onProven,
      onUnderstood: this.#onUnderstood,
    });
    let reader: LineReader | undefined;
    let ending: Ending;
    try {
      health.enter(watching.isListed ? 'watching' : 'listing');
      await this.#waitForTurn(connection.signal);
      const startedAt = clock.now();
      if (!watching.isListed) emitter.beginListing();
      reader = this.#read(watching, from);
      if (watching.isServerThere && watching.isListed) void checkVersion(this.#parts, connection);
      await reader.read();
      if (clock.now() - startedAt >= SHORT_STREAM) watching.prove();
      ending = { kind: 'closed' };
    } catch (error) {
      ending = this.#endingBy(error, connection);
    } finally {
      watching.end();
      reader?.close();
      connection.close();
    }
    const { isListed, isDoubtful, isProven, version } = watching;
    const doing: Doing = isListed && !isDoubtful ? { kind: 'watching', version } : LISTING;
    return await this.#after(ending, { doing, isListStreamed: !isListed, isProven });
  }

  #read(watching: Watching, from: WatchFrom): LineReader {
    const { client, target, clock, facts, health } = this.#parts;
    const { settings } = this.#options;
    return new LineReader(client, watchRequest(target, from, settings, this.#random), {
      connection: watching.connection,
      clock,
      accept: (line) => watching.accept(line),
      silenceLimit: () => watching.silenceLimit,
      lineLimit: () => settings.watching.lineTimeout,
      listingLimit: () => watching.listingLimit,
      steadyAfter: handshakeLimit(settings),
      // Not at once: some servers agree first, and then end the stream or respond with an error.
      steadyAfterOpening: SHORT_STREAM,
      onSteady: () => watching.prove(),
      onOpened: () => {
        if (!facts.wants['stream.opened']) return;
        facts.tell({ kind: 'stream.opened', stream: target, version: from?.version });
      },
      signs: health,
    });
  }

  #connection(): Connection {
    return new Connection(this.#options.signal, this.#options.paused);
  }

  /** Waits until one more connection is allowed, by the limit of this stream and by the shared one. */
  async #waitForTurn(signal: AbortSignal): Promise<void> {
    await this.#pacer.acquire(signal);
    await this.#options.limiter?.acquire(signal);
  }

  #endingBy(error: unknown, { interruption }: Connection): Ending {
    if (this.#options.signal.aborted) throw error;
    return interruption === undefined ? { kind: 'failed', error } : { kind: 'interrupted', why: interruption };
  }

  /** The watch works: all past failures are forgotten. */
  readonly #onProven = ({ isServerThere, connection }: Watching): void => {
    this.#troubles = { ...this.#troubles, failures: 0, refusals: 0 };
    this.#parts.health.succeed('watching');
    if (!isServerThere) void checkVersion(this.#parts, connection);
  };

  readonly #onUnderstood = (): void => {
    if (this.#troubles.undecodables > 0) this.#troubles = { ...this.#troubles, undecodables: 0 };
  };

  /** The connection is over: reports what that reveals, and returns the next step. */
  async #after(ending: Ending, reach: Reach): Promise<WatchState> {
    const { reconnectBackoff, lineTimeout } = this.#options.settings.watching;
    const pace = { reconnectBackoff, lineTimeout, random: this.#random };
    const { state, troubles, news } = afterConnection(ending, reach, this.#troubles, pace);
    this.#troubles = troubles;
    if (news?.kind === 'rewound') await this.#rewind();
    else if (news !== undefined) this.#tell(news);
    return state;
  }

  #tell(news: Exclude<News, { readonly kind: 'rewound' }>): void {
    const { logger, title, target, facts, versions, malformed, capabilities, health } = this.#parts;
    switch (news.kind) {
      case 'silent':
        logger.debug(`Watch-stream for ${title} is inactive, reconnecting.`);
        versions.isDoubtful = true;
        if (facts.wants['stream.lagging']) {
          const silence = this.#options.settings.watching.inactivityTimeout;
          facts.tell({ kind: 'stream.lagging', stream: target, silence });
        }
        return;
      case 'cut':
        logger.debug(`Watch-stream for ${title} is cut, reconnecting.`, { error: news.error });
        this.#tellFailure(news.error, 0);
        return;
      case 'undecodable':
        malformed.notice(news.what, 'event');
        return;
      case 'not streamed':
        this.#canStreamLists = false;
        if (news.isOfServer) capabilities.streamingLists ??= false;
        logger.debug(`The list for ${title} is not streamed by the server; listing in pages.`);
        return;
      case 'failed':
        if (news.isVersionDoubtful) versions.isDoubtful = true;
        if (news.isExpired) logger.debug(`Restarting the watch-stream for ${title}.`);
        if (news.isDown) health.fail(news.what, news.error);
        this.#tellFailure(news.error, news.delay);
        return;
    }
  }

  #tellFailure(thrown: unknown, delay: Seconds): void {
    const { facts, target } = this.#parts;
    if (!facts.wants['stream.failed']) return;
    const { failures } = this.#troubles;
    facts.tell({ kind: 'stream.failed', stream: target, error: toError(thrown), failures, delay });
  }

  /** Must be called before anything of the earlier state is emitted. */
  async #rewind(): Promise<void> {
    const { logger, title, versions, emitter } = this.#parts;
    logger.warn(
      `The cluster was restored to an earlier state: versions in the watch-stream for ${title} are below ` +
        `${versions.newest}, which was seen before. Listing and checking all objects again.`,
    );
    versions.forget();
    await emitter.rewind();
  }
}
