/** What is known of an object while the operator lives. Never stored, and lost with the operator. */
import type { Body, Essence, HandlerId, Mapping, Seconds } from '@kopf-ts/core';
import type { AnyHandler, HandlerState, WatchedEvent } from '@kopf-ts/core/engine';
import type { Unsent } from '../cycle/handling.js';
import type { Stamp } from '../relations/related-objects.js';
import { type Breaker, UNBROKEN } from './breaker.js';
import { type NotedWrite, type Seen, writesUntil } from './news.js';

/** A cycle gets it as is, and returns the new state; nothing changes it in between. */
export interface Known {
  /** All handlers have finished with it at least once since the operator started. */
  readonly isHandledOnce: boolean;
  readonly handled: LastHandled | undefined;
  /** How many times the last handled state was stripped off. */
  readonly strippings: number;
  /** Marks that the cluster refuses because the object is too large: as a merge-patch of the object. */
  readonly unsavable: Mapping | undefined;
  /** The results of handlers that could not be stored: storing them goes before anything else. */
  readonly unsent: Unsent | undefined;
  /** What the finished handlers have seen, for as long as others are not finished. */
  readonly seen: ReadonlyMap<HandlerId, Seen>;
  /** Our own latest changes of the object. */
  readonly writes: readonly NotedWrite[];
  /** The deadline for storing `seen`, if it differs from what is stored. */
  readonly correctionsDue: Seconds | undefined;
  /** Finished deletion handlers: they are not called again, whatever else the object waits for. */
  readonly deleted: ReadonlySet<HandlerId>;
  /** Finished resuming handlers: they are called once in the life of an operator. */
  readonly resumed: ReadonlySet<HandlerId>;
  readonly breaker: Breaker;
  /** The breaker of the event handlers. */
  readonly eventBreaker: Breaker;
  /** Since when we wait for responses to our own changes, to find the author of the latest one. */
  readonly heldSince: Seconds | undefined;
  /** Consecutive rounds in which the lifecycle picked no handler. */
  readonly emptyRounds: number;
  /** Event handlers to be called again for the latest event. */
  readonly eventRetries: EventRetries;
  /** The state of reconciling handlers. */
  readonly related: ReadonlyMap<HandlerId, RelatedState>;
}

/** What a reconciling handler has seen, and when it is called again. */
export interface RelatedState {
  /** The object as the handler saw it, or its current state if there is no relevant difference. */
  readonly body: Body | undefined;
  /** When its children last changed, by relation. */
  readonly stamps: readonly Stamp[];
  /** The children as the handler saw them; unknown if that was another operator process. */
  readonly children: readonly Body[] | undefined;
  /** The digest of these children, and the stored one. */
  readonly digest: string | undefined;
  readonly stored: string | undefined;
  /** Consecutive failures. */
  readonly failures: number;
  readonly failingSince: { readonly started: Date; readonly at: Seconds } | undefined;
  /** The time of the next requested call. */
  readonly dueAt: Seconds | undefined;
  /** By when all its calls would be paid for, if each had a second of its own. */
  readonly pacedUntil: Seconds | undefined;
  /** The handler was not called for the present state yet, or has not finished with it. */
  readonly isPending: boolean;
}

export const NOT_RELATED: Known['related'] = new Map();

/** An event that a handler has failed with. */
export interface EventRetry {
  readonly handler: AnyHandler;
  readonly event: WatchedEvent;
  readonly state: HandlerState;
  /** When to try again, in monotonic time. */
  readonly dueAt: Seconds;
}

export type EventRetries = ReadonlyMap<HandlerId, EventRetry>;

export const NO_RETRIES: EventRetries = new Map();

/** Whether any of them is due. */
export function isAnyDue(retries: EventRetries, now: Seconds): boolean {
  if (retries.size === 0) return false;
  return [...retries.values()].some(({ dueAt }) => dueAt <= now);
}

/** Makes all of them due. */
export function hurried(retries: EventRetries, now: Seconds): EventRetries {
  if (retries.size === 0) return retries;
  return new Map([...retries].map(([id, retry]) => [id, { ...retry, dueAt: now }]));
}

/** The last handled state of the object: it is also on the object unless something strips it off. */
export interface LastHandled {
  readonly essence: Essence;
  /** The digest of what counts as handled instead: the server derived it from our own marks, without any request. */
  readonly digest: string | undefined;
  /** The handled version of the object. */
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

/** How many of our own changes are kept, as responses may arrive out of order. */
const MAX_WRITES = 16;

/** Adds one of our changes. */
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

/** Once other operators may have worked on the object, unsent work is outdated, and so is what was seen. */
export function withoutUnsent(known: Known): Known {
  const forgotten = known.related.size === 0 ? known : { ...known, related: NOT_RELATED };
  return known.unsent === undefined ? forgotten : { ...forgotten, unsent: undefined, handled: undefined };
}
