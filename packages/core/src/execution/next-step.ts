/** Decides what follows after the handlers were called and their patch was sent. Pure. */
import type { Seconds } from '../seams/clock.js';
import { roundedSeconds } from './error-decisions.js';

/** The longest sleep: the world may have changed more than we know. */
const MAX_SLEEP: Seconds = 600;

export interface NextFacts {
  /** The delay until the first of all handlers and daemons is due; `undefined` if none waits. */
  readonly delay: Seconds | undefined;
  /** Whether we have really changed the object, so that a new event arrives. */
  readonly patched: boolean;
  readonly compat?: 'kopf' | undefined;
}

/** How the next round begins: by itself, in memory; or, as in Kopf, by touching the object, which triggers an event. */
type Awakening = 'again' | 'touch';

export type NextStep =
  /** Nothing is left to do until the object changes. */
  | { readonly action: 'finish'; readonly log: string }
  /** Our own change triggers the next round. */
  | { readonly action: 'await-event'; readonly log?: string }
  /** Something is already due. */
  | { readonly action: Awakening }
  /** Sleep unless something new happens to the object; then, the next round. */
  | { readonly action: 'sleep'; readonly seconds: Seconds; readonly awakening: Awakening; readonly log: string };

/** Kopf's log line when nothing is left to do. */
export const FINISHED = 'Handling cycle is finished, waiting for new changes.';

/** The first match wins. */
export function decideNext({ delay, patched, compat }: NextFacts): NextStep {
  const awakening: Awakening = compat === 'kopf' ? 'touch' : 'again';

  if (delay === undefined && !patched) {
    return { action: 'finish', log: FINISHED };
  }
  if (delay === undefined) return { action: 'await-event' };

  // The event of our change comes before the delay ends, and the rest of the delay is waited for then.
  if (patched && delay > 0) {
    const log = `Sleeping was skipped because of the patch, ${roundedSeconds(delay)} seconds left.`;
    return { action: 'await-event', log };
  }
  if (patched) return { action: 'await-event' };

  // It may have expired between the selection of handlers and now: never stall on that.
  if (delay <= 0) return { action: awakening };

  const capped = delay > MAX_SLEEP ? ` (capped ${MAX_SLEEP})` : '';
  const log = `Sleeping for ${roundedSeconds(delay)}${capped} seconds for the delayed handlers.`;
  return { action: 'sleep', seconds: Math.min(delay, MAX_SLEEP), awakening, log };
}

/** The log line of a sleep that has ended early. */
export function interruptedSleep(left: Seconds): string {
  return `Sleeping was interrupted by new changes, ${roundedSeconds(left)} seconds left.`;
}
