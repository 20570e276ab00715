/** The result of one call of one handler. It lives in memory; `ProgressRecord` is its persisted part. */
import type { Seconds } from '../seams/clock.js';
import type { HandlerId } from '../values/ids.js';

interface WithSubrefs {
  /** All sub-handlers executed during the call, at any depth. */
  readonly subrefs: readonly HandlerId[];
  /** The token for the keys of steps, if the handler has begun any. */
  readonly token?: string | undefined;
}

/** The handler is done; also if its error is ignored, and there is no result. */
interface Success extends WithSubrefs {
  readonly final: true;
  readonly result: unknown;
  /** For steps: the result as kept in the record. */
  readonly kept?: string | undefined;
}

/** The handler has failed, and is not tried again. */
interface Failure extends WithSubrefs {
  readonly final: true;
  readonly error: Error;
}

/** The handler is tried again: after the delay, or as soon as possible. */
interface Retry extends WithSubrefs {
  readonly final: false;
  readonly error: Error;
  readonly delay: Seconds | undefined;
}

export type Outcome = Success | Failure | Retry;

export type Outcomes = ReadonlyMap<HandlerId, Outcome>;
