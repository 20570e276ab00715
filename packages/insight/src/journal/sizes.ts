/** How much memory the parts of the journal take: an estimate that is never too low. */
import type { JournalEntry, Verdict } from './entries.js';

/** Of an object with its fields; of a place in a list. */
const OBJECT = 96;
const PLACE = 8;
/** Of a string besides its characters, each of which takes two bytes at most. */
const STRING = 24;

/** Of a record of an object, without what is in it. */
export const RECORD = 480;

export function textSize(text: string | undefined): number {
  return text === undefined ? 0 : STRING + 2 * text.length;
}

function listSize(texts: readonly string[]): number {
  let size = OBJECT;
  for (const text of texts) size += PLACE + textSize(text);
  return size;
}

export function verdictSize({ handler, rejection }: Verdict): number {
  const size = OBJECT + PLACE + textSize(handler);
  if (rejection === undefined) return size;
  const { filter, path, wanted, found } = rejection;
  return size + OBJECT + textSize(filter) + textSize(path) + textSize(wanted) + textSize(found);
}

/** Without verdicts: these come later. */
export function entrySize(entry: JournalEntry): number {
  const size = 2 * OBJECT + PLACE;
  switch (entry.kind) {
    case 'cause':
      return size + OBJECT + textSize(entry.reason) + listSize(entry.paths) + textSize(entry.version);
    case 'call':
      return size + textSize(entry.handler) + textSize(entry.reason) + OBJECT + textSize(entry.error?.message);
    case 'patch':
      return size + listSize(entry.paths) + textSize(entry.version) + OBJECT + textSize(entry.error?.message);
    case 'dropped':
      return size + textSize(entry.what) + textSize(entry.why);
    case 'failed':
      return size + OBJECT + textSize(entry.error.message);
    case 'breaker':
      return size + listSize(entry.fields) + listSize(entry.handlers);
    case 'superseded':
      return size + textSize(entry.reason) + textSize(entry.by);
    case 'daemon':
      return size + textSize(entry.handler) + textSize(entry.why);
    case 'review':
      return size + textSize(entry.operation) + listSize(entry.handlers);
    case 'paused':
    case 'gone':
      return size;
  }
}
