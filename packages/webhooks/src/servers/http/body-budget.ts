/**
 * Memory for requests. Anybody who reaches the server can send them, so all of them together get a part of the heap, and
 * no more: what does not fit is refused, and the operator lives on.
 */
import { getHeapStatistics } from 'node:v8';
import { Refusal } from './http-refusals.js';

/** The memory of all requests under way, over all connections of a server. */
export interface BodyBudget {
  /** Opens an account for one request. */
  open(): BodyAccount;
  /** In bytes. */
  readonly used: number;
}

/** The memory of one request. */
export interface BodyAccount {
  /** Takes so many bytes more. Throws a {@link Refusal} if there are not so many. */
  take(bytes: number): void;
  /** Throws a {@link Refusal} if so many bytes are not there now; takes nothing. */
  require(bytes: number): void;
  /** Gives back all that was taken. */
  close(): void;
}

/** The part of the heap that requests may take. */
const HEAP_PART = 1 / 4;

/** A body is in memory as it came, as a text of up to two bytes for a byte, and as the texts that are in it. */
export const COPIES = 4;

/** Enough for the largest body at least, so that nobody waits for what never comes. */
export function defaultBodyBudget(bodyLimit: number): number {
  return Math.max(Math.floor(getHeapStatistics().heap_size_limit * HEAP_PART), bodyLimit * COPIES);
}

const RETRY_AFTER = { 'retry-after': '1' };

export function bodyBudget(limit: number): BodyBudget {
  let used = 0;
  const require = (bytes: number): void => {
    if (bytes > limit) throw new Refusal(413, 'The request is larger than the memory budget of all requests together.');
    if (used + bytes > limit) throw new Refusal(503, 'Too many requests at once. Try again later.', RETRY_AFTER);
  };
  return {
    open() {
      let taken = 0;
      return {
        require: (bytes) => require(bytes),
        take(bytes) {
          require(bytes);
          used += bytes;
          taken += bytes;
        },
        close() {
          used -= taken;
          taken = 0;
        },
      };
    },
    get used() {
      return used;
    },
  };
}
