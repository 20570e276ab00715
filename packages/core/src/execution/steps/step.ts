/**
 * Steps of a handler: things to do one after another, each of them once. The result of a step is on the object before the
 * step resolves; so a handler that is called again, by whatever process, gets it without doing the thing again.
 *
 * To the storages and to Kopf, a step is a sub-handler. Its record has the result as one more key.
 */
import {
  ContextError,
  describeError,
  HandlerTimeoutError,
  KopfError,
  RegistrationError,
  StepError,
} from '../../errors.js';
import type { ChangingCause } from '../../intents/causes.js';
import { type ChangeHandler, type HandlerFn, titleOf } from '../../intents/handlers.js';
import {
  EXECUTION,
  type ExecutionOptions,
  executionFrom,
  mistake,
  type RawOptions,
  refuseUnknown,
} from '../../intents/registration/options.js';
import type { Awaitable } from '../../seams/awaitable.js';
import type { Seconds } from '../../seams/clock.js';
import type { Logger } from '../../seams/logger.js';
import type { ProgressStorage } from '../../seams/memory/storage.js';
import { isThenable } from '../../sync/awaiting.js';
import { digestOf } from '../../values/digest.js';
import { handlerIdOf, quoteId, shareRecord } from '../../values/ids.js';
import { isMapping } from '../../values/json.js';
import { currentContext, type HandlerContext, runInContext, type Subhandling } from '../context.js';
import { childrenRetry } from '../error-decisions.js';
import { execute, executionIn } from '../execute.js';
import { reportOnce } from '../logging/report-once.js';
import type { Outcome, Outcomes } from '../outcomes.js';
import type { HandlerState } from '../progress/handler-state.js';
import { loadProgress } from '../progress/selection.js';
import type { State } from '../progress/state.js';
import { duplicateStep } from '../subhandlers/execute-subhandlers.js';
import { type Keeping, type KeepingPlace, NO_ROOM } from './keeping.js';
import { keptResult, resultOf } from './step-results.js';

/**
 * What the function of a step is given. All else is around it already: it is written inside of its handler.
 *
 * ```ts
 * const rent = ({ key, logger }: kopf.StepKwargs): { address: string } => {
 *   logger.info(`Renting an address by the order ${key}.`);
 *   return { address: '10.0.0.1' };
 * };
 * ```
 */
export interface StepKwargs {
  /**
   * The same in all attempts of the step, also after the operator was killed; and another one for any other object,
   * handler, step, or change of the object. To be given to those services that do the same thing only once for one key.
   * 32 characters, digits and letters from a to f.
   */
  readonly key: string;
  /** How many attempts of the step were made before. */
  readonly retry: number;
  /** When the step was first tried. */
  readonly started: Date;
  /** Since then, in seconds. */
  readonly runtime: Seconds;
  /** Aborts when the step is out of its time, or is not needed any more. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/**
 * The function of a step. What it returns must be JSON, of 8 KB at most, or nothing.
 *
 * ```ts
 * const rent: kopf.StepFn<{ address: string }> = async ({ key }) => ({ address: `10.0.0.${key.length}` });
 * ```
 */
export type StepFn<R> = (kwargs: StepKwargs) => Awaitable<R>;

/**
 * What becomes of the errors of a step: the same as of those of a handler, except that they cannot be ignored, since
 * there would be no result.
 *
 * ```ts
 * const options: kopf.StepOptions = { retries: 5, backoff: { min: 1, max: 60 }, timeout: 600 };
 * ```
 */
export interface StepOptions extends Omit<ExecutionOptions, 'errors'> {
  /** What an arbitrary error means. Default: another attempt. */
  readonly errors?: Exclude<ExecutionOptions['errors'], 'ignored'> | undefined;
}

/**
 * Does a thing once in the course of handling one change of an object, and gives its result: at once, if it was done
 * before, by an earlier attempt of the handler, or by a process that was killed since then. The id of the step is
 * `<handler>/<name>`; it works in handlers of changes, and in their sub-handlers.
 *
 * ```ts
 * kopf.on.create('kopfexamples', async ({ name, patch }) => {
 *   const network = await kopf.step('network', async ({ key }) => ({ id: `net-${key}` }));
 *   const disk = await kopf.step('disk', { retries: 5, timeout: 300 }, () => ({ id: `disk-${name}-${network.id}` }));
 *   patch.status.disk = disk.id;
 * });
 * ```
 *
 * The result is stored on the object before it is given: with one patch for each step, and one before the first of them.
 * Whoever may read the object, may read it. It is forgotten when all handlers are done with the change.
 *
 * When the function fails, so does `step()`, and the handler is called again when the next attempt of the step is due; if
 * there is none, `step()` rejects with a {@link StepError}. A step that was done, but was not stored before the process
 * was killed, is done again with the same key. If others change the object before the handler is done, steps are
 * done again for that change, with other keys, as sub-handlers are.
 */
export function step<R>(name: string, fn: StepFn<R>): Promise<R>;
export function step<R>(name: string, options: StepOptions, fn: StepFn<R>): Promise<R>;
export function step<R>(name: string, ...rest: readonly unknown[]): Promise<R> {
  const done = stepNow(name, rest);
  // A handler that does not wait for its steps, or catches too much, is not done until they are.
  const waiting = done.then(
    () => {},
    (error: unknown) => {
      if (!(error instanceof StepError)) throw error;
    },
  );
  currentContext()?.subhandling?.executions.push(waiting);
  waiting.catch(() => {});
  return done as Promise<R>;
}

async function stepNow(name: string, rest: readonly unknown[]): Promise<unknown> {
  const place = currentPlace();
  const handler = stepHandler(place, name, rest);
  const { parent, subhandling } = place;
  for (const known of subhandling.subrefs.flatMap((subrefs) => [...subrefs])) {
    if (shareRecord(known, handler.id)) throw duplicateStep(parent, handler.id, known);
  }
  subhandling.steps.add(handler.id);
  // The records must be purged together with the parents'.
  for (const subrefs of subhandling.subrefs) subrefs.add(handler.id);
  return await new Step(place, handler).done();
}

/** What is around a step. */
interface Place {
  readonly parent: ChangeHandler;
  readonly cause: ChangingCause;
  readonly subhandling: Subhandling;
  readonly context: HandlerContext;
  readonly keeping: Keeping;
  readonly storage: ProgressStorage;
}

type StepHandler = ChangeHandler & { readonly fn: StepFn<unknown> };

class Step {
  readonly #place: Place;
  readonly #handler: StepHandler;
  readonly #title: string;

  constructor(place: Place, handler: StepHandler) {
    this.#place = place;
    this.#handler = handler;
    this.#title = `Step ${quoteId(handler.id)}`;
  }

  /** Guard, return; guard, return. */
  async done(): Promise<unknown> {
    const { logger } = this.#place.cause;
    const loaded = await this.#load();
    const { state, record } = loaded;
    if (record.failure) {
      this.#note(state);
      throw new StepError(`${this.#title} has failed: ${record.message ?? 'the reason is unknown'}`);
    }
    if (record.success) {
      const result = record.result === undefined ? undefined : resultOf(record.result);
      if (result !== undefined) {
        this.#note(state);
        return result.value;
      }
      logger.info(`${this.#title} is done, but its result was not stored (Kopf stores none). Running it again.`);
      return await this.#perform(state.withChange(this.#handler.id, (one) => one.reopened()));
    }
    if (record.sleeping) {
      this.#note(state);
      throw childrenRetry(record.delay);
    }
    return await this.#perform(state.reopened.length > 0 ? await this.#begunAnew(state) : state);
  }

  async #perform(state: State): Promise<unknown> {
    const { cause, context, subhandling } = this.#place;
    const { id } = this.#handler;
    const record = state.get(id) as HandlerState;
    const key = this.#keyBy(record.token ?? (await this.#tokenOfHandler()));
    let kept: string | undefined;
    const fn = this.#wrapped(key, (result) => {
      kept = result;
    });
    const execution = { ...executionIn(context), cause, state, subrefs: subhandling.subrefs };
    const ended = await execute({ ...this.#handler, fn }, record, execution);
    // If the handler is out of its time, nobody waits for this any more, and its own patch may be on its way.
    if (context.signal?.reason instanceof HandlerTimeoutError) throw context.signal.reason;
    const outcome: Outcome = 'result' in ended ? { ...ended, kept } : ended;
    const outcomes = new Map([[id, outcome]]);
    if (!outcome.final) {
      this.#note(state, outcomes);
      throw childrenRetry(outcome.delay);
    }
    await this.#keep(state, outcomes);
    if ('error' in outcome) {
      if (outcome.error instanceof StepError) throw outcome.error;
      throw new StepError(`${this.#title} has failed: ${describeError(outcome.error)}`, { cause: outcome.error });
    }
    return resultOf(kept ?? '')?.value;
  }

  /** Stores that it is done. From then on, it is as if it had been done before. */
  async #keep(state: State, outcomes: Outcomes): Promise<void> {
    const { keeping, storage } = this.#place;
    const after = state.withOutcomes(outcomes);
    try {
      await keeping.keep(async ({ body, patch }) => {
        await after.store({ body, patch, storage });
        await this.#putHandlers({ body, patch });
      });
    } catch (error) {
      this.#note(state, outcomes);
      throw this.#unstored(error);
    }
    const stored = await this.#load();
    if (!stored.record.finished || stored.record.result !== after.get(this.#handler.id)?.result) {
      this.#note(state, outcomes);
      throw new StepError(
        `${this.#title} is done, but settings.persistence.progressStorage does not keep its result. ` +
          'Steps need a storage that keeps all keys of the records, as those of @kopf-ts/storage do.',
      );
    }
    this.#note(stored.state);
  }

  /** It was done with something else than the object is now: what is done now is something else, too. */
  async #begunAnew(state: State): Promise<State> {
    const { storage, cause } = this.#place;
    const begun = state.withChange(this.#handler.id, (record) => record.withToken(versionOf(cause)));
    await this.#store(async ({ body, patch }) => {
      await begun.store({ body, patch, storage });
      await this.#putHandlers({ body, patch });
    });
    return begun;
  }

  /** Stored before the first step is tried: so it is the same, whenever the step is tried again. */
  async #tokenOfHandler(): Promise<string> {
    const { subhandling, parent, context, cause } = this.#place;
    const known = subhandling.token ?? context.recordsSoFar?.().get(parent.id)?.token;
    if (known !== undefined) {
      subhandling.token = known;
      return known;
    }
    subhandling.beginning ??= this.#beginHandler(versionOf(cause));
    try {
      return await subhandling.beginning;
    } catch (error) {
      subhandling.beginning = undefined;
      throw error;
    }
  }

  async #beginHandler(token: string): Promise<string> {
    const { subhandling } = this.#place;
    await this.#store(async (place) => {
      subhandling.token = token;
      await this.#putHandlers(place);
    });
    return token;
  }

  async #store(put: (place: KeepingPlace) => Awaitable<void>): Promise<void> {
    try {
      await this.#place.keeping.keep(put);
    } catch (error) {
      throw this.#unstored(error);
    }
  }

  /** The handlers above know by their records which records to purge. */
  async #putHandlers({ body, patch }: KeepingPlace): Promise<void> {
    const { context, storage } = this.#place;
    for (const [key, state] of context.recordsSoFar?.() ?? []) {
      if (state.isChanged()) await storage.store({ key, record: state.toRecord(), body, patch });
    }
    await storage.flush?.();
  }

  /** What to fail with: what is noted of the step is stored with the rest, and then the handler is called again. */
  #unstored(error: unknown): Error {
    if (error instanceof KopfError && error.code === NO_ROOM) return new StepError(error.message, { cause: error });
    const { logger } = this.#place.cause;
    const text = `${this.#title} cannot be stored now: ${describeError(error)}`;
    // Whoever takes over, or deletes the object, is not a reason to worry.
    const isExpected = error instanceof KopfError && EXPECTED.has(error.code);
    logger[isExpected ? 'debug' : 'warn'](text);
    return childrenRetry(STORING_PAUSE);
  }

  async #load(): Promise<{ readonly state: State; readonly record: HandlerState }> {
    const { context, cause, keeping, storage } = this.#place;
    const handlers = [this.#handler];
    const { corrections, ownTimes } = context.ledger ?? {};
    const { state } = await loadProgress({
      storage,
      owned: handlers,
      selected: handlers,
      cause: { ...cause, body: keeping.newest() },
      clock: executionIn(context).clock,
      malformed: context.malformed ?? reportOnce(cause.logger),
      corrections,
      ownTimes,
      maxDelay: context.settings?.execution.maxDelay,
    });
    return { state, record: state.get(this.#handler.id) as HandlerState };
  }

  /** The owner of the ledger stores, follows and tells of it as of any sub-handler. */
  #note(state: State, outcomes: Outcomes = NO_OUTCOMES): void {
    const { context, parent } = this.#place;
    context.ledger?.addLevel({ parent, prefix: context.scope ?? [], handlers: [this.#handler], state, outcomes });
  }

  #keyBy(token: string): string {
    const { uid, namespace, name } = this.#place.cause.body.metadata ?? {};
    return digestOf({ object: uid ?? [namespace, name], step: this.#handler.id, token }).slice(0, KEY_LENGTH);
  }

  #wrapped(key: string, keep: (kept: string) => void): HandlerFn {
    const { fn } = this.#handler;
    const title = this.#title;
    const take = (result: unknown): void => {
      try {
        keep(keptResult(result));
      } catch (error) {
        throw new StepError(`The result of ${title.toLowerCase()} cannot be kept: ${describeError(error)}.`, {
          code: 'KOPF_STEP_RESULT',
        });
      }
    };
    return (kwargs: Omit<StepKwargs, 'key'>) => {
      // A step is one thing to do: what is done in it is not stored by itself.
      const returned: unknown = runInContext({ subhandling: undefined }, () => fn(new CallOfStep(key, kwargs)));
      return isThenable(returned) ? Promise.resolve(returned).then(take) : take(returned);
    };
  }
}

/** Most of these are made only if they are asked for. */
class CallOfStep implements StepKwargs {
  readonly key: string;
  readonly #kwargs: Omit<StepKwargs, 'key'>;

  constructor(key: string, kwargs: Omit<StepKwargs, 'key'>) {
    this.key = key;
    this.#kwargs = kwargs;
  }

  get retry(): number {
    return this.#kwargs.retry;
  }

  get started(): Date {
    return this.#kwargs.started;
  }

  get runtime(): Seconds {
    return this.#kwargs.runtime;
  }

  get signal(): AbortSignal {
    return this.#kwargs.signal;
  }

  get logger(): Logger {
    return this.#kwargs.logger;
  }
}

const EXPECTED: ReadonlySet<string> = new Set(['KOPF_PAUSED', 'KOPF_OBJECT_GONE']);
const NO_OUTCOMES: Outcomes = new Map();
const KEY_LENGTH = 32;
/** If something could not be stored: it is tried again with the end of the call; and then the handler goes on. */
const STORING_PAUSE: Seconds = 1;

/** Versions never come again: what was begun with this one is told from all else. */
function versionOf({ body }: ChangingCause): string {
  return body.metadata?.resourceVersion ?? String(body.metadata?.generation ?? '');
}

/** As a part of the name of an annotation, where progress is usually stored; the handler's id stands before it. */
const STORABLE_NAME = /^[-\w./]*[A-Za-z0-9]$/;

function stepHandler({ parent }: Place, name: unknown, rest: readonly unknown[]): StepHandler {
  const title = `step() of ${titleOf(parent)}`;
  if (typeof name !== 'string' || name === '') throw mistake(title, 'the first argument must be the name of the step');
  if (!STORABLE_NAME.test(name)) {
    const rule = 'letters, digits, "-", "_", "." and "/", and end with a letter or a digit';
    throw mistake(title, `the name ${JSON.stringify(name)} must have only ${rule}: the result is stored under it`);
  }
  const [options, fn] = rest.length > 1 ? rest : [{}, rest[0]];
  if (typeof fn !== 'function') throw mistake(title, 'the last argument must be the function of the step');
  if (!isMapping(options)) throw mistake(title, 'options must be an object, between the name and the function');
  refuseUnknown(title, options as RawOptions, EXECUTION);
  if (options['errors'] === 'ignored') {
    throw mistake(title, 'errors of steps cannot be ignored, as there would be no result; catch them in the function');
  }
  return {
    kind: 'change',
    id: handlerIdOf({ id: name, fn: fn as HandlerFn, prefix: parent.id, fallback: 'step' }),
    fn: fn as StepFn<unknown>,
    param: undefined,
    ...executionFrom(title, options as RawOptions),
  };
}

function currentPlace(): Place {
  const context = currentContext();
  if (context?.handler === undefined) {
    throw new ContextError(
      'step() is called outside of any handler. Call it from one: there is no object to keep the result on.',
    );
  }
  const { handler: parent, cause, subhandling, keeping, settings } = context;
  if (parent.kind !== 'change' || cause?.kind !== 'changing') {
    throw new RegistrationError(
      `step() in ${titleOf(parent)}: steps are only supported for handlers of changes. Others have no stored progress.`,
      { code: 'KOPF_NO_STEPS' },
    );
  }
  if (subhandling === undefined) {
    throw new RegistrationError(
      `step() in step ${quoteId(parent.id)}: steps cannot be nested. Call step() after that one instead.`,
      {
        code: 'KOPF_NO_STEPS',
      },
    );
  }
  const storage = settings?.persistence.progressStorage;
  if (keeping === undefined || storage === undefined) {
    throw new ContextError('step() needs an operator to store the results of steps in the middle of a call.');
  }
  if (settings?.persistence.compat === 'kopf') {
    throw new KopfError(
      "step() cannot keep results with settings.persistence.compat 'kopf': Kopf's records have no place for them.",
      { code: 'KOPF_NO_STEPS' },
    );
  }
  return { parent, cause, subhandling, context, keeping, storage };
}
