/** Executing the sub-handlers of a handler: a cycle within a cycle, with its own states and results. */
import { HandlerTimeoutError, KopfError, RegistrationError } from '../../errors.js';
import type { ChangingCause } from '../../intents/causes.js';
import type { Handlers } from '../../intents/handler-set.js';
import { type AnyHandler, type ChangeHandler, titleOf } from '../../intents/handlers.js';
import { NO_FACTS } from '../../observing/facts.js';
import { tellerOfConsidered } from '../../observing/observed.js';
import type { Awaitable } from '../../seams/awaitable.js';
import { functionName, type HandlerId, isStorableId, quoteId, shareRecord } from '../../values/ids.js';
import type { HandlerContext, Subhandling } from '../context.js';
import { getDefaultLifecycle } from '../defaults.js';
import { childrenRetry } from '../error-decisions.js';
import type { LifeCycle } from '../lifecycles.js';
import { reportOnce } from '../logging/report-once.js';
import type { Outcomes } from '../outcomes.js';
import { deliverResults } from '../progress/results.js';
import { loadProgress } from '../progress/selection.js';
import type { State } from '../progress/state.js';

/** How handlers are executed. It is a parameter, since it in turn executes the sub-handlers of sub-handlers. */
export type ExecuteFn = (options: {
  readonly handlers: readonly ChangeHandler[];
  readonly cause: ChangingCause;
  readonly state: State;
  readonly lifecycle: LifeCycle;
  readonly context: HandlerContext;
  /** Where the handlers above them collect their ids. */
  readonly subrefs: readonly Set<HandlerId>[];
}) => Awaitable<Outcomes>;

export interface SubexecutionOptions {
  readonly context: HandlerContext;
  readonly subhandling: Subhandling;
  /** As the parent sees it, i.e. of its field if it has one. */
  readonly cause: ChangingCause;
  readonly handlers: Handlers['changing'];
  readonly lifecycle?: LifeCycle | undefined;
  readonly execute: ExecuteFn;
}

/**
 * Executes the sub-handlers that are due. Throws the children-retry if some are left for later, so that the parent is
 * called again then. A sub-handler that has failed for good is done.
 */
export async function executeSubhandlers(options: SubexecutionOptions): Promise<void> {
  const { context, subhandling, cause } = options;
  const { settings, clock } = context;
  const storage = settings?.persistence.progressStorage;
  if (settings === undefined || clock === undefined || storage === undefined) {
    throw new KopfError(
      'Sub-handlers need a place for their progress: settings.persistence.progressStorage is not set.',
      {
        code: 'KOPF_NO_STORAGE',
      },
    );
  }
  const { compat } = settings.persistence;
  const owned = options.handlers.of(cause.resource);
  const { facts = NO_FACTS } = context;
  const onConsidered = facts.wants['handler.considered'] ? tellerOfConsidered(facts, cause) : undefined;
  const selected = options.handlers.select(cause, { onConsidered });
  const malformed = context.malformed ?? reportOnce(cause.logger);
  // In Kopf, they stay with the reason that they were first called for. A superseded one must not count as done.
  const keepsPurposes = compat === 'kopf';
  const { ledger, scope: prefix = [] } = context;
  const { corrections, ownTimes } = ledger ?? {};
  const { maxDelay } = settings.execution;
  const progress = {
    storage,
    owned,
    selected,
    cause,
    clock,
    compat,
    malformed,
    keepsPurposes,
    corrections,
    ownTimes,
    maxDelay,
  };
  for (const { id } of owned) {
    const step = [...subhandling.steps].find((known) => shareRecord(known, id));
    if (step !== undefined && context.handler !== undefined) throw duplicateStep(context.handler, id, step);
  }
  const { state, handlers } = await loadProgress(progress);

  // Their records must be purged together with the parents', even if something breaks below.
  for (const id of state.ids) for (const subrefs of subhandling.subrefs) subrefs.add(id);

  const lifecycle = options.lifecycle ?? context.lifecycle ?? getDefaultLifecycle();
  const outcomes = await options.execute({ handlers, cause, state, lifecycle, context, subrefs: subhandling.subrefs });
  // If the parent is out of its time, nobody waits for this any more, and the patch may be on its way.
  if (context.signal?.reason instanceof HandlerTimeoutError) throw context.signal.reason;

  const progressed = state.withOutcomes(outcomes);
  const parent = context.handler;
  if (ledger !== undefined && parent?.kind === 'change') {
    // The owner of the ledger stores the progress of all together, once it is known what became of the patch.
    ledger.noteResults(handlers, outcomes, (id) => state.get(id)?.retries ?? 0);
    ledger.addLevel({ parent, prefix, handlers, state, outcomes });
  } else {
    await progressed.store({ body: cause.body, patch: cause.patch, storage });
  }
  deliverResults({ outcomes, patch: cause.patch });
  if (!progressed.done) throw childrenRetry(progressed.delay);
}

/** Ids are where the progress is stored; two sub-handlers of one parent under one id would see each other's. */
export function addSubhandler(handlers: Handlers['changing'], handler: ChangeHandler, parent: ChangeHandler): void {
  for (const existing of handlers) {
    if (existing.id !== handler.id) continue;
    const [one, other] = [nameOf(existing), nameOf(handler)];
    throw new RegistrationError(
      `${titleOf(parent)} registers sub-handlers with duplicate ids: ${quoteId(handler.id)} is for ${one} and for ${other}. ` +
        'Give them different ids.',
      { code: 'KOPF_DUPLICATE_ID' },
    );
  }
  if (!isStorableId(handler.id.slice(parent.id.length))) {
    throw new RegistrationError(
      `${titleOf(parent)} registers a sub-handler with the id ${JSON.stringify(handler.id)}. Progress is stored by it, and ` +
        'names of annotations have no spaces, quotes or line breaks: make it a word.',
      { code: 'KOPF_BAD_ID' },
    );
  }
  handlers.add(handler);
}

/** The second one would get the result of the first one, and not be done. */
export function duplicateStep(parent: AnyHandler, id: HandlerId, known: HandlerId): RegistrationError {
  const ids =
    id === known
      ? `with the id ${quoteId(id)}`
      : `with ids that may be stored as one: ${quoteId(known)} and ${quoteId(id)}`;
  return new RegistrationError(`${titleOf(parent)} has two steps or sub-handlers ${ids}. Give them different names.`, {
    code: 'KOPF_DUPLICATE_ID',
  });
}

function nameOf({ fn }: ChangeHandler): string {
  const name = functionName(fn);
  return name === undefined ? 'a nameless function' : `the function ${quoteId(name)}`;
}
