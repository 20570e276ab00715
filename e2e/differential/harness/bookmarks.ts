/** Bookmarks come when the server finds the time: between which events, and how many of them, is a matter of chance. */
import { valueAt } from './paths.js';

/** A bookmark that tells of progress only, and not of the end of the initial events. */
export function isMereBookmark(event: unknown): boolean {
  if (valueAt(event, 'type') !== 'BOOKMARK') return false;
  const annotations = valueAt(event, 'object.metadata.annotations') as Record<string, unknown> | undefined;
  return annotations?.['k8s.io/initial-events-end'] === undefined;
}

/**
 * The events without mere bookmarks. If the server has closed the stream, the last of them remains: before the end, a
 * watch that wants bookmarks gets one.
 */
export function withoutMereBookmarks(answer: unknown): unknown {
  const events = valueAt(answer, 'events');
  if (!Array.isArray(events)) return answer;
  const last = valueAt(answer, 'closedBy') === 'server' ? events.findLast(isMereBookmark) : undefined;
  const rest = events.filter((event) => !isMereBookmark(event));
  return { ...(answer as object), events: last === undefined ? rest : [...rest, last] };
}
