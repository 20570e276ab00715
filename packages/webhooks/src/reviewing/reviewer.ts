/** From a review to the cause, from the cause to the handlers, from the handlers to the response. */
import {
  type AdmissionResponse,
  AmbiguousResourceError,
  type ApiFor,
  type Clock,
  type EventPoster,
  type Indices,
  type Insights,
  type KubeClient,
  type Logger,
  type Memos,
  type Registry,
  type Resource,
  type ReviewFn,
  type ReviewHints,
  type Seconds,
  type Settings,
  type Tracing,
  UnknownResourceError,
} from '@kopf-ts/core';
import {
  asJsonPatch,
  describeError,
  executeHandler,
  type Facts,
  isEnabled,
  isThenable,
  NO_FACTS,
  observedObject,
  quoteId,
  stackOf,
  tellerOfConsidered,
  titleOf,
  toError,
  type WebhookCause,
  type WebhookHandler,
} from '@kopf-ts/core/engine';
import { withHandlerId } from '../configurations/webhook-names.js';
import { quoted } from '../quoting.js';
import { onlyMarksDiffer } from './own-marks.js';
import { ownUser } from './own-user.js';
import { ReviewCause, understand } from './review-cause.js';
import { deadlineOf } from './review-deadlines.js';
import { type Review, readReview } from './review-request.js';
import { type Failure, isMeant, type Results, respond } from './review-response.js';

/**
 * What reviewing needs of an operator.
 *
 * ```ts
 * const parts: kopf.webhooks.ReviewParts = {
 *   registry: kopf.getDefaultRegistry(),
 *   settings,
 *   clock,
 *   logger,
 *   client,
 *   insights: kopf.reactor.liveInsights(),
 *   memos: kopf.reactor.allObjects({ now: () => clock.now(), logger }),
 * };
 * ```
 */
export interface ReviewParts {
  // biome-ignore lint/suspicious/noExplicitAny: handlers of any environment are run alike
  readonly registry: Registry<any>;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly client: KubeClient;
  /** Makes the verbs of handlers. */
  readonly apiFor?: ApiFor | undefined;
  readonly insights: Insights;
  readonly memos: Memos;
  readonly indices?: Indices | undefined;
  readonly facts?: Facts | undefined;
  readonly tracing?: Tracing | undefined;
  /** For the events that handlers post explicitly. Their logs are never posted: the object may never come to be. */
  readonly poster?: EventPoster | undefined;
  readonly random?: (() => number) | undefined;
}

/**
 * For how long there is somebody to answer to.
 *
 * ```ts
 * const options: kopf.webhooks.ReviewerOptions = { signal: AbortSignal.timeout(10_000) };
 * ```
 */
export interface ReviewerOptions {
  /** When it aborts, nobody waits for the answers any more: the handlers that still run are told so. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Makes the function that servers call for each request. It resolves with the answer of the handlers, whatever they
 * do; and rejects if nobody can answer: with a `WebhookError` if the request is to blame.
 *
 * ```ts
 * async function isAllowed(parts: kopf.webhooks.ReviewParts, request: kopf.AdmissionRequest): Promise<boolean> {
 *   const review = kopf.webhooks.reviewer(parts);
 *   return (await review(request)).response.allowed;
 * }
 * ```
 */
export function reviewer(parts: ReviewParts, { signal }: ReviewerOptions = {}): ReviewFn {
  const { facts = NO_FACTS, tracing, clock } = parts;
  const reviewing = new Reviewing(parts, signal && ((): AbortSignal => signal));
  const reviewed: ReviewFn = (request, hints = {}) => {
    try {
      const review = readReview(request);
      if (tracing === undefined) return reviewing.answer(review, hints);
      const { uid, operation } = review;
      const { headers } = hints;
      return tracing.around({ kind: 'review', uid, operation, headers }, () => reviewing.answer(review, hints));
    } catch (error) {
      return Promise.reject(error);
    }
  };
  if (!facts.wants['review.refused']) return reviewed;
  return async (request, hints) => {
    const begunAt = clock.now();
    try {
      return await reviewed(request, hints);
    } catch (error) {
      facts.tell({ kind: 'review.refused', error: toError(error), duration: clock.now() - begunAt });
      throw error;
    }
  };
}

class Reviewing {
  readonly #parts: ReviewParts;
  readonly #cancellation: (() => AbortSignal) | undefined;
  readonly #isOwnUser: ReturnType<typeof ownUser>;

  constructor(parts: ReviewParts, cancellation: (() => AbortSignal) | undefined) {
    this.#parts = parts;
    this.#cancellation = cancellation;
    this.#isOwnUser = ownUser(parts);
  }

  async answer(review: Review, given: ReviewHints): Promise<AdmissionResponse> {
    const { clock, registry, insights, settings } = this.#parts;
    const begunAt = clock.now();
    const hints = withHandlerId(given, registry.handlers.webhooks);
    const resource = requireResource(review, insights);
    requireHandler(registry.handlers.webhooks.of(resource), resource, hints);
    const cause = new ReviewCause(review, resource, hints, this.#parts);
    const isTellingAll = settings.persistence.compat === 'kopf';
    if (understand(() => onlyMarksDiffer(review, settings)) && (await this.#isOwnUser(review.userinfo))) {
      if (isEnabled(cause.logger, 'debug')) cause.logger.debug('Only our own marks are updated; no review is needed.');
      const nothing = { failures: [], warnings: [], patch: undefined, isTellingAll };
      return this.#told(respond(review, nothing), cause, { review, begunAt, handlers: [] });
    }
    const selected = select(cause, this.#parts);
    const failures = selected.failure === undefined ? [] : [selected.failure];
    for (const handler of selected.handlers) {
      const patience = hints.timeout;
      const ending = errorOf(handler, cause, {
        parts: this.#parts,
        begunAt,
        patience,
        cancellation: this.#cancellation,
      });
      const error = isThenable(ending) ? await ending : ending;
      if (error !== undefined) failures.push({ error, by: titleOf(handler) });
    }
    const results = resultsOf(cause, failures);
    if (!isTellingAll) logUnexpected(results.failures, review, cause.logger);
    const response = respond(review, { ...results, isTellingAll });
    return this.#told(response, cause, { review, begunAt, handlers: selected.handlers });
  }

  #told(
    answer: AdmissionResponse,
    cause: WebhookCause,
    { review, begunAt, handlers }: { review: Review; begunAt: Seconds; handlers: readonly WebhookHandler[] },
  ): AdmissionResponse {
    const { facts, clock } = this.#parts;
    if (facts?.wants['review.answered']) {
      facts.tell({
        kind: 'review.answered',
        uid: review.uid,
        operation: review.operation,
        object: observedObject(cause),
        allowed: answer.response.allowed,
        code: answer.response.status?.code,
        handlers: handlers.map(({ id }) => id),
        duration: clock.now() - begunAt,
      });
    }
    return answer;
  }
}

/** The person is told only which review it was: so here it is told what was wrong with it. */
function logUnexpected(failures: readonly Failure[], { uid }: Review, logger: Logger): void {
  for (const { error, by } of failures) {
    if (isMeant(error)) continue;
    logger.error(`Review ${quoted(uid)} is denied: ${by} has failed unexpectedly: ${describeError(error)}`);
  }
}

function requireResource({ resource }: Review, insights: Insights): Resource {
  const { group, version, plural } = resource;
  let found: Resource | undefined;
  for (const served of insights.webhook) {
    if (served.plural !== plural || served.version !== version || served.group !== group) continue;
    if (found !== undefined) {
      throw new AmbiguousResourceError(
        `Several resources match ${plural}.${version}.${group}: it is not clear which one is meant.`,
      );
    }
    found = served;
  }
  if (found !== undefined) return found;
  throw new UnknownResourceError(`There are no admission handlers for ${plural}.${version}.${group}.`);
}

/** A handler that is asked for by name must exist: an absent one must not pass for one without objections. */
function requireHandler(
  handlers: readonly WebhookHandler[],
  resource: Resource,
  { webhook, reason }: ReviewHints,
): void {
  if (reason !== undefined && reason !== 'validating' && reason !== 'mutating') {
    throw new UnknownResourceError(`Handlers are either "validating" or "mutating", not ${quoteId(String(reason))}.`);
  }
  if (webhook === undefined || webhook === '') return;
  const isThere = handlers.some(({ id, reason: own }) => id === webhook && (reason === undefined || reason === own));
  if (isThere) return;
  const kind = reason === undefined ? 'admission' : reason;
  throw new UnknownResourceError(`There is no ${kind} handler ${quoteId(webhook)} for ${resource.plural}.`);
}

interface Selected {
  readonly handlers: readonly WebhookHandler[];
  readonly failure?: Failure;
}

/** If a filter fails, it is not known which handlers it would select: so none is called, and nothing is allowed. */
function select(cause: WebhookCause, { registry, facts = NO_FACTS }: ReviewParts): Selected {
  const onConsidered = facts.wants['handler.considered'] ? tellerOfConsidered(facts, cause) : undefined;
  try {
    return { handlers: registry.handlers.webhooks.select(cause, { onConsidered }) };
  } catch (thrown) {
    const error = toError(thrown);
    cause.logger.error(`A filter of admission handlers has failed: ${describeError(error)}`, { error });
    return { handlers: [], failure: { error, by: 'A filter of admission handlers' } };
  }
}

interface Circumstances {
  readonly parts: ReviewParts;
  readonly begunAt: number;
  /** Of the API server. */
  readonly patience: number | undefined;
  readonly cancellation: (() => AbortSignal) | undefined;
}

/** Calls the handler, and returns the error if it fails: at once, if the handler is synchronous. */
function errorOf(
  handler: WebhookHandler,
  cause: WebhookCause,
  { parts, begunAt, patience, cancellation }: Circumstances,
): Error | undefined | Promise<Error | undefined> {
  const { settings, clock, poster, random, facts, tracing } = parts;
  const attempt = new OnlyAttempt(clock);
  const timeLeft = deadlineOf(handler, patience) - (attempt.startedAt - begunAt);
  const execution = { cause, settings, clock, poster, random, facts, tracing, timeLeft, signal: cancellation };
  const outcome = executeHandler(handler, attempt, execution);
  return isThenable(outcome) ? outcome.then(errorIn) : errorIn(outcome);
}

/** A class, since a getter in a literal is defined anew for each object, and that takes longer than the rest of it. */
class OnlyAttempt {
  readonly retries = 0;
  readonly started: Date;
  readonly startedAt: Seconds;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.started = clock.utc();
    this.startedAt = clock.now();
  }

  get runtime(): Seconds {
    return this.#clock.now() - this.startedAt;
  }
}

function errorIn(outcome: object): Error | undefined {
  return 'error' in outcome ? (outcome.error as Error) : undefined;
}

/** The functions of the patch are the user's code, too, and what they make can be anything. */
function resultsOf(
  { patch, body, warnings, logger }: WebhookCause,
  failures: readonly Failure[],
): Omit<Results, 'isTellingAll'> {
  try {
    const ops = asJsonPatch(patch, body);
    return { failures, warnings, patch: ops.length > 0 ? JSON.stringify(ops) : undefined };
  } catch (thrown) {
    const error = toError(thrown);
    logger.error(`The patch of the admission handlers cannot be made: ${describeError(error)}`, stackOf(error));
    return { failures: [...failures, { error, by: 'Making the patch' }], warnings, patch: undefined };
  }
}
