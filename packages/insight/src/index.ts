/**
 * A journal of what an operator does with each object, answers to why it does it or does not, and the console.
 * It leaves logs to loggers, numbers to metrics, and changing anything to the operator itself.
 */
// biome-ignore-all assist/source/organizeImports: a table of contents, in the order of reading

// The journal.
export { journal, type Journal, type JournalOptions, type JournalQuery } from './journal/journal.js';
export type {
  JournalEntry,
  KeptRejection,
  KnownStream,
  ObjectJournal,
  OperatorJournal,
  RetriedWrite,
  Verdict,
} from './journal/entries.js';

// The answers.
export {
  explain,
  type Explanation,
  type LiveState,
  type WhyFinding,
  type WhyInput,
  type WhyReason,
} from './why/explain.js';
export type { HandlerAnswer } from './why/handlers.js';
export type { Moment } from './why/timeline.js';
export { marksOf, type MarkedProgress, type MarksOptions, type ObjectMarks } from './why/marks.js';
export { plainText } from './why/plain-text.js';

// The console in the browser.
export { type ConsoleOptions, type OperatorConsole, operatorConsole } from './console/console.js';
export type { DeclaredHandler } from './console/handler-rates.js';
export { type KeptLine, type ObjectLogs, objectLogs } from './console/object-logs.js';

// The admin endpoint, and the ways to it.
export { admin, type Admin, type AdminAnswer, type AdminOptions } from './admin/admin.js';
export { actions, type Actions, type ActionsOptions, type ActionTarget } from './admin/actions.js';
export { askAction, askWhy, type AdminAction, type WayToAdmin } from './admin/asking.js';
export { portForward, type PodPort } from './admin/port-forward.js';
