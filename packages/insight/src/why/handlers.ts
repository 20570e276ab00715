/** The state of each handler of an object. */
import type { HandlerId } from '@kopf-ts/core';
import type { JournalEntry, Verdict } from '../journal/entries.js';
import type { Known, WhyReason } from './explain.js';
import { causeTitle, countText, durationText, handlerTitle, rejectionText } from './words.js';

/**
 * The state of one handler.
 *
 * ```ts
 * const isRejected = ({ reason }: kopf.insight.HandlerAnswer): boolean => reason === 'filtered';
 * ```
 */
export interface HandlerAnswer {
  readonly handler: HandlerId;
  /** `change`, `daemon`, `timer` and so on; absent if only its progress on the object is known. */
  readonly kind: string | undefined;
  readonly state: 'succeeded' | 'failed' | 'retrying' | 'running' | 'rejected' | 'chosen';
  readonly reason: WhyReason | undefined;
  readonly text: string;
}

type Call = Extract<JournalEntry, { kind: 'call' }>;
type Cause = Extract<JournalEntry, { kind: 'cause' }>;

/** Causes without anything to handle. */
const INFORMATIONAL: ReadonlySet<string> = new Set(['noop', 'free', 'gone']);

export function isHandled({ reason }: Pick<Cause, 'reason'>): boolean {
  return !INFORMATIONAL.has(reason);
}

export function handlerAnswers(known: Known): readonly HandlerAnswer[] {
  const { journal, marks } = known;
  const entries = journal?.entries ?? [];
  const causes = entries.filter((entry) => entry.kind === 'cause');
  // If no handler matches the object at all, that is reported for any cause.
  const cause = causes.findLast((one) => isHandled(one) || one.verdicts.length > 0);
  const calls = new Map<string, Call>();
  for (const entry of entries) if (entry.kind === 'call') calls.set(keyOf(entry.handler, entry.type), entry);
  const verdicts = new Map<string, Verdict>();
  for (const verdict of [...(cause?.verdicts ?? []), ...(journal?.verdicts ?? [])]) {
    verdicts.set(keyOf(verdict.handler, verdict.kind), verdict);
  }
  const keys = new Set([...verdicts.keys(), ...calls.keys()]);
  const answers = [...keys].map((key) => answerOf(known, cause, verdicts.get(key), calls.get(key)));
  const isTold = new Set(answers.map(({ handler }) => markName(handler)));
  const marked = (marks?.progress ?? [])
    .filter(({ handler }) => !isTold.has(handler))
    .map((one) => ofMarks(known, one));
  return [...answers, ...marked];
}

function answerOf(
  known: Known,
  cause: Cause | undefined,
  verdict: Verdict | undefined,
  call: Call | undefined,
): HandlerAnswer {
  const { live, times } = known;
  const { handler, kind } = verdict ?? { handler: call?.handler ?? '', kind: call?.type };
  const title = handlerTitle(handler);
  const base = { handler, kind } as const;
  if (live?.calls.includes(handler)) {
    return { ...base, state: 'running', reason: 'running', text: `${title} is being called right now.` };
  }
  // The verdict is about the latest change, which may be newer than the call.
  const isCalled = call !== undefined && (verdict === undefined || call.order > verdict.order || !isDecisive(verdict));
  if (isCalled && call !== undefined) return { ...base, ...ofCall(known, title, call) };
  if (verdict?.rejection !== undefined) return { ...base, ...ofRejection(known, cause, title, verdict, call) };
  if (live?.daemons.includes(handler))
    return { ...base, state: 'running', reason: undefined, text: `${title} is running.` };
  const since = verdict === undefined ? '' : ` ${times.ago(verdict.at)}`;
  return { ...base, state: 'chosen', reason: undefined, text: `${title} was chosen${since}.` };
}

/** A verdict that says more than the calls before it. */
function isDecisive({ rejection }: Verdict): boolean {
  return rejection !== undefined && rejection.filter !== 'finished' && rejection.filter !== 'delayed';
}

type Answer = Omit<HandlerAnswer, 'handler' | 'kind'>;

function ofCall({ times, journal, live }: Known, title: string, call: Call): Answer {
  const { outcome, retry, duration, reason, error, delay, at } = call;
  const why = call.type === 'change' ? ` for ${causeTitle(reason)}` : '';
  const attempt = retry > 0 ? `, in attempt ${retry + 1}` : '';
  const message = error === undefined ? '' : `: ${error.message}`;
  if (outcome === 'succeeded') {
    const text = `${title} succeeded${why} ${times.ago(at)}${attempt} (${durationText(duration)}).`;
    return { state: 'succeeded', reason: 'succeeded', text };
  }
  if (outcome === 'failed') {
    const text = `${title} failed for good${why} ${times.ago(at)}${attempt}, and will not be retried${message}`;
    return { state: 'failed', reason: 'failed', text };
  }
  const isDue = times.now !== undefined && at + (delay ?? 0) <= times.now;
  const due = journal?.waiting?.why === 'delay' && isDue ? journal.waiting.until : at + (delay ?? 0);
  const when = live?.isPaused ? 'when the object is resumed' : times.ahead(due);
  const text = `${title} is waiting for a retry${why}: attempt ${retry + 1} failed ${times.ago(at)}, the next one is ${when}${message}`;
  return { state: 'retrying', reason: 'retrying', text };
}

function ofRejection(
  { times, marks }: Known,
  cause: Cause | undefined,
  title: string,
  { rejection, at, kind, handler }: Verdict,
  call: Call | undefined,
): Answer {
  const what =
    kind === 'change' && cause !== undefined ? ` for ${causeTitle(isHandled(cause) ? cause.reason : undefined)}` : '';
  if (rejection?.filter === 'finished') {
    const before = call === undefined ? '' : ` (${call.outcome} ${times.ago(call.at)})`;
    const text = `${title} is already done${what}${before}: it will not be called again until something changes.`;
    return { state: 'succeeded', reason: 'succeeded', text };
  }
  if (rejection?.filter === 'delayed') {
    const mark = marks?.progress.find((one) => one.handler === markName(handler));
    const due = mark?.delayed ?? rejection.wanted?.replace(/^"(.*)"$/, '$1');
    const when = due === undefined ? '' : ` ${times.aheadOf(due)}`;
    const message = mark?.message === undefined ? '' : `: ${mark.message}`;
    return {
      state: 'retrying',
      reason: 'retrying',
      text: `${title} is waiting for its next attempt${what}${when}${message}`,
    };
  }
  const reason = rejection === undefined ? '' : rejectionText(rejection);
  const before = call === undefined ? '' : ` Its previous call was ${times.ago(call.at)}.`;
  const verb = kind === 'daemon' || kind === 'timer' ? 'does not run' : `was not called${what}`;
  // A handler for something else is not worth reporting.
  const isExpected = rejection?.filter === 'reason' || rejection?.filter === 'resource';
  const text = `${title} ${verb}: ${reason} (${times.ago(at)}).${before}`;
  return { state: 'rejected', reason: isExpected ? undefined : 'filtered', text };
}

function ofMarks({ times }: Known, progress: NonNullable<Known['marks']>['progress'][number]): HandlerAnswer {
  const { handler, purpose, retries, delayed, success, failure, message } = progress;
  const title = handlerTitle(handler);
  const base = { handler, kind: undefined } as const;
  const why = purpose === undefined ? '' : ` for ${causeTitle(purpose)}`;
  const after = `after ${countText(retries, 'attempt')}`;
  const said = message === undefined ? '' : `: ${message}`;
  if (success)
    return {
      ...base,
      state: 'succeeded',
      reason: 'succeeded',
      text: `${title} succeeded${why}, and is waiting for other handlers.`,
    };
  if (failure)
    return { ...base, state: 'failed', reason: 'failed', text: `${title} failed for good${why} ${after}${said}` };
  const when = delayed === undefined ? 'now' : times.aheadOf(delayed);
  const text = `${title} is waiting for a retry${why}: no success ${after}, the next one is due ${when}${said}`;
  return { ...base, state: 'retrying', reason: 'retrying', text };
}

/** The id as in names of annotations. */
function markName(handler: string): string {
  return handler.replaceAll('/', '.').replace(/[<>]/g, '_');
}

function keyOf(handler: string, kind: string): string {
  return `${kind} ${handler}`;
}
