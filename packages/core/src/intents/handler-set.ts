/** Handlers of one family: written by the registrars, read by the parts that run them. */
import type { Rejection } from '../seams/inspection/observer.js';
import type { HandlerId } from '../values/ids.js';
import type { Resource } from '../values/resources/resource.js';
import type {
  ActivityCause,
  Cause,
  ChangingCause,
  DaemonCause,
  IndexingCause,
  RelatedCause,
  SpawningCause,
  WatchingCause,
  WebhookCause,
} from './causes.js';
import type {
  ActivityHandler,
  AnyHandler,
  ChangeHandler,
  IndexHandler,
  RelatedHandler,
  ResourceHandler,
  SpawningHandler,
  WatchHandler,
  WebhookHandler,
} from './handlers.js';
import { fitsReason, fitsReview, match, type OnRejection } from './matching.js';
import { describeShadow } from './registration/shadows.js';
import { createRelations, type RelationSet } from './relations.js';

/** Receives each considered handler, with the reason if it does not match the cause. */
export type OnConsidered = (handler: ResourceHandler, rejection: Rejection | undefined) => void;

interface SelectOptions {
  /** The handlers that have finished it. */
  readonly excluded?: ReadonlySet<HandlerId> | undefined;
  readonly onConsidered?: OnConsidered | undefined;
}

interface HandlerSet<H extends AnyHandler, C extends Cause> extends Iterable<H> {
  readonly size: number;
  add(handler: H): void;
  /** The handlers that match this cause, in the order of registration, each function once per id. */
  select(cause: C, options?: SelectOptions): readonly H[];
  /** The handlers of this resource, regardless of the object; including repeated functions. */
  of(resource: Resource): readonly H[];
}

export interface Handlers {
  readonly activities: HandlerSet<ActivityHandler, ActivityCause>;
  readonly indexing: HandlerSet<IndexHandler, IndexingCause>;
  readonly watching: HandlerSet<WatchHandler, WatchingCause>;
  readonly spawning: HandlerSet<SpawningHandler, SpawningCause | DaemonCause>;
  readonly changing: HandlerSet<ChangeHandler, ChangingCause>;
  readonly related: HandlerSet<RelatedHandler, RelatedCause>;
  readonly webhooks: HandlerSet<WebhookHandler, WebhookCause>;
  /** The relations of objects from all declarations. */
  readonly relations: RelationSet;
}

export function createHandlers(): Handlers {
  return {
    activities: activitySet(),
    indexing: resourceSet<IndexHandler, IndexingCause>(match),
    watching: resourceSet<WatchHandler, WatchingCause>(match),
    spawning: resourceSet<SpawningHandler, SpawningCause | DaemonCause>(match),
    changing: createChangeHandlers(),
    related: resourceSet<RelatedHandler, RelatedCause>(match),
    webhooks: resourceSet<WebhookHandler, WebhookCause>(
      (handler, cause, onRejection) => fitsReview(handler, cause, onRejection) && match(handler, cause, onRejection),
    ),
    relations: createRelations(),
  };
}

/** Change handlers only: of a registry, or the sub-handlers declared by a handler. */
export function createChangeHandlers(): Handlers['changing'] {
  return resourceSet<ChangeHandler, ChangingCause>(
    (handler, cause, onRejection) => fitsReason(handler, cause, onRejection) && match(handler, cause, onRejection),
  );
}

function resourceSet<H extends ResourceHandler, C extends Exclude<Cause, ActivityCause>>(
  wants: (handler: H, cause: C, onRejection?: OnRejection) => boolean,
): HandlerSet<H, C> {
  const handlers: H[] = [];
  const unique = uniqueOnes();
  // Every event looks up the handlers of its resource; resources are few, and handlers rarely change.
  let byResource = new WeakMap<Resource, readonly H[]>();

  const of = (resource: Resource): readonly H[] => {
    let found = byResource.get(resource);
    if (found === undefined) {
      found = handlers.filter((handler) => handler.selector?.check(resource) ?? true);
      byResource.set(resource, found);
    }
    return found;
  };

  /** If a filter throws, nothing is reported: no handler is selected then. */
  const selectAndTell = (
    all: readonly H[],
    cause: C,
    excluded: SelectOptions['excluded'],
    onConsidered: OnConsidered,
  ): readonly H[] => {
    const rejections = new Map<H, Rejection>();
    const selected = all.filter((handler) => {
      if (!excluded?.has(handler.id)) return wants(handler, cause, (why) => void rejections.set(handler, why));
      rejections.set(handler, FINISHED);
      return false;
    });
    for (const handler of all) onConsidered(handler, rejections.get(handler));
    return unique(selected, cause);
  };

  return {
    get size() {
      return handlers.length;
    },
    [Symbol.iterator]: () => handlers.values(),
    add(handler) {
      handlers.push(handler);
      byResource = new WeakMap();
    },
    of,
    select(cause, { excluded, onConsidered } = {}) {
      const all = of(cause.resource);
      if (onConsidered !== undefined) return selectAndTell(all, cause, excluded, onConsidered);
      // A list of at most one handler usually is the selection itself. This is a hot path.
      const [only] = all;
      if (all.length === 1 && only !== undefined) return !excluded?.has(only.id) && wants(only, cause) ? all : NOBODY;
      return unique(
        all.filter((handler) => !excluded?.has(handler.id) && wants(handler, cause)),
        cause,
      );
    },
  };
}

const NOBODY: readonly never[] = [];
const FINISHED: Rejection = Object.freeze({ filter: 'finished' });

function activitySet(): Handlers['activities'] {
  const handlers: ActivityHandler[] = [];
  const unique = uniqueOnes();
  return {
    get size() {
      return handlers.length;
    },
    [Symbol.iterator]: () => handlers.values(),
    add(handler) {
      handlers.push(handler);
    },
    of: () => [],
    select(cause, { excluded } = {}) {
      const wanted = handlers.filter((handler) => handler.activity === cause.activity);
      const own = wanted.filter((handler) => !handler.fallback);
      return unique(
        (own.length > 0 ? own : wanted).filter((handler) => !excluded?.has(handler.id)),
        cause,
      );
    },
  };
}

/**
 * One function under one id is called once for one cause, however many of its declarations fit: resuming is often
 * stacked upon creation. It is only known after the selection, since these declarations are for different causes.
 * Different functions under one id are a mistake, which is reported once.
 */
function uniqueOnes(): <H extends AnyHandler>(handlers: readonly H[], cause: Cause) => readonly H[] {
  const told = new WeakSet<AnyHandler>();
  return (handlers, cause) => {
    if (handlers.length < 2) return handlers;
    const seen = new Map<HandlerId, AnyHandler[]>();
    return handlers.filter((handler) => {
      const namesakes = seen.get(handler.id);
      if (namesakes === undefined) {
        seen.set(handler.id, [handler]);
        return true;
      }
      if (namesakes.some(({ fn }) => fn === handler.fn)) return false;
      namesakes.push(handler);
      // Handlers of events store nothing by their ids: all of them are called.
      if (handler.kind !== 'watch' && !told.has(handler)) {
        told.add(handler);
        cause.logger.warn(describeShadow(namesakes[0] as AnyHandler, handler));
      }
      return true;
    });
  };
}
