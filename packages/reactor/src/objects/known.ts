/** What is known of an object while the operator lives. Never stored anywhere, and lost with the operator. */
import type { Body, Essence, HandlerId, Mapping, Seconds } from '@kopf-ts/core';
import type { AnyHandler, HandlerState, WatchedEvent } from '@kopf-ts/core/engine';
import type { Unsent } from '../cycle/handling.js';
import type { Stamp } from '../relations/related-objects.js';
import { type Breaker, UNBROKEN } from './breaker.js';
import { type NotedWrite, type Seen, writesUntil } from './news.js';

/** A cycle gets it as it is, and returns what is known after it; nobody changes it in between. */
export interface Known {
  /** All handlers have finished with it at least once since the operator has started. */
  readonly isHandledOnce: boolean;
  readonly handled: LastHandled | undefined;
  /** How many times the last handled state was stripped off. */
  readonly strippings: number;
  /** Marks that the cluster refuses to store, since the object is too large: as a merge-patch of the object. */
  readonly unsavable: Mapping | undefined;
  /** Handlers were called, but what they have done could not be stored: that goes before anything else. */
  readonly unsent: Unsent | undefined;
  /** What the finished handlers have seen, for as long as others are not finished. */
  readonly seen: ReadonlyMap<HandlerId, Seen>;
  /** Our own latest changes of the object. */
  readonly writes: readonly NotedWrite[];
  /** By then, what is in `seen` is stored, if it differs from what is stored. */
  readonly correctionsDue: Seconds | undefined;
  /** Deletion handlers that have finished: they are not called again, whatever else the object waits for. */
  readonly deleted: ReadonlySet<HandlerId>;
  /** Resuming handlers that have finished: they are called once in the life of an operator. */
  readonly resumed: ReadonlySet<HandlerId>;
  readonly breaker: Breaker;
  /** Of the handlers of events. */
  readonly eventBreaker: Breaker;
  /** Since when it is waited for the answers to our own changes, to tell whose the latest one is. */
  readonly heldSince: Seconds | undefined;
  /** How many times in a row the lifecycle has picked nobody. */
  readonly emptyRounds: number;
  /** Handlers of events that are called again for the latest event. */
  readonly eventRetries: EventRetries;
  /** Of handlers that are called for what the object and its children are. */
  readonly related: ReadonlyMap<HandlerId, RelatedState>;
}

/** What a handler of reconciliation or of children has seen, and when it is called again. */
export interface RelatedState {
  /** The object, as the handler has seen it; or as it is now, if that makes no difference. */
  readonly body: Body | undefined;
  /** When its children had changed last, by each relation of the handler. */
  readonly stamps: readonly Stamp[];
  /** The children, as the handler has seen them; unknown if that was another operator. */
  readonly children: readonly Body[] | undefined;
  /** Of these children; and what is stored of it. */
  readonly digest: string | undefined;
  readonly stored: string | undefined;
  /** In a row. */
  readonly failures: number;
  readonly failingSince: { readonly started: Date; readonly at: Seconds } | undefined;
  /** When to call it again by itself. */
  readonly dueAt: Seconds | undefined;
  /** By when all its calls would be paid for, if each had a second of its own. */
  readonly pacedUntil: Seconds | undefined;
  /** It was not yet called for what is there, or is not done with it. */
  readonly isPending: boolean;
}

export const NOT_RELATED: Known['related'] = new Map();

/** An event that a handler has failed with. */
export interface EventRetry {
  readonly handler: AnyHandler;
  readonly event: WatchedEvent;
  readonly state: HandlerState;
  /** When to try again, by the monotonic clock. */
  readonly dueAt: Seconds;
}

export type EventRetries = ReadonlyMap<HandlerId, EventRetry>;

export const NO_RETRIES: EventRetries = new Map();

/** Whether any of them is to be called now. */
export function isAnyDue(retries: EventRetries, now: Seconds): boolean {
  if (retries.size === 0) return false;
  return [...retries.values()].some(({ dueAt }) => dueAt <= now);
}

/** All of them are to be called now. */
export function hurried(retries: EventRetries, now: Seconds): EventRetries {
  if (retries.size === 0) return retries;
  return new Map([...retries].map(([id, retry]) => [id, { ...retry, dueAt: now }]));
}

/** The last handled state of the object: it is on the object as well, unless somebody strips it off. */
export interface LastHandled {
  readonly essence: Essence;
  /** What counts as handled instead, by its digest: the server has made it of our own marks, and nobody has asked for it. */
  readonly digest: string | undefined;
  /** The version of the object that is handled. */
  readonly version: string | undefined;
}

export const NOTHING_KNOWN: Known = Object.freeze({
  isHandledOnce: false,
  handled: undefined,
  strippings: 0,
  unsavable: undefined,
  unsent: undefined,
  seen: new Map<HandlerId, Seen>(),
  writes: [],
  correctionsDue: undefined,
  deleted: new Set<HandlerId>(),
  resumed: new Set<HandlerId>(),
  breaker: UNBROKEN,
  eventBreaker: UNBROKEN,
  heldSince: undefined,
  emptyRounds: 0,
  eventRetries: NO_RETRIES,
  related: NOT_RELATED,
});

/** So many of our own changes are kept, for the case that their answers come in another order than they were made. */
const MAX_WRITES = 16;

/** With one more change of ours. */
export function withWrite(known: Known, write: NotedWrite): Known {
  return { ...known, writes: [...known.writes.slice(1 - MAX_WRITES), write] };
}

/**
 * After a cycle that has handled that state: our own changes up to it are followed, and needed no more, unless somebody
 * has finished and others have not. The stream may be behind: what is after that state is yet to be followed.
 */
export function withoutFollowed(known: Known, before: Known, handled: Body | undefined): Known {
  if (known.writes.length === 0 || known.seen.size > 0 || handled === undefined) return known;
  const followed = new Set(writesUntil(before.writes, handled));
  return { ...known, writes: known.writes.filter((write) => !followed.has(write)) };
}

/** Once others may have worked on the object, what could not be sent before that is outdated; and so is what was seen. */
export function withoutUnsent(known: Known): Known {
  const forgotten = known.related.size === 0 ? known : { ...known, related: NOT_RELATED };
  return known.unsent === undefined ? forgotten : { ...forgotten, unsent: undefined, handled: undefined };
}
