/** How far the handlers of an object have come, as other handlers see it. */
import type { HandlerId } from '../values/ids.js';

/**
 * How far one handler has come with the current change of the object.
 *
 * ```ts
 * const isStuck = ({ finished, retries }: kopf.HandlerProgress): boolean => !finished && retries > 10;
 * ```
 */
export interface HandlerProgress {
  /** When it was first to be called. */
  readonly started: Date;
  /** When it has succeeded, or failed for good. */
  readonly stopped: Date | undefined;
  /** Not to be called again before that, if it is to be tried again. */
  readonly delayed: Date | undefined;
  /** How many attempts were made. */
  readonly retries: number;
  readonly success: boolean;
  /** It has failed for good. */
  readonly failure: boolean;
  /** Either of these: it is not called for this change any more. */
  readonly finished: boolean;
  /** Of the last error, if the last attempt has failed. */
  readonly message: string | undefined;
}

/**
 * All handlers that take part in handling the current change, by their ids; with the sub-handlers executed so far.
 *
 * ```ts
 * const failed = (progress: kopf.Progress): string[] =>
 *   [...progress].filter(([, { failure }]) => failure).map(([id]) => id);
 * ```
 */
export type Progress = ReadonlyMap<HandlerId, HandlerProgress>;
