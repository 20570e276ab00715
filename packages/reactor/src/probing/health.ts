/**
 * How the operator is doing, by facts: what each of its streams says, and what else must hold. For the probes.
 *
 * Readiness tells of everything at once. Liveness is for whoever restarts us, so it complains only of what a restart
 * may cure, and only when it has lasted: a server that is away for a minute is no reason to restart its operators.
 */
import type { Clock, Seconds, Settings } from '@kopf-ts/core';
import { describeError, type StreamState } from '@kopf-ts/core/engine';
import { type WatchedWrites, type Writes, watchedWrites } from './writes.js';

interface StreamReport {
  /** As it was given by whoever runs the stream. */
  readonly name: string;
  /** A stream is starting until it says anything else. */
  readonly state: StreamState['state'] | 'starting';
  /** When it has come into this state; by the monotonic clock, as all times here. */
  readonly since: Seconds;
  readonly lastEventAt: Seconds | undefined;
  /** When it was last known to work, even if there was nothing to receive. */
  readonly lastGoodAt: Seconds | undefined;
  /** Why it is down. */
  readonly error: string | undefined;
  /** Has it ever had the whole picture? */
  readonly isListed: boolean;
}

/** What is wrong, and since when. */
export interface Trouble {
  readonly why: string;
  readonly since: Seconds;
}

interface FollowedStream {
  update(state: StreamState): void;
  /** The stream has crashed, and will be restarted: it is down until it works, not only until it is started. */
  fail(error: Error): void;
  drop(): void;
}

export interface Requirement {
  turn(isMet: boolean, why?: string): void;
  drop(): void;
}

interface Verdict {
  readonly report: object;
}

/**
 * How an operator is doing: readiness and liveness, and why.
 *
 * ```ts
 * const isReady = (health: kopf.reactor.Health): boolean => health.readiness().isReady;
 * ```
 */
export interface Health {
  /** A stream, until dropped. Names are for people: streams of the same name are still different streams. */
  follow(name: string): FollowedStream;
  /** A condition that must hold for the operator to be ready; it does not hold until told so. */
  demand(name: string): Requirement;
  /**
   * A condition that tells of itself when asked, by having no trouble. Without it the operator is not only unready,
   * but also not alive if that lasts. Returns how to drop it.
   */
  inquire(name: string, ask: () => Trouble | undefined): () => void;
  /** What becomes of the writes. If all of some kind fail for long, the operator is not ready; a restart cures nothing. */
  readonly writes: Writes;
  streams(): readonly StreamReport[];
  readiness(): Verdict & { readonly isReady: boolean };
  /** It is told whether the server answers; that is asked only if it matters. */
  liveness(options: { readonly answers: () => Promise<boolean> }): Promise<Verdict & { readonly isAlive: boolean }>;
}

/** A stream that works for that long after a crash has recovered; if it crashes earlier, it was never well. */
const STEADY_AFTER: Seconds = 60;
/** What is not a timeout takes time, too: pauses between attempts, waiting for a turn, a busy machine. */
const MARGIN: Seconds = 30;
/** A stream that reconnects after a silence may have bad luck in a row. */
const SILENCES_IN_ROW = 3;

/**
 * The health of an operator that has not begun.
 *
 * ```ts
 * const health = kopf.reactor.health({ clock, settings });
 * logger.info(health.readiness().isReady ? 'Ready.' : 'Not ready.');
 * ```
 */
export function health({ clock, settings }: { readonly clock: Clock; readonly settings: Settings }): Health {
  const streams = new Set<{ report(): StreamReport }>();
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
  const reports = (): readonly StreamReport[] => [...streams].map((stream) => stream.report());
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
    follow(name) {
      const stream = followedStream(name, clock);
      streams.add(stream);
      return { update: stream.update, fail: stream.fail, drop: () => void streams.delete(stream) };
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
    writes,
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
      const down = reports().filter(({ state, since }) => state === 'down' && lasts(since));
      const silent = reports().filter((report) => isSilentForTooLong(report, clock, settings));
      // If the server does not answer anyone, then the silence is not ours.
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

type StreamEntry = Omit<FollowedStream, 'drop'> & { report(): StreamReport };

function followedStream(name: string, clock: Clock): StreamEntry {
  const followedSince = clock.now();
  let told: StreamState | undefined;
  let isListed = false;
  /** The last one; but the time is of the first one in a row. */
  let crash: { readonly since: Seconds; readonly error: Error } | undefined;
  /** When the stream came to work again after the last crash, if it did. */
  let worksSince: Seconds | undefined;

  return {
    update(state) {
      told = state;
      if (state.state === 'watching') isListed = true;
      if (state.state === 'watching' || state.state === 'paused') worksSince ??= clock.now();
    },
    fail(error) {
      const hasRecovered = worksSince !== undefined && clock.now() - worksSince >= STEADY_AFTER;
      const since = told?.state === 'down' ? told.since : clock.now();
      crash = { error, since: crash === undefined || hasRecovered ? since : crash.since };
      worksSince = undefined;
    },
    report() {
      const { lastEventAt, lastGoodAt } = told ?? { lastEventAt: undefined, lastGoodAt: undefined };
      const common = { name, lastEventAt, lastGoodAt, isListed };
      if (crash !== undefined && worksSince === undefined) {
        return { ...common, state: 'down', since: crash.since, error: describeError(crash.error) };
      }
      if (told === undefined) return { ...common, state: 'starting', since: followedSince, error: undefined };
      const { state, since, error } = told;
      return { ...common, state, since, error: error && describeError(error) };
    },
  };
}

/** A stream that lists anew, after it had everything once, still has what it had. */
function isStreamReady({ state, isListed }: StreamReport): boolean {
  return state === 'watching' || state === 'paused' || (state === 'listing' && isListed);
}

/** Whether a stream claims to work, but has shown no signs of it for longer than its own timers permit. */
function isSilentForTooLong(report: StreamReport, clock: Clock, settings: Settings): boolean {
  const { state, since, lastEventAt, lastGoodAt } = report;
  if (state !== 'watching' && state !== 'listing') return false;
  const seenAt = Math.max(since, lastEventAt ?? since, lastGoodAt ?? since);
  return clock.now() - seenAt > longestSilence(state, settings);
}

function longestSilence(state: 'watching' | 'listing', { watching, networking }: Settings): Seconds {
  const { inactivityTimeout, connectTimeout: connecting = networking.connectTimeout ?? MARGIN } = watching;
  const { headersTimeout: answering = MARGIN, requestTimeout = Number.POSITIVE_INFINITY } = networking;
  const ofWatching = inactivityTimeout * SILENCES_IN_ROW + connecting + answering + MARGIN;
  // A page of a listing is one request, and may be on its way for as long as any other request.
  return state === 'watching' ? ofWatching : Math.max(ofWatching, requestTimeout + connecting + answering + MARGIN);
}

/** Only if there is something to say of them. */
function shownWrites(writes: WatchedWrites, clock: Clock): object {
  const failing = writes.troubles().map(({ of, why, since }) => ({ of, why, secondsInState: elapsed(clock, since) }));
  return failing.length === 0 ? {} : { failingWrites: failing };
}

function shownStream({ name, state, since, lastEventAt, error }: StreamReport, clock: Clock): object {
  return {
    name,
    state,
    secondsInState: elapsed(clock, since),
    ...(lastEventAt === undefined ? {} : { secondsSinceLastEvent: elapsed(clock, lastEventAt) }),
    ...(error === undefined ? {} : { error }),
  };
}

/** As people read it. */
function elapsed(clock: Clock, since: Seconds): Seconds {
  return Math.round((clock.now() - since) * 10) / 10;
}
