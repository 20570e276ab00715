/** The cause of a review: what handlers and their filters are told of it. */
import {
  type ApiFor,
  type Body,
  type Diff,
  diff,
  type Indices,
  isDeeperThan,
  type KubeClient,
  type Logger,
  type Memos,
  MissingDataError,
  Patch,
  type Resource,
  type ReviewHints,
} from '@kopf-ts/core';
import { deepFreeze, objectLogger, type WebhookCause } from '@kopf-ts/core/engine';
import type { Review } from './review-request.js';

/** What causes need of an operator. */
export interface CauseParts {
  readonly logger: Logger;
  readonly client: KubeClient;
  readonly apiFor?: ApiFor | undefined;
  readonly memos: Memos;
  readonly indices?: Indices | undefined;
}

/**
 * Somebody waits for each review, so what few handlers ask for is made only for them: the difference, and the old
 * object, which nobody could change before it is seen, so that it need not be frozen before that.
 */
export class ReviewCause implements WebhookCause {
  readonly kind = 'webhook';
  readonly reason: WebhookCause['reason'];
  readonly webhook: WebhookCause['webhook'];
  readonly resource: Resource;
  readonly body: Body;
  readonly patch: Patch;
  readonly logger: Logger;
  readonly client: KubeClient;
  readonly apiFor: ApiFor | undefined;
  readonly indices?: Indices;
  readonly memo: unknown;
  readonly operation: WebhookCause['operation'];
  readonly subresource: string | undefined;
  readonly dryrun: boolean;
  readonly userinfo: WebhookCause['userinfo'];
  readonly headers: WebhookCause['headers'];
  readonly sslpeer: WebhookCause['sslpeer'];
  readonly warnings: string[] = [];
  readonly new: Body | undefined;
  readonly #old: Body | undefined;
  #diff: Diff | undefined;

  constructor(review: Review, resource: Resource, hints: ReviewHints, parts: CauseParts) {
    const { logger, client, apiFor, memos, indices } = parts;
    const body = frozen(review.body);
    this.reason = hints.reason;
    this.webhook = hints.webhook || undefined;
    this.resource = resource;
    this.body = body;
    this.patch = new Patch({}, { body });
    this.logger = objectLogger({ logger, body });
    this.client = client;
    this.apiFor = apiFor;
    if (indices !== undefined) this.indices = indices;
    // What is only going to be created may never come to be.
    this.memo = memos.recall(body, { ephemeral: review.operation === 'CREATE' });
    this.operation = review.operation;
    this.subresource = review.subresource;
    this.dryrun = review.dryrun;
    this.userinfo = review.userinfo;
    this.headers = hints.headers ?? {};
    this.sslpeer = hints.sslPeer ?? {};
    // It is the body itself, if there is any: that is, it is frozen.
    this.new = review.new;
    this.#old = review.old;
  }

  get old(): Body | undefined {
    return this.#old && frozen(this.#old);
  }

  get diff(): Diff {
    this.#diff ??= understand(() => diff(this.old, this.new));
    return this.#diff;
  }
}

/** As deep as API servers themselves read objects. Whatever is deeper does not come from one. */
const MAX_LEVELS = 10_000;

function frozen(object: Body): Body {
  if (isDeeperThan(object, MAX_LEVELS)) throw new MissingDataError(TOO_DEEP);
  return deepFreeze(object) as Body;
}

const TOO_DEEP = 'The admission review is malformed: its objects are nested too deep.';

/** For the walks through the objects, as deep as they go; nothing sensible goes too deep for that. */
export function understand<T>(walk: () => T): T {
  try {
    return walk();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new MissingDataError(TOO_DEEP, { cause: error });
  }
}
