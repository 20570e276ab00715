/** Reasons in the journal why no handler of an object is called. */
import type { Seconds } from '@kopf-ts/core';
import type { JournalEntry, ObjectJournal } from '../../journal/entries.js';
import type { Known, WhyFinding } from '../explain.js';
import { type HandlerAnswer, isHandled } from '../handlers.js';
import { causeTitle, countText, durationText, listText } from '../words.js';

type EntryOf<K extends JournalEntry['kind']> = Extract<JournalEntry, { kind: K }>;

export function aboutObject(known: Known, handlers: readonly HandlerAnswer[]): readonly WhyFinding[] {
  const { journal, operator, marks } = known;
  if (operator === undefined) return [];
  if (journal === undefined) {
    if (marks === null) return [];
    const selected = aboutSelectors(known);
    if (selected.length > 0) return selected;
    const text = 'The operator has not seen the object, or the journal has dropped it after a long quiet time.';
    return [{ reason: 'unseen', text }];
  }
  const gone = aboutEnd(known, journal);
  if (gone !== undefined) return [gone];
  return [
    aboutPause(known, journal),
    aboutThrottling(known, journal),
    aboutBreaker(known, journal),
    aboutRetriedWrite(known, journal),
    ...aboutPatches(known, journal),
    aboutTurn(known),
    aboutSuperseded(known, journal),
    aboutCause(known, journal),
    aboutNobody(journal, handlers),
    aboutEverythingDone(known, journal, handlers),
  ].filter((one) => one !== undefined);
}

/** The operator cannot see objects that it does not request from the server. */
function aboutSelectors({ operator, object, marks }: Known): readonly WhyFinding[] {
  const streams = (operator?.streams ?? []).filter(
    ({ resource, namespace }) => resource === object.resource && (namespace === null || namespace === object.namespace),
  );
  const selectors = streams.map(({ labelSelector, fieldSelector }) =>
    [
      ...(labelSelector === undefined ? [] : [`the labels ${labelSelector}`]),
      ...(fieldSelector === undefined ? [] : [`the fields ${fieldSelector}`]),
    ].join(' and '),
  );
  if (selectors.length === 0 || selectors.includes('')) return [];
  const labels = Object.entries(marks?.labels ?? {}).map(([key, value]) => `${key}=${value}`);
  const own =
    marks === undefined ? '' : ` It has ${labels.length === 0 ? 'no labels' : `the labels ${listText(labels, 10)}`}.`;
  const wanted = [...new Set(selectors)].join(', or with ');
  const text = `The operator watches only objects with ${wanted}, because all its handlers of this kind require that: it has not seen this one.${own}`;
  return [{ reason: 'filtered', text }];
}

function last<K extends JournalEntry['kind']>({ entries }: ObjectJournal, kind: K): EntryOf<K> | undefined {
  return entries.findLast((entry): entry is EntryOf<K> => entry.kind === kind);
}

function aboutEnd({ times }: Known, journal: ObjectJournal): WhyFinding | undefined {
  const gone = last(journal, 'gone');
  return gone && { reason: 'gone', text: `The object was deleted ${times.ago(gone.at)}: there is nothing left to do.` };
}

function aboutPause({ live, times }: Known, journal: ObjectJournal): WhyFinding | undefined {
  const paused = last(journal, 'paused');
  const isPaused = live === undefined ? paused?.isPaused === true : live.isPaused;
  if (!isPaused) return undefined;
  const by = paused?.by === 'annotation' ? ' by an annotation' : ' by hand';
  const until = paused?.until === undefined ? 'until it is resumed' : `and resumes ${times.ahead(paused.until)}`;
  return { reason: 'paused', text: `The object is paused${by}, ${until}.` };
}

function aboutThrottling({ times }: Known, journal: ObjectJournal): WhyFinding | undefined {
  if (journal.waiting?.why !== 'throttling') return undefined;
  const why = last(journal, 'failed')?.error.message;
  const text = `The object is throttled because its handling failed; retrying ${times.ahead(journal.waiting.until)}${why === undefined ? '' : `: ${why}`}`;
  return { reason: 'throttled', text };
}

function aboutBreaker({ times }: Known, journal: ObjectJournal): WhyFinding | undefined {
  const tripped = last(journal, 'breaker');
  if (tripped === undefined || times.now === undefined || tripped.at + tripped.pause <= times.now) return undefined;
  const { fields, handlers, at, pause } = tripped;
  const text =
    `The breaker tripped: ${listText(handlers.map((id) => `'${id}'`))} change the same fields again and again ` +
    `(${listText(fields)}). Handlers are slowed down; the next call is ${times.ahead(at + pause)}.`;
  return { reason: 'breaker', text };
}

function aboutPatches({ times }: Known, journal: ObjectJournal): readonly WhyFinding[] {
  const findings: WhyFinding[] = [];
  const tooLarge = journal.entries.findLast(
    (entry) =>
      (entry.kind === 'dropped' && /too large|does not fit/.test(entry.why)) ||
      (entry.kind === 'patch' && entry.error?.isTooLarge),
  );
  if (tooLarge !== undefined) {
    const what = tooLarge.kind === 'dropped' ? ` Not written: ${tooLarge.what}.` : '';
    const text = `The object is too large to be changed (${times.ago(tooLarge.at)}).${what}`;
    findings.push({ reason: 'too-large', text });
  }
  const patch = last(journal, 'patch');
  if (patch?.error === undefined || patch.error.isTooLarge) return findings;
  const { error, paths, at } = patch;
  if (isForbidden(error)) {
    const text = `The operator has no permission to change the object (${times.ago(at)}): ${error.message}`;
    findings.push({ reason: 'forbidden', text });
  }
  // The paths of a refused request are not always known, but without a finalizer, deletions could be missed.
  const isFirst = !journal.entries.some((entry) => entry.kind === 'call' && entry.type === 'change');
  if (
    paths.some((path) => path.startsWith('metadata.finalizers')) ||
    (isFirst && journal.entries.some((one) => one.kind === 'cause'))
  ) {
    const text =
      "The operator's finalizer is missing and could not be added: handlers wait for it, so that no deletion is missed.";
    findings.push({ reason: 'finalizer', text });
  }
  if (!isForbidden(error)) {
    findings.push({
      reason: 'patch-failed',
      text: `The last patch of the object failed ${times.ago(at)}: ${error.message}`,
    });
  }
  return findings;
}

/** A refused request is retried for about a minute before it is reported as failed. */
function aboutRetriedWrite({ times }: Known, { retriedWrite }: ObjectJournal): WhyFinding | undefined {
  if (retriedWrite === undefined || times.now === undefined) return undefined;
  const { at, until, error } = retriedWrite;
  // Nobody reports that requests made by handlers have succeeded.
  if (times.now > until + ONE_TRY) return undefined;
  const when = `(${times.ago(at)}; next try ${times.ahead(until)})`;
  if (isForbidden(error)) {
    return {
      reason: 'forbidden',
      text: `The operator has no permission to change the object ${when}: ${error.message}`,
    };
  }
  return { reason: 'patch-failed', text: `The operator could not change the object ${when}: ${error.message}` };
}

/** Most requests are answered earlier. */
const ONE_TRY: Seconds = 10;

function isForbidden({ status }: { readonly status?: number | undefined }): boolean {
  return status === 403 || status === 401;
}

function aboutTurn({ live }: Known): WhyFinding | undefined {
  if (live?.phase === 'queued')
    return { reason: 'queued', text: 'The object is waiting for its turn: many others are being handled.' };
  if (live?.phase !== 'running' || live.calls.length > 0) return undefined;
  const text = 'The object is being handled right now, but no handler is being called: usually, a patch is on its way.';
  return { reason: 'running', text };
}

function aboutSuperseded({ times }: Known, journal: ObjectJournal): WhyFinding | undefined {
  const superseded = last(journal, 'superseded');
  if (superseded === undefined) return undefined;
  const { reason, by, unfinished, at } = superseded;
  // Later causes are reported on their own.
  const cause = last(journal, 'cause');
  if (cause !== undefined && cause.reason !== by) return undefined;
  const left = unfinished === 0 ? '' : `; ${countText(unfinished, 'handler')} had not finished`;
  const text = `The handling of ${causeTitle(reason)} was superseded by ${causeTitle(by)} ${times.ago(at)}${left}.`;
  return { reason: 'superseded', text };
}

function aboutCause({ times }: Known, journal: ObjectJournal): WhyFinding | undefined {
  const { lastEvent } = journal;
  const cause = last(journal, 'cause');
  const own = journal.entries.findLast(
    (entry): entry is EntryOf<'patch'> =>
      entry.kind === 'patch' && entry.version !== undefined && entry.version === lastEvent?.version,
  );
  if (cause?.reason === 'free') {
    const text =
      "The object is being deleted without the operator's finalizer: deletion handlers are not called, or are already done.";
    return { reason: 'finalizer', text };
  }
  if (own !== undefined) {
    const text = `The latest change of the object, ${times.ago(own.at)}, was made by the operator itself (${ownPaths(journal)}): handlers are not called for its own changes.`;
    return { reason: 'own-change', text };
  }
  if (cause?.reason !== 'noop') return undefined;
  const text = `The latest change of the object, ${times.ago(cause.lastAt)}, did not affect its essence, i.e. everything but the status and system fields. Change handlers are not called for it.`;
  return { reason: 'unchanged', text };
}

/** The paths of the operator's latest changes in a row. */
function ownPaths({ entries }: ObjectJournal): string {
  const own = new Set(entries.flatMap((entry) => (entry.kind === 'patch' ? [entry.version] : [])));
  const since = entries.findLastIndex(
    (entry) => entry.kind === 'cause' && entry.repeats === 0 && !own.has(entry.version),
  );
  const all = entries
    .slice(since + 1)
    .flatMap((entry) => (entry.kind === 'patch' && entry.error === undefined ? entry.paths : []));
  const paths = [...new Set(all)];
  const wanted = paths.filter((path) => !isMark(path));
  if (wanted.length === 0) return 'only its own marks';
  return wanted.length === paths.length ? listText(wanted) : `${listText(wanted)}, and its own marks`;
}

/** Paths that only operators write: progress, the last handled state, finalizers. */
function isMark(path: string): boolean {
  return path.startsWith('metadata.finalizers') || path.startsWith('status.kopf') || OWN_ANNOTATION.test(path);
}

const OWN_ANNOTATION =
  /^metadata\.annotations\["(kopf\.zalando\.org|[^"]*\.kopf\.zalando\.org|[^"]*\/(last-handled-configuration|kopf-managed|touch-dummy))/;

/** No handler was chosen for the latest change. */
function aboutNobody(journal: ObjectJournal, handlers: readonly HandlerAnswer[]): WhyFinding | undefined {
  const cause = last(journal, 'cause');
  if (cause === undefined || !isHandled(cause)) return undefined;
  const changing = handlers.filter(({ kind }) => kind === 'change');
  const isNobody = changing.length > 0 && changing.every(({ state }) => state === 'rejected');
  if (!isNobody || changing.some(({ reason }) => reason !== undefined)) return undefined;
  return { reason: 'filtered', text: `No handler is for ${causeTitle(cause.reason)}.` };
}

function aboutEverythingDone(
  { live }: Known,
  journal: ObjectJournal,
  handlers: readonly HandlerAnswer[],
): WhyFinding | undefined {
  const isLeft = handlers.some(({ state }) => state === 'retrying' || state === 'running' || state === 'failed');
  if (isLeft || journal.waiting !== undefined || (live !== undefined && live.phase !== 'idle')) return undefined;
  const calls = handlers.filter(({ state }) => state === 'succeeded').length;
  if (calls === 0) return undefined;
  const longest = journal.entries.reduce(
    (most, entry) => (entry.kind === 'call' ? Math.max(most, entry.duration) : most),
    0,
  );
  const took = longest > 1 ? ` The longest call took ${durationText(longest)}.` : '';
  return { reason: 'done', text: `There is nothing left to do: all handlers have succeeded.${took}` };
}
