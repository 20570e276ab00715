/** One event of one object, as it goes through the index functions: called one after another, then applied at once. */
import type {
  ApiFor,
  Clock,
  HandlerId,
  Indexer,
  Indices,
  KubeClient,
  Registry,
  Rejection,
  Seconds,
  Settings,
  Tracing,
} from '@kopf-ts/core';
import { Patch } from '@kopf-ts/core';
import {
  describeError,
  executeHandler,
  type Facts,
  type IndexHandler,
  type IndexingCause,
  match,
  NO_FACTS,
  type Outcome,
  objectLogger,
  tellerOfConsidered,
  terseLogger,
  titleOf,
  toError,
} from '@kopf-ts/core/engine';
import { type Entry, entriesOf, NOTHING } from './entries.js';
import { type Attempt, type Exclusion, type ExclusionsOfObject, exclusionAfter } from './exclusions.js';
import type { SlotOf } from './structural-keys.js';

type Handlers = readonly IndexHandler[];

/** What the indexer gets with an event. */
export type Sighting = Parameters<Indexer['accept']>[0];

export interface PassParts {
  // biome-ignore lint/suspicious/noExplicitAny: an indexer runs handlers of any environment alike
  readonly registry: Registry<any>;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly client?: KubeClient | undefined;
  readonly apiFor?: ApiFor | undefined;
  readonly facts?: Facts | undefined;
  readonly tracing?: Tracing | undefined;
  readonly random?: (() => number) | undefined;
  readonly indices: Indices;
  readonly slotOf: SlotOf;
}

export interface PassOptions {
  readonly key: string;
  readonly at: Sighting;
  /** Looked at before each function, since asynchronous ones take time. */
  readonly excluded: { of(key: string): ExclusionsOfObject | undefined };
  /** Only the functions whose time for another attempt has come. */
  readonly isRetry: boolean;
}

/**
 * The changes because of one event; it changes nothing itself.
 * A plain object with functions around it: there is one for each event of each object, and this is the cheapest.
 */
export interface IndexingPass extends PassOptions {
  readonly parts: PassParts;
  readonly cause: IndexingCause;
  /** At most one of each index. Where there is none, the index keeps what it has of the object. */
  readonly replacements: Replacement[];
  /** The exclusions that have begun, and the ones that are over. Few events change anything in that. */
  exclusions: Map<HandlerId, Exclusion | undefined> | undefined;
  cancelling: AbortController | undefined;
}

/** What an index is to have of the object from now on; `undefined` for what it has now. */
interface Replacement {
  readonly id: HandlerId;
  entries: readonly Entry[] | undefined;
}

export function newPass(parts: PassParts, { key, at, excluded, isRetry }: PassOptions): IndexingPass {
  const cause = causeOf(parts, at);
  return { parts, key, at, excluded, isRetry, cause, replacements: [], exclusions: undefined, cancelling: undefined };
}

/** A list is enough for them: there are few functions for one kind. Of one index, the last word is what counts. */
function replace({ replacements }: IndexingPass, id: HandlerId, entries: readonly Entry[] | undefined): void {
  for (const known of replacements) {
    if (known.id !== id) continue;
    known.entries = entries;
    return;
  }
  replacements.push({ id, entries });
}

/** Calls the functions. Done when it returns, if all of them are synchronous; rejects only if cancelled. */
export function runPass(pass: IndexingPass): Promise<void> | undefined {
  const all = pass.parts.registry.handlers.indexing.of(pass.at.resource);
  const { selected, broken } = select(pass);
  if (selected.length < all.length) leaveOut(pass, all, selected, broken);
  return handleFrom(pass, selected, 0);
}

/** Tells the function that runs now, if any, that it is not needed any more. */
export function cancelPass({ cancelling }: IndexingPass): void {
  cancelling?.abort();
}

/** Those whose filters do not fit lose the object; those of which it is not known keep what they have. */
function leaveOut(pass: IndexingPass, all: Handlers, selected: Handlers, broken: Handlers): void {
  const wanting = new Set(selected.map(({ id }) => id));
  const unknown = new Set(broken.map(({ id }) => id));
  for (const { id } of all) {
    if (wanting.has(id)) continue;
    if (!unknown.has(id)) replace(pass, id, NOTHING);
    const exclusion = exclusionOf(pass, id);
    if (exclusion !== undefined) exclusion.isWanted = false;
  }
}

/** One after another, as long as they are synchronous; and then the rest, when the asynchronous one has ended. */
function handleFrom(pass: IndexingPass, handlers: Handlers, first: number): Promise<void> | undefined {
  for (let n = first; n < handlers.length; n++) {
    const pending = handle(pass, handlers[n] as IndexHandler);
    if (pending !== undefined) return pending.then(() => handleFrom(pass, handlers, n + 1));
  }
  return undefined;
}

function handle(pass: IndexingPass, handler: IndexHandler): Promise<void> | undefined {
  const { parts, cause } = pass;
  const { clock, settings, random, facts, tracing } = parts;
  const exclusion = exclusionOf(pass, handler.id);
  if (exclusion === undefined && pass.isRetry) return undefined;
  if (exclusion !== undefined) {
    exclusion.isWanted = true;
    if (exclusion.isPermanent || clock.now() < exclusion.dueAt) {
      replace(pass, handler.id, NOTHING);
      return undefined;
    }
  }
  const attempt = new TimedAttempt(exclusion, clock);
  const signal = (): AbortSignal => {
    pass.cancelling ??= new AbortController();
    return pass.cancelling.signal;
  };
  const outcome = executeHandler(handler, attempt, { cause, settings, clock, random, facts, tracing, signal });
  if (!('then' in outcome)) {
    take(pass, handler, outcome, attempt);
    return undefined;
  }
  return Promise.resolve(outcome).then((settled) => take(pass, handler, settled, attempt));
}

function take(pass: IndexingPass, handler: IndexHandler, outcome: Outcome, attempt: Attempt): void {
  const { id } = handler;
  if ('error' in outcome) {
    pass.exclusions ??= new Map();
    pass.exclusions.set(id, exclusionAfter(outcome, attempt, pass.parts.clock.now()));
    replace(pass, id, NOTHING);
    return;
  }
  if (exclusionOf(pass, id) !== undefined) {
    pass.exclusions ??= new Map();
    pass.exclusions.set(id, undefined);
  }
  replace(pass, id, understood(pass, handler, outcome.result));
}

function exclusionOf({ excluded, key }: IndexingPass, id: HandlerId): Exclusion | undefined {
  return excluded.of(key)?.get(id);
}

/** Nothing, or nothing that can be indexed, is no reason to forget what was; the same as with an ignored error. */
function understood(
  { parts, cause }: IndexingPass,
  handler: IndexHandler,
  result: unknown,
): readonly Entry[] | undefined {
  if (result === undefined || result === null) return undefined;
  try {
    return entriesOf(result, parts.slotOf);
  } catch (thrown) {
    const error = toError(thrown);
    cause.logger.error(`${titleOf(handler)} returned a value that cannot be indexed: ${describeError(error)}`, {
      error,
    });
    return undefined;
  }
}

/** An attempt that knows how long it lasts: of a function that has failed before, or the first one. */
class TimedAttempt implements Attempt {
  readonly retries: number;
  readonly started: Date;
  readonly startedAt: Seconds;
  readonly clock: Clock;

  constructor(previous: Attempt | undefined, clock: Clock) {
    this.retries = previous?.retries ?? 0;
    this.started = previous?.started ?? clock.utc();
    this.startedAt = previous?.startedAt ?? clock.now();
    this.clock = clock;
  }

  get runtime(): Seconds {
    return this.clock.now() - this.startedAt;
  }
}

/** The patch is there because all handlers have one; but an index function changes nothing, and it goes nowhere. */
function causeOf({ indices, client, apiFor }: PassParts, { event, resource, memo, logger }: Sighting): IndexingCause {
  const body = event.object;
  const terse = terseLogger(objectLogger({ logger, body }));
  const patch = new Patch();
  // Not spread, for the same reason as above.
  if (client === undefined) return { kind: 'indexing', logger: terse, memo, indices, resource, body, patch };
  return { kind: 'indexing', logger: terse, memo, indices, client, apiFor, resource, body, patch };
}

interface Selection {
  readonly selected: Handlers;
  /** Those whose filters have failed, so that it is not known whether they want the object. */
  readonly broken: Handlers;
}

/** A filter that fails is a matter of its own function: the others go on, and the index keeps what it has. */
function select({ parts, cause }: IndexingPass): Selection {
  const { indexing } = parts.registry.handlers;
  const { facts = NO_FACTS } = parts;
  const tell = facts.wants['handler.considered'] ? tellerOfConsidered(facts, cause) : undefined;
  try {
    return { selected: indexing.select(cause, { onConsidered: tell }), broken: [] };
  } catch {
    const broken = indexing.of(cause.resource).filter((handler) => filtersFail(handler, cause));
    const excluded = new Set(broken.map(({ id }) => id));
    const onConsidered: typeof tell = tell && ((one, why) => tell(one, excluded.has(one.id) ? FAILED : why));
    return { selected: indexing.select(cause, { excluded, onConsidered }), broken };
  }
}

const FAILED: Rejection = Object.freeze({ filter: 'failed' });

function filtersFail(handler: IndexHandler, cause: IndexingCause): boolean {
  try {
    match(handler, cause);
    return false;
  } catch (thrown) {
    const error = toError(thrown);
    const text = `${titleOf(handler)} has filters that failed with an exception and will ignore it: ${describeError(error)}`;
    cause.logger.error(text, { error });
    return true;
  }
}
