/** What became of one call of one handler. It lives in memory; what is persisted of it is a `ProgressRecord`. */
import type { Seconds } from '../seams/clock.js';
import type { HandlerId } from '../values/ids.js';

interface WithSubrefs {
  /** All sub-handlers executed in the course of the call, however deep. */
  readonly subrefs: readonly HandlerId[];
  /** If the handler has begun steps: what makes their keys. */
  readonly token?: string | undefined;
}

/** The handler is done; also if its error is ignored, and there is no result. */
interface Success extends WithSubrefs {
  readonly final: true;
  readonly result: unknown;
  /** Of steps: the result as it is kept in the record. */
  readonly kept?: string | undefined;
}

/** The handler has failed, and is not to be tried again. */
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
