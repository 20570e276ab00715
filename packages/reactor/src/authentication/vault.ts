/**
 * Holds the credentials: logins put them in, clients take them, and report them if the server refuses them.
 *
 * A client never learns that there are none: it waits until there are some, or until there can never be any. No refusal
 * is permanent either: what to do about refused credentials is up to the authenticator.
 */
import {
  type Clock,
  type ConnectionInfo,
  type Credentials,
  type HandlerId,
  type Logger,
  LoginError,
  type Seconds,
} from '@kopf-ts/core';
import { childController, condition } from '@kopf-ts/core/engine';
import type { Trouble } from '../probing/health.js';
import { sameCredentials } from './same-credentials.js';

/**
 * Why new credentials are wanted: there are none yet, or those in use were refused, have expired or will expire soon.
 */
export type Want = 'initial' | 'refused' | 'expired' | 'ahead';

/** Credentials by the ids of the login handlers that returned them. */
export type Logins = ReadonlyMap<HandlerId, ConnectionInfo>;

/**
 * The credentials of an operator: logins put them in, clients take them out and return the refused ones.
 *
 * ```ts
 * const vault: kopf.reactor.Vault = kopf.reactor.vault({ clock, logger });
 * vault.populate(new Map([['token', { server: 'https://cluster.example.com:6443', token: 'abc' }]]));
 * const { server } = await vault.current();
 * ```
 */
export interface Vault extends Credentials {
  /** Takes these credentials out of use if they are in use: this very object, not an equal one. */
  invalidate(info: ConnectionInfo, cause: Error): void;
  /** Adds credentials. Those under other ids remain; equal ones keep their object identity. */
  populate(logins: Logins): void;
  /** The credentials that have neither expired nor been refused recently. */
  acceptable(logins: Logins): Logins;
  /** The credentials that have not expired. */
  unexpired(logins: Logins): Logins;
  /** Whether new ones are wanted, and why. */
  readonly want: Want | undefined;
  /** Resolves when new credentials are wanted. With `isLazy`, only if a client waits for them. */
  whenWanted(signal: AbortSignal, options?: { readonly isLazy?: boolean }): Promise<Want>;
  /** What is wrong with the credentials now. */
  readonly trouble: Trouble | undefined;
  /** Closes the vault: from now on, all waiting and later clients get this error. */
  close(error?: Error): void;
}

/**
 * What a vault needs: the time, for expirations; a log, for refusals.
 *
 * ```ts
 * const options: kopf.reactor.VaultOptions = { clock, logger };
 * ```
 */
export interface VaultOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** A random number from 0 to 1 that picks one of equally good credentials. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
}

interface Item {
  readonly info: ConnectionInfo;
  /** In wall-clock time, since that is what issuers use. */
  readonly expiration: Date | undefined;
  /** In monotonic time. */
  readonly refreshAt: Seconds;
}

interface Refusal {
  readonly info: ConnectionInfo;
  readonly at: Seconds;
}

/** The share of the lifetime that is left when new credentials are requested, with an upper limit in seconds. */
const REFRESH_PART = 0.1;
const MAX_REFRESH_AHEAD: Seconds = 300;
/** How long a refusal counts: it may have been the server's mistake. A later one starts a new incident. */
const REFUSAL_MEMORY: Seconds = 120;
/** Credentials that follow refused ones, equal or not, are trusted after working for that long. */
const PROBATION: Seconds = 10;

/**
 * An empty vault.
 *
 * ```ts
 * const vault = kopf.reactor.vault({ clock: kopf.reactor.systemClock, logger });
 * const client = kopf.client.kubeClient({ credentials: vault, clock: kopf.reactor.systemClock, logger });
 * vault.populate(new Map([['kubeconfig', await kopf.client.login()]]));
 * ```
 */
export function vault({ clock, logger, random = Math.random }: VaultOptions): Vault {
  const items = new Map<HandlerId, Item>();
  const refusals = new Map<HandlerId, Refusal>();
  const changed = condition();
  let emptied: Exclude<Want, 'ahead'> = 'initial';
  let trouble: Trouble | undefined = { why: 'not logged in yet', since: clock.now() };
  /** Success is never reported; so an incident ends only after some time without new refusals. */
  let onProbationSince: Seconds | undefined;
  let last: { readonly since: Seconds; readonly endedAt: Seconds } | undefined;
  let waiting = 0;
  let closedWith: Error | undefined;

  const isOver = (expiration: Date | undefined): boolean =>
    expiration !== undefined && clock.utc().getTime() >= expiration.getTime();
  const isRefused = (id: HandlerId, info: ConnectionInfo): boolean => {
    const refusal = refusals.get(id);
    return refusal !== undefined && clock.now() - refusal.at < REFUSAL_MEMORY && sameCredentials(refusal.info, info);
  };

  const endTrouble = (endedAt: Seconds): void => {
    if (trouble !== undefined) last = { since: trouble.since, endedAt };
    trouble = undefined;
    onProbationSince = undefined;
  };
  const troubleNow = (): Trouble | undefined => {
    const provenAt = onProbationSince === undefined ? Number.POSITIVE_INFINITY : onProbationSince + PROBATION;
    if (clock.now() >= provenAt) endTrouble(provenAt);
    return trouble;
  };
  const beInTrouble = (why: string): void => {
    const begunAt = troubleNow()?.since;
    const isBack = last !== undefined && clock.now() - last.endedAt < REFUSAL_MEMORY;
    trouble = { why, since: begunAt ?? (isBack ? last?.since : undefined) ?? clock.now() };
    onProbationSince = undefined;
  };

  const remove = (id: HandlerId, why: 'refused' | 'expired'): void => {
    items.delete(id);
    if (items.size > 0) return;
    emptied = why;
    beInTrouble(why === 'refused' ? 'refused by the server' : 'expired');
    changed.notify();
  };
  const dropExpired = (): void => {
    for (const [id, { expiration }] of items) {
      if (!isOver(expiration)) continue;
      logger.debug(`The credentials of '${id}' have expired.`);
      remove(id, 'expired');
    }
  };

  const want = (): Want | undefined => {
    dropExpired();
    if (items.size === 0) return emptied;
    return [...items.values()].some(({ refreshAt }) => clock.now() >= refreshAt) ? 'ahead' : undefined;
  };

  const pick = (): ConnectionInfo | undefined => {
    dropExpired();
    if (items.size === 1) for (const { info } of items.values()) return info;
    const infos = [...items.values()].map(({ info }) => info);
    const highest = Math.max(...infos.map(priorityOf));
    const best = infos.filter((info) => priorityOf(info) === highest);
    return best[Math.floor(random() * best.length)];
  };

  /** Waits until the predicate holds, or until the current credentials are due for a refresh. */
  const untilOrRefresh = async (predicate: () => boolean, signal: AbortSignal): Promise<void> => {
    const delay = Math.min(...[...items.values()].map(({ refreshAt }) => refreshAt)) - clock.now();
    const either = childController(signal);
    try {
      const held = changed.until(predicate, either.signal);
      const isEndless = delay === Number.POSITIVE_INFINITY;
      await (isEndless ? held : Promise.race([held, clock.sleep(delay, { signal: either.signal })]));
    } finally {
      either.abort();
    }
  };

  return {
    known: () => (closedWith === undefined ? pick() : undefined),

    async current(signal) {
      for (;;) {
        signal?.throwIfAborted();
        if (closedWith !== undefined) throw closedWith;
        const picked = pick();
        if (picked !== undefined) return picked;
        waiting += 1;
        try {
          if (waiting === 1) changed.notify();
          await changed.until(() => items.size > 0 || closedWith !== undefined, signal);
        } finally {
          waiting -= 1;
        }
      }
    },

    invalidate(info, cause) {
      // Other clients may have got this refusal earlier; by now there can be new credentials.
      const found = [...items].find(([, item]) => item.info === info);
      if (found === undefined) return;
      const [id] = found;
      logger.debug(`The credentials of '${id}' are refused by the server.`, { error: cause });
      refusals.set(id, { info, at: clock.now() });
      remove(id, 'refused');
    },

    populate(logins) {
      const isAfterRefusal = items.size === 0 && emptied === 'refused';
      for (const [id, info] of logins) {
        const known = items.get(id);
        // Copied: each login gets its own object, even if the handler returns the same one, so that an old refusal of
        // one does not affect the other. While in use, the object is kept, since connections are pooled per object.
        const kept = known !== undefined && isSameLogin(known.info, info) ? known.info : { ...info };
        items.set(id, { info: kept, expiration: info.expiration, refreshAt: refreshTime(info, clock) });
      }
      if (items.size === 0) return;
      if (isAfterRefusal) onProbationSince = clock.now();
      else if (onProbationSince === undefined) endTrouble(clock.now());
      changed.notify();
    },

    acceptable: (logins) => filtered(logins, (id, info) => !isOver(info.expiration) && !isRefused(id, info)),
    unexpired: (logins) => filtered(logins, (_, info) => !isOver(info.expiration)),

    get want() {
      return want();
    },

    async whenWanted(signal, { isLazy = false } = {}) {
      for (;;) {
        if (isLazy) await changed.until(() => waiting > 0, signal);
        signal.throwIfAborted();
        const wanted = want();
        if (wanted !== undefined) return wanted;
        if (!isLazy) await untilOrRefresh(() => want() !== undefined, signal);
      }
    },

    get trouble() {
      return troubleNow();
    },

    close(error = new LoginError('The operator has ended; it no longer has credentials.')) {
      closedWith ??= error;
      items.clear();
      beInTrouble('none are left');
      changed.notify();
    },
  };
}

function priorityOf({ priority = 0 }: ConnectionInfo): number {
  return priority;
}

/** Compares what the server sees, plus the priority and the default namespace. */
function isSameLogin(one: ConnectionInfo, another: ConnectionInfo): boolean {
  const isEqual = priorityOf(one) === priorityOf(another) && one.defaultNamespace === another.defaultNamespace;
  return isEqual && sameCredentials(one, another);
}

function filtered(logins: Logins, is: (id: HandlerId, info: ConnectionInfo) => boolean): Logins {
  return new Map([...logins].filter(([id, info]) => is(id, info)));
}

function refreshTime({ expiration }: ConnectionInfo, clock: Clock): Seconds {
  if (expiration === undefined) return Number.POSITIVE_INFINITY;
  const lifetime = (expiration.getTime() - clock.utc().getTime()) / 1000;
  return clock.now() + lifetime - Math.min(MAX_REFRESH_AHEAD, lifetime * REFRESH_PART);
}
