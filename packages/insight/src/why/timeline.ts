/** The history of an object, line by line. */
import type { JournalEntry } from '../journal/entries.js';
import type { Known } from './explain.js';
import { capitalised, causeTitle, durationText, handlerTitle, listText } from './words.js';

/**
 * One line of a timeline.
 *
 * ```ts
 * const line = ({ at, text }: kopf.insight.Moment): string => `${at} ${text}`;
 * ```
 */
export interface Moment {
  /** In ISO 8601. */
  readonly at: string;
  readonly text: string;
}

export function timelineOf({ journal, times }: Known): readonly Moment[] {
  return (journal?.entries ?? []).map((entry) => ({ at: times.iso(entry.at), text: textOf(entry) }));
}

function textOf(entry: JournalEntry): string {
  switch (entry.kind) {
    case 'cause':
      return causeText(entry);
    case 'call': {
      const { handler, outcome, retry, duration, delay, error } = entry;
      const said = error === undefined ? '' : `: ${error.message}`;
      const attempt = retry > 0 ? ` (attempt ${retry + 1})` : '';
      const how =
        outcome === 'succeeded'
          ? `succeeded in ${durationText(duration)}`
          : outcome === 'failed'
            ? 'failed for good'
            : `will be retried in ${durationText(delay ?? 0)}`;
      return `${handlerTitle(handler)}${attempt} ${how}${said}`;
    }
    case 'patch': {
      const what = entry.paths.length === 0 ? 'The object' : listText(entry.paths);
      const version = entry.version === undefined ? '' : `, version ${entry.version}`;
      return entry.error === undefined
        ? `Patched: ${what}${version}`
        : `A patch failed (${what}): ${entry.error.message}`;
    }
    case 'dropped':
      return `Not written: ${entry.what}, because ${entry.why}`;
    case 'failed': {
      const again = entry.pause === undefined ? '' : `, retrying in ${durationText(entry.pause)}`;
      return `Handling failed${again}: ${entry.error.message}`;
    }
    case 'breaker':
      return `The breaker tripped for ${durationText(entry.pause)}: ${listText(entry.handlers)} change ${listText(entry.fields)} again and again`;
    case 'superseded':
      return `${capitalised(causeTitle(entry.reason))} was superseded by ${causeTitle(entry.by)}`;
    case 'paused':
      return `${entry.isPaused ? 'Paused' : 'Resumed'} by ${entry.by === 'annotation' ? 'an annotation' : 'hand'}`;
    case 'daemon': {
      const why = entry.why === undefined ? '' : `: ${entry.why}`;
      const what = {
        started: 'started',
        stopping: 'was asked to stop',
        stopped: 'stopped',
        over: 'ended on its own',
      };
      return `The ${entry.type} ${handlerTitle(entry.handler)} ${what[entry.what]}${why}`;
    }
    case 'review': {
      const by = entry.handlers.length === 0 ? '' : ` by ${listText(entry.handlers)}`;
      const code = entry.code === undefined ? '' : ` with ${entry.code}`;
      return `The request for ${entry.operation} was ${entry.allowed ? 'allowed' : `denied${code}`}${by}`;
    }
    case 'gone':
      return 'Deleted';
  }
}

function causeText({ reason, paths, version, verdicts, repeats }: Extract<JournalEntry, { kind: 'cause' }>): string {
  const chosen = verdicts
    .filter(({ rejection }) => rejection === undefined)
    .map(({ handler }) => handlerTitle(handler));
  const at = version === undefined ? '' : ` (version ${version})`;
  const where = paths.length === 0 ? '' : `: ${listText(paths)}`;
  const times = repeats === 0 ? '' : `, seen ${repeats + 1} times`;
  switch (reason) {
    case 'noop':
      return `Changed, but not in its essence${at}${times}`;
    case 'free':
      return `Being deleted, without the operator's finalizer${at}${times}`;
    case 'gone':
      return `Deleted${at}`;
    default: {
      const who = chosen.length === 0 ? 'no handler matches' : `for ${listText(chosen)}`;
      return `${capitalised(causeTitle(reason))}${at}${where}; ${who}${times}`;
    }
  }
}
