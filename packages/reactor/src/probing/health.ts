/**
 * How the operator is doing: the phases of its streams, as it observes them, and what else must hold. For the probes.
 *
 * Readiness tells of everything at once. Liveness decides on restarts, so it complains only of what a restart may cure,
 * and only when it has lasted: a server that is away for a minute is no reason to restart its operators.
 */
import type { Clock, FactOf, ObservedStream, Observer, Seconds, Settings } from '@kopf-ts/core';
import { describeError, formatResource, formatWatchTarget } from '@kopf-ts/core/engine';
import { type WatchedWrites, watchedWrites } from './writes.js';

interface StreamReport {
  /** The target of the stream: `pods.v1 in namespace default`. */
  readonly name: string;
  /** A stream is starting until it reports another phase; a crashed stream is down until it works. */
  readonly phase: 'starting' | 'listing' | 'watching' | 'down' | 'paused';
  /** The start of the phase; by the monotonic clock, like all times here. */
  readonly since: Seconds;
  readonly lastEventAt: Seconds | undefined;
  /** The last sign that it works, even without events. */
  readonly lastGoodAt: Seconds | undefined;
  /** The reason why it is down. */
  readonly error: string | undefined;
  /** Whether it has ever listed all objects. */
  readonly isListed: boolean;
}

/** A problem, and since when it lasts. */
export interface Trouble {
  readonly why: string;
  readonly since: Seconds;
}

export interface Requirement {
  turn(isMet: boolean, why?: string): void;
  drop(): void;
}

interface Judgement {
  readonly report: object;
}

/**
 * The health of an operator: readiness and liveness, with reasons.
 *
 * ```ts
 * const isReady = (health: kopf.reactor.Health): boolean => health.readiness().isReady;
 * ```
 */
export interface Health {
  /**
   * Sees the phases of the streams, from their starting to their end; and what becomes of the writes: if all of some
   * kind fail for long, the operator is not ready; a restart cures nothing.
   */
  readonly observer: Observer;
  /** A condition of readiness. It does not hold until reported. */
  demand(name: string): Requirement;
  /**
   * A condition that tells of itself when asked, by having no trouble. Without it the operator is not only unready,
   * but also not alive if that lasts. Returns how to drop it.
   */
  inquire(name: string, ask: () => Trouble | undefined): () => void;
  streams(): readonly StreamReport[];
  readiness(): Judgement & { readonly isReady: boolean };
  /** It is told whether the server answers; that is asked only if it matters. */
  liveness(options: { readonly answers: () => Promise<boolean> }): Promise<Judgement & { readonly isAlive: boolean }>;
}

/** A stream that works for that long after a crash has recovered; if it crashes earlier, it was never well. */
const STEADY_AFTER: Seconds = 60;
/** What is not a timeout takes time, too: pauses between connections, waiting for a turn, a busy machine. */
const MARGIN: Seconds = 30;
/** A stream that reconnects after a silence may fail several times in a row. */
const SILENCES_IN_ROW = 3;

/**
 * Makes the health of a new operator. Its observer must be among the operator's observers.
 *
 * ```ts
 * const health = kopf.reactor.health({ clock, settings });
 * logger.info(health.readiness().isReady ? 'Ready.' : 'Not ready.');
 * ```
 */
export function health({ clock, settings }: { readonly clock: Clock; readonly settings: Settings }): Health {
  const streams = new Map<ObservedStream, FollowedStream>();
  const conditions = new Set<Condition>();
  const writes = watchedWrites({ clock, settings });

  const troublesOf = (isRelevant: (condition: Condition) => boolean) =>
    [...conditions].filter(isRelevant).flatMap((condition) => {
      const trouble = condition.ask();
      return trouble === undefined ? [] : [{ ...trouble, name: condition.name }];
    });
  const add = (condition: Condition): (() => void) => {
    conditions.add(condition);
    return () => void conditions.delete(condition);
  };
  const reports = (): readonly StreamReport[] => [...streams.values()].map((stream) => stream.report());
  const shown = (): object => ({
    conditions: [...conditions].map(({ name, ask }) => {
      const trouble = ask();
      if (trouble === undefined) return { name, met: true };
      return { name, met: false, why: trouble.why, secondsInState: elapsed(clock, trouble.since) };
    }),
    ...shownWrites(writes, clock),
    streams: reports().map((report) => shownStream(report, clock)),
  });

  return {
    observer: {
      wants: ['stream.phase', 'writes.failed', 'writes.recovered'],
      observe(fact) {
        if (fact.kind === 'writes.failed') writes.failed({ of: formatResource(fact.resource), error: fact.error });
        if (fact.kind === 'writes.recovered') writes.succeeded({ of: formatResource(fact.resource) });
        if (fact.kind !== 'stream.phase') return;
        const { stream } = fact;
        if (fact.phase === 'ended') {
          streams.delete(stream);
          return;
        }
        const known = streams.get(stream);
        if (known === undefined) streams.set(stream, new FollowedStream(fact));
        else known.enter(fact);
      },
    },
    demand(name) {
      let trouble: Trouble | undefined = { why: 'not yet', since: clock.now() };
      const drop = add({ name, isVital: false, ask: () => trouble });
      return {
        turn(isMet, why = 'not met') {
          trouble = isMet ? undefined : { why, since: trouble?.since ?? clock.now() };
        },
        drop,
      };
    },
    inquire: (name, ask) => add({ name, isVital: true, ask }),
    streams: reports,
    readiness() {
      const isReady =
        troublesOf(() => true).length === 0 && writes.troubles().length === 0 && reports().every(isStreamReady);
      return { isReady, report: { ready: isReady, ...shown() } };
    },
    async liveness({ answers }) {
      const { unhealthyAfter } = settings.watching;
      const lasts = (since: Seconds): boolean => clock.now() - since > unhealthyAfter;
      const unmet = troublesOf(({ isVital }) => isVital).filter(({ since }) => lasts(since));
      const down = reports().filter(({ phase, since }) => phase === 'down' && lasts(since));
      const silent = reports().filter((report) => isSilentForTooLong(report, clock, settings));
      // If the server answers no requests at all, the silence is not our fault.
      const stuck = silent.length > 0 && (await answers()) ? silent : [];
      const reasons = [
        ...unmet.map(({ name, why }) => `${name}: ${why}`),
        ...down.map(({ name, error }) => `the stream for ${name} is down: ${error}`),
        ...stuck.map(({ name }) => `the stream for ${name} is stuck, while the server answers`),
      ];
      const isAlive = reasons.length === 0;
      return { isAlive, report: { alive: isAlive, reasons, ...shown() } };
    },
  };
}

interface Condition {
  readonly name: string;
  readonly isVital: boolean;
  ask(): Trouble | undefined;
}

type PhaseFact = FactOf<'stream.phase'>;

class FollowedStream {
  readonly #name: string;
  /** The last phase reported by the stream. */
  #told: PhaseFact;
  #isListed = false;
  /** The last one; but the time is of the first one in a row. */
  #crash: { readonly since: Seconds; readonly error: Error } | undefined;
  /** When the stream came to work again after the last crash, if it did. */
  #worksSince: Seconds | undefined;

  constructor(fact: PhaseFact) {
    this.#name = formatWatchTarget(fact.stream);
    this.#told = fact;
    this.enter(fact);
  }

  enter(fact: PhaseFact): void {
    if (fact.phase === 'crashed') {
      this.#fail(fact);
      return;
    }
    this.#told = fact;
    if (fact.phase === 'watching') this.#isListed = true;
    if (fact.phase === 'watching' || fact.phase === 'paused') this.#worksSince ??= fact.at;
  }

  /** The stream has crashed, and is restarted: it is down until it works, not only until it is started. */
  #fail({ at, error = new Error('unknown') }: PhaseFact): void {
    const hasRecovered = this.#worksSince !== undefined && at - this.#worksSince >= STEADY_AFTER;
    const since = this.#told.phase === 'down' ? this.#told.since : at;
    this.#crash = { error, since: this.#crash === undefined || hasRecovered ? since : this.#crash.since };
    this.#worksSince = undefined;
  }

  report(): StreamReport {
    const { phase, since, error, lastEventAt, lastGoodAt } = this.#told;
    const common = { name: this.#name, lastEventAt, lastGoodAt, isListed: this.#isListed };
    if (this.#crash !== undefined && this.#worksSince === undefined) {
      return { ...common, phase: 'down', since: this.#crash.since, error: describeError(this.#crash.error) };
    }
    if (phase === 'crashed' || phase === 'ended') return { ...common, phase: 'starting', since, error: undefined };
    return { ...common, phase, since, error: error && describeError(error) };
  }
}

/** A stream that lists anew, after it had everything once, still has what it had. */
function isStreamReady({ phase, isListed }: StreamReport): boolean {
  return phase === 'watching' || phase === 'paused' || (phase === 'listing' && isListed);
}

/** Whether a stream claims to work, but has shown no signs of it for longer than its own timers permit. */
function isSilentForTooLong(report: StreamReport, clock: Clock, settings: Settings): boolean {
  const { phase, since, lastEventAt, lastGoodAt } = report;
  if (phase !== 'watching' && phase !== 'listing') return false;
  const seenAt = Math.max(since, lastEventAt ?? since, lastGoodAt ?? since);
  return clock.now() - seenAt > longestSilence(phase, settings);
}

function longestSilence(phase: 'watching' | 'listing', { watching, networking }: Settings): Seconds {
  const { inactivityTimeout, connectTimeout: connecting = networking.connectTimeout ?? MARGIN } = watching;
  const { headersTimeout: answering = MARGIN, requestTimeout = Number.POSITIVE_INFINITY } = networking;
  const ofWatching = inactivityTimeout * SILENCES_IN_ROW + connecting + answering + MARGIN;
  // A page of a listing is one request, and may be on its way for as long as any other request.
  return phase === 'watching' ? ofWatching : Math.max(ofWatching, requestTimeout + connecting + answering + MARGIN);
}

/** Only if there is something to say of them. */
function shownWrites(writes: WatchedWrites, clock: Clock): object {
  const failing = writes.troubles().map(({ of, why, since }) => ({ of, why, secondsInState: elapsed(clock, since) }));
  return failing.length === 0 ? {} : { failingWrites: failing };
}

function shownStream({ name, phase, since, lastEventAt, error }: StreamReport, clock: Clock): object {
  return {
    name,
    state: phase,
    secondsInState: elapsed(clock, since),
    ...(lastEventAt === undefined ? {} : { secondsSinceLastEvent: elapsed(clock, lastEventAt) }),
    ...(error === undefined ? {} : { error }),
  };
}

/** As people read it. */
function elapsed(clock: Clock, since: Seconds): Seconds {
  return Math.round((clock.now() - since) * 10) / 10;
}
