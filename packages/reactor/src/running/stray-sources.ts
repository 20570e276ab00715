/**
 * Where the errors of nobody come from, shared by all operators of a process: each is asked whether an error is its own.
 * Errors that belong to none of them get what they would get without us, down to the exit code.
 */
import type { EventEmitter } from 'node:events';

/** What is needed of `process`. */
export interface StraySource extends Pick<EventEmitter, 'on' | 'once' | 'off' | 'listenerCount'> {
  hasUncaughtExceptionCaptureCallback?(): boolean;
}

export type StrayOrigin = 'rejection' | 'exception';

/** Asked in the async context of the error; says whether the error is taken, so that nobody else is asked. */
export type Claim = (error: unknown, origin: StrayOrigin) => boolean;

// Kept at the source itself, so that all copies of this package in the process have one pair of listeners together.
const CLAIMS: unique symbol = Symbol.for('kopf-ts.stray.claims') as never;

interface Claimed extends StraySource {
  [CLAIMS]?: { readonly claims: Set<Claim>; uninstall(): void };
}

/** Has the claim asked of each stray error, until the returned function is called. */
export function claimStrays(source: StraySource, claim: Claim): () => void {
  const holder = source as Claimed;
  if (holder[CLAIMS] === undefined) {
    const claims = new Set<Claim>();
    const value = { claims, uninstall: install(source, claims) };
    Object.defineProperty(holder, CLAIMS, { value, configurable: true });
  }
  const { claims, uninstall } = holder[CLAIMS] as NonNullable<Claimed[typeof CLAIMS]>;
  const own: Claim = (error, origin) => claim(error, origin);
  claims.add(own);
  return () => {
    if (!claims.delete(own) || claims.size > 0) return;
    uninstall();
    delete holder[CLAIMS];
  };
}

function install(source: StraySource, claims: ReadonlySet<Claim>): () => void {
  const isClaimed = (error: unknown, origin: StrayOrigin): boolean => {
    for (const claim of [...claims]) if (claim(error, origin)) return true;
    return false;
  };

  const onRejection = (reason: unknown): void => {
    if (isClaimed(reason, 'rejection')) return;
    const isLeftToOthers = source.listenerCount('unhandledRejection') > 1;
    if (!isLeftToOthers) behaveAsNode(reason);
  };

  // Any listener of 'uncaughtException' keeps the process alive. So there is none, until an error is known to be ours:
  // the monitoring event comes right before that one, and changes nothing by itself.
  const onException = (error: unknown): void => {
    const isCaptured = source.hasUncaughtExceptionCaptureCallback?.() ?? false;
    if (isClaimed(error, 'exception') && !isCaptured) source.once('uncaughtException', () => {});
  };

  source.on('unhandledRejection', onRejection);
  source.on('uncaughtExceptionMonitor', onException);
  return () => {
    source.off('unhandledRejection', onRejection);
    source.off('uncaughtExceptionMonitor', onException);
  };
}

/** What Node does with a rejection if there are no listeners: unless told otherwise, it throws. */
function behaveAsNode(reason: unknown): void {
  const mode = rejectionsMode();
  if (mode === 'none') return;
  const error = reason instanceof Error ? reason : notAnError(reason);
  if (!mode.startsWith('warn')) throw error;
  process.emitWarning(error);
  if (mode === 'warn-with-error-code') process.exitCode = 1;
}

/** The last one wins; the command line goes after the environment. */
function rejectionsMode(): string {
  const flags = [process.env.NODE_OPTIONS ?? '', ...process.execArgv].join(' ');
  return [...flags.matchAll(/--unhandled-rejections[= ]([\w-]+)/g)].at(-1)?.[1] ?? 'throw';
}

function notAnError(reason: unknown): Error {
  const text = typeof reason === 'string' ? `"${reason}"` : String(Object(reason) === reason ? 'an object' : reason);
  const error = new Error(
    `A promise was rejected with something that is not an error, and nobody has caught it: ${text}`,
    {
      cause: reason,
    },
  );
  return Object.assign(error, { code: 'ERR_UNHANDLED_REJECTION' });
}
