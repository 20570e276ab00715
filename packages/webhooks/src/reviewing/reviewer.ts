/** From a review to the cause, from the cause to the handlers, from the handlers to the response. */
import {
  AmbiguousResourceError,
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
  quoteId,
  stackOf,
  tellerOfConsidered,
  toError,
  type WebhookCause,
  type WebhookHandler,
} from '@kopf-ts/core/engine';
import { withHandlerId } from '../configurations/webhook-names.js';
import { isBookkeeping } from './own-marks.js';
import { ReviewCause, understand } from './review-cause.js';
import { deadlineOf } from './review-deadlines.js';
import { type Review, readReview } from './review-request.js';
import { type Results, respond } from './review-response.js';

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
  const cancellation = signal && ((): AbortSignal => signal);
  return async (request, given = {}) => {
    const begunAt = parts.clock.now();
    const hints = withHandlerId(given, parts.registry.handlers.webhooks);
    const review = readReview(request);
    const resource = requireResource(review, parts.insights);
    requireHandler(parts.registry.handlers.webhooks.of(resource), resource, hints);
    const cause = new ReviewCause(review, resource, hints, parts);
    if (understand(() => isBookkeeping(review, parts.settings))) {
      if (isEnabled(cause.logger, 'debug')) cause.logger.debug('Only our own marks are updated. That needs no review.');
      return respond(review, { errors: [], warnings: [], patch: undefined });
    }
    const selected = select(cause, parts);
    const errors = selected.error === undefined ? [] : [selected.error];
    for (const handler of selected.handlers) {
      const ending = errorOf(handler, cause, { parts, begunAt, patience: hints.timeout, cancellation });
      const error = isThenable(ending) ? await ending : ending;
      if (error !== undefined) errors.push(error);
    }
    return respond(review, resultsOf(cause, errors));
  };
}

function requireResource({ resource }: Review, insights: Insights): Resource {
  const { group, version, plural } = resource;
  let found: Resource | undefined;
  for (const served of insights.webhook) {
    if (served.plural !== plural || served.version !== version || served.group !== group) continue;
    if (found !== undefined) {
      throw new AmbiguousResourceError(
        `Several resources are ${plural}.${version}.${group}: it is not clear which one.`,
      );
    }
    found = served;
  }
  if (found !== undefined) return found;
  throw new UnknownResourceError(`There are no admission handlers for ${plural}.${version}.${group}.`);
}

/** Whatever is asked for by its name must be there: what does not exist must not pass for what has no objections. */
function requireHandler(
  handlers: readonly WebhookHandler[],
  resource: Resource,
  { webhook, reason }: ReviewHints,
): void {
  if (reason !== undefined && reason !== 'validating' && reason !== 'mutating') {
    throw new UnknownResourceError(
      `There are neither "validating" nor "mutating" handlers: ${quoteId(String(reason))}.`,
    );
  }
  if (webhook === undefined || webhook === '') return;
  const isThere = handlers.some(({ id, reason: own }) => id === webhook && (reason === undefined || reason === own));
  if (isThere) return;
  const kind = reason === undefined ? 'admission' : reason;
  throw new UnknownResourceError(`There is no ${kind} handler ${quoteId(webhook)} for ${resource.plural}.`);
}

interface Selected {
  readonly handlers: readonly WebhookHandler[];
  readonly error?: Error;
}

/** If a filter fails, it is not known whom it would have let through: so nobody is asked, and nothing is allowed. */
function select(cause: WebhookCause, { registry, facts = NO_FACTS }: ReviewParts): Selected {
  const onConsidered = facts.wants['handler.considered'] ? tellerOfConsidered(facts, cause) : undefined;
  try {
    return { handlers: registry.handlers.webhooks.select(cause, { onConsidered }) };
  } catch (thrown) {
    const error = toError(thrown);
    cause.logger.error(`A filter of admission handlers has failed: ${describeError(error)}`, { error });
    return { handlers: [], error };
  }
}

interface Circumstances {
  readonly parts: ReviewParts;
  readonly begunAt: number;
  /** Of the API server. */
  readonly patience: number | undefined;
  readonly cancellation: (() => AbortSignal) | undefined;
}

/** Calls the handler; returns what it has failed with. Waits only for those that have something to wait for. */
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
function resultsOf({ patch, body, warnings, logger }: WebhookCause, errors: readonly Error[]): Results {
  try {
    const ops = asJsonPatch(patch, body);
    return { errors, warnings, patch: ops.length > 0 ? JSON.stringify(ops) : undefined };
  } catch (thrown) {
    const error = toError(thrown);
    logger.error(`The patch of the admission handlers cannot be made: ${describeError(error)}`, stackOf(error));
    return { errors: [...errors, error], warnings, patch: undefined };
  }
}
