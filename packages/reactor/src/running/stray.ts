/**
 * Errors that nobody waits for: a promise that was not awaited, a throw in a timer or in a callback. They are no outcome
 * of any handler, but the async context remembers which handler has begun it all.
 */
import { KopfError, type Logger, type Service, type Settings } from '@kopf-ts/core';
import {
  currentContext,
  describeError,
  type Facts,
  type HandlerContext,
  isCancellation,
  markTold,
  NO_FACTS,
  observedHandler,
  observedObject,
  onAbort,
  placeOf,
  toError,
} from '@kopf-ts/core/engine';
import { callNameOf } from './call-names.js';
import { claimStrays, type StrayOrigin, type StraySource } from './stray-sources.js';

/**
 * A handler has left an error behind; the `cause` is that error.
 *
 * ```ts
 * kopf.operator().done.catch((error: unknown) => {
 *   if (error instanceof kopf.reactor.StrayError) console.error('Some handler has forgotten a promise:', error.cause);
 * });
 * ```
 */
export class StrayError extends KopfError {
  override readonly name = 'StrayError';
  constructor(message: string, options: ErrorOptions) {
    super(message, { code: 'KOPF_STRAY', ...options });
  }
}

/**
 * Errors that nobody awaits.
 *
 * ```ts
 * const report = ({ count }: kopf.reactor.StrayErrors): void => logger.info(`${count} stray errors so far.`);
 * ```
 */
export interface StrayErrors {
  /**
   * Listens while it runs. It fails with a {@link StrayError} if the settings say `'exit'`; also then it goes on
   * listening until aborted, since the operator needs its time to stop.
   */
  readonly service: Service;
  /** How many there were. */
  readonly count: number;
}

/**
 * Whose stray errors are looked for.
 *
 * ```ts
 * const options: kopf.reactor.StrayErrorsOptions = { settings, logger };
 * ```
 */
export interface StrayErrorsOptions {
  /** Of this operator: what runs with other settings is of others. */
  readonly settings: Settings;
  readonly logger: Logger;
  /** Who tells of the errors. Default: `process`. */
  readonly source?: StraySource | undefined;
  readonly facts?: Facts | undefined;
}

/**
 * Attributes stray errors of the process to the handlers of one operator.
 *
 * ```ts
 * const stray = kopf.reactor.strayErrors({ settings, logger });
 * await stray.service.run(signal);
 * ```
 */
export function strayErrors(options: StrayErrorsOptions): StrayErrors {
  const { settings, logger, source = process, facts = NO_FACTS } = options;
  // One error may come by several ways, e.g. by two promises that were made of one.
  const seen = new WeakSet<object>();
  let count = 0;

  const isSeen = (error: unknown): boolean => {
    if (typeof error !== 'object' || error === null) return false;
    if (seen.has(error)) return true;
    seen.add(error);
    return false;
  };

  const run = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const release = claimStrays(source, (error, origin) => {
        const context = currentContext();
        if (context?.settings !== settings) return false;
        if (isSeen(error)) return true;
        count += 1;
        const stray = report(error, origin, context, logger);
        if (facts.wants['error.stray']) tellStray(facts, error, origin, context);
        if (stray !== undefined && settings.process.onStray === 'exit') reject(stray);
        return true;
      });
      onAbort(signal, () => {
        release();
        resolve();
      });
    });

  return {
    service: { name: 'listener of stray errors', run },
    get count() {
      return count;
    },
  };
}

/** Logs it for the handler and its object. Returns what is wrong, if it is. */
function report(error: unknown, origin: StrayOrigin, context: HandlerContext, logger: Logger): StrayError | undefined {
  const { handler, cause, signal, settings } = context;
  const [who, log] =
    handler && cause
      ? [callNameOf({ handler: observedHandler(handler), object: observedObject(cause) }), cause.logger]
      : ['A callback', logger];
  const text = describeError(error);
  const fields = { error: toError(error) };
  if (isCancellation(error, signal)) {
    log.warn(`${who} was cancelled, and a part of it has ended on its own: ${text}`, fields);
    return undefined;
  }
  const where = origin === 'rejection' ? 'in a promise that nobody awaits' : 'in a timer or a callback';
  log.error(`${who} has failed ${where}: ${text}. ${adviceFor(origin, handler)} ${consequence(settings)}`, fields);
  return markTold(new StrayError(`${who} has left an error behind: ${text}`, { cause: error }));
}

function adviceFor(origin: StrayOrigin, handler: HandlerContext['handler']): string {
  const place = handler && placeOf(handler);
  const there = `in the handler${place === undefined ? '' : `, which is declared at ${place}`}`;
  return origin === 'rejection'
    ? `Await it: put "await" before the call that makes the promise, ${there}.`
    : `Catch it where it is thrown, or make a promise of it and await that ${there}.`;
}

function consequence(settings: Settings | undefined): string {
  return settings?.process.onStray === 'log'
    ? 'The operator goes on.'
    : "The operator ends because of it, unless settings.process.onStray is 'log'.";
}

function tellStray(facts: Facts, error: unknown, origin: StrayOrigin, { handler, cause }: HandlerContext): void {
  facts.tell({
    kind: 'error.stray',
    error: toError(error),
    origin,
    handler: handler && observedHandler(handler),
    object: cause && observedObject(cause),
  });
}
