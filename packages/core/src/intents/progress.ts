/** The progress of an object's handlers, as seen by other handlers. */
import type { HandlerId } from '../values/ids.js';

/**
 * The progress of one handler with the current change of the object.
 *
 * ```ts
 * const isStuck = ({ finished, retries }: kopf.HandlerProgress): boolean => !finished && retries > 10;
 * ```
 */
export interface HandlerProgress {
  /** When it was first due. */
  readonly started: Date;
  /** When it succeeded or failed for good. */
  readonly stopped: Date | undefined;
  /** The earliest time of the next attempt. */
  readonly delayed: Date | undefined;
  /** The number of attempts so far. */
  readonly retries: number;
  readonly success: boolean;
  /** It has failed for good. */
  readonly failure: boolean;
  /** It has succeeded or failed for good: it is no longer called for this change. */
  readonly finished: boolean;
  /** The message of the last error, if the last attempt failed. */
  readonly message: string | undefined;
}

/**
 * The progress of all handlers of the current change by their ids, with the sub-handlers executed so far.
 *
 * ```ts
 * const failed = (progress: kopf.Progress): string[] =>
 *   [...progress].filter(([, { failure }]) => failure).map(([id]) => id);
 * ```
 */
export type Progress = ReadonlyMap<HandlerId, HandlerProgress>;
