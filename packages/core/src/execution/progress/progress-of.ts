/** The progress of an object's handlers, put together for one of them from where it is kept in the course of a cycle. */
import type { HandlerProgress, Progress } from '../../intents/progress.js';
import type { HandlerId } from '../../values/ids.js';
import type { Level } from '../ledger.js';
import type { Outcomes } from '../outcomes.js';
import type { HandlerState } from './handler-state.js';
import type { State } from './state.js';

export interface ProgressSources {
  /** Of the handlers that are executed together, as it was before they were; and what became of them so far. */
  readonly state: State | undefined;
  readonly outcomes: Outcomes | undefined;
  /** Of the sub-handlers executed so far. */
  readonly levels: readonly Level[] | undefined;
  /** Of the handlers above. */
  readonly above: Progress | undefined;
}

/** The newest is what counts. */
export function progressOf({ state, outcomes, levels = [], above }: ProgressSources): Progress {
  const progress = new Map<HandlerId, HandlerProgress>(above);
  const add = (states: State | undefined, results: Outcomes | undefined): void => {
    for (const [id, before] of states ?? []) {
      const outcome = results?.get(id);
      progress.set(id, told(outcome === undefined ? before : before.withOutcome(outcome)));
    }
  };
  for (const level of levels) add(level.state, level.outcomes);
  add(state, outcomes);
  return progress;
}

function told({
  started,
  stopped,
  delayed,
  retries,
  success,
  failure,
  finished,
  message,
}: HandlerState): HandlerProgress {
  return Object.freeze({ started, stopped, delayed, retries, success, failure, finished, message });
}
