/**
 * What must hold for any history, whatever the others, the server and the network do:
 *
 * - it becomes quiet, and then the object counts as handled, with no marks of progress left;
 * - no change by others is unseen by a handler that looks at it;
 * - no handler is called without a reason: its own failure, a change by others, a doubt; or, for handlers of changes,
 *   a write of this operator in an earlier cycle;
 * - what a handler has written takes effect; a succeeded handler of a deletion is not called again;
 * - no PATCH is empty, or goes to another object than meant.
 *
 * It returns what is wrong, in words; nothing if all is well.
 */
import { type AnyObject, deepEqual, diff, type Essence, isMapping, resolveField } from '@kopf-ts/core';
import { STAMP } from './model-server.js';
import type { Call, History, Judge, Storages } from './play.js';
import {
  fieldOf,
  type HandlerKind,
  type HandlerSpec,
  handlerId,
  handlerName,
  isDone,
  type Scenario,
  subName,
} from './scenario.js';

export function objections(history: History): string[] {
  return [
    ...objectionsToUnrest(history),
    ...objectionsToPatches(history),
    ...(history.unrest === undefined ? objectionsToTheEnd(history) : []),
    ...(history.unrest === undefined ? unseenChanges(history) : []),
    ...(history.unrest === undefined ? lostWrites(history) : []),
    ...callsWithoutReason(history),
    ...repeatedDeletions(history),
    ...olderStates(history),
  ];
}

// What is looked at.

const CHANGE_KINDS: ReadonlySet<string> = new Set(['create', 'update', 'field', 'phase', 'resume', 'delete']);

function extraFields(scenario: Scenario): string[][] {
  const fields = scenario.handlers.map(({ kind }) => fieldOf(kind)).filter((field) => field !== undefined);
  return [...new Set(fields)].map((field) => field.split('.'));
}

/** The part of the object that handlers are called for: as the storages see it. */
function essenceOf(scenario: Scenario, { diffbase, progress }: Storages, body: AnyObject): Essence {
  return progress.clear(diffbase.build({ body, extraFields: extraFields(scenario) }));
}

function lastHandled({ diffbase, progress }: Storages, body: AnyObject): Essence | undefined {
  const stored = diffbase.fetch({ body }) as Essence | undefined;
  return stored === undefined ? undefined : progress.clear(stored);
}

/** Whether there is nothing to be done for the object: it is used also to know when to stop waiting. */
export const judgeOf =
  (scenario: Scenario, storages: Storages): Judge =>
  (object) => {
    if (object === undefined) return true;
    if (object.metadata?.deletionTimestamp) return false;
    return leftUndone(scenario, storages, object).length === 0;
  };

function leftUndone(scenario: Scenario, storages: Storages, object: AnyObject): string[] {
  if (!isInScope(scenario, storages, object)) return [];
  const problems: string[] = [];
  for (const id of idsOf(scenario)) {
    const record = storages.progress.fetch({ key: id, body: object });
    if (record !== undefined) problems.push(`a mark is left: ${id} ${JSON.stringify(record)}`);
  }
  const stored = lastHandled(storages, object);
  const essence = essenceOf(scenario, storages, object);
  if (stored === undefined) problems.push('the object was never handled');
  else {
    // What the server itself puts in with our last write cannot be known when that is sent.
    const differences = pathsBetween(stored, essence).filter((path) => !isStamp(path));
    if (differences.length > 0) {
      problems.push(`the last handled state is not the newest: ${differences.map(pathText).join(', ')}`);
    }
  }
  return problems;
}

/** Objects with nothing in them that any handler of changes looks at are left alone. */
function isInScope(scenario: Scenario, storages: Storages, object: AnyObject): boolean {
  const handled = lastHandled(storages, object);
  return scenario.handlers.some(({ kind }) => {
    const field = fieldOf(kind)?.split('.');
    if (field === undefined) return CHANGE_KINDS.has(kind);
    return valueAt(object, field) !== null || valueAt(handled ?? {}, field) !== null;
  });
}

function idsOf(scenario: Scenario): string[] {
  return scenario.handlers.flatMap((spec, index) => {
    const id = handlerId(spec, index);
    return [id, ...(spec.subs ?? []).map((_, number) => subName(id, number))];
  });
}

type Path = readonly string[];

function pathText(path: Path): string {
  return path.join('.');
}

function isStamp(path: Path): boolean {
  return path.at(-1) === STAMP || (path.length === 2 && path[0] === 'spec' && path[1] === 'stamp');
}

/** The leaves that differ: lists are leaves, and so is whatever is not a mapping. */
function pathsBetween(a: unknown, b: unknown, at: Path = []): Path[] {
  if (deepEqual(a ?? null, b ?? null)) return [];
  if (!isMapping(a) && !isMapping(b)) return [at];
  const [left, right] = [isMapping(a) ? a : {}, isMapping(b) ? b : {}];
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  if (keys.size === 0) return [];
  return [...keys].flatMap((key) => pathsBetween(left[key], right[key], [...at, key]));
}

function valueAt(object: unknown, path: Path): unknown {
  return resolveField(object as AnyObject, path) ?? null;
}

// What concerns a handler.

interface Handler {
  readonly name: string;
  readonly kind: HandlerKind | 'sub';
  /** The kind of the topmost one. */
  readonly role: HandlerKind;
  readonly subs: readonly string[];
  /** Of the part that it looks at, e.g. `spec.field`; it looks at the whole essence otherwise. */
  readonly field: Path | undefined;
}

function handlersOf(scenario: Scenario): Handler[] {
  return scenario.handlers.flatMap((spec: HandlerSpec, index) => {
    const name = handlerName(spec, index);
    const field = fieldOf(spec.kind)?.split('.');
    const subs = (spec.subs ?? []).map((_, number) => subName(name, number));
    const own: Handler = { name, kind: spec.kind, role: spec.kind, subs, field };
    return [own, ...subs.map((sub): Handler => ({ name: sub, kind: 'sub', role: spec.kind, subs: [], field }))];
  });
}

interface Change {
  readonly seq: number;
  readonly version: number;
  readonly who: 'us' | 'others';
  /** In the essence. */
  readonly paths: readonly Path[];
  readonly essence: Essence | undefined;
}

/** All changes of the essence of one object, in order. */
function changesOf({ writes, scenario, storages }: History, uid: string): Change[] {
  const changes: Change[] = [];
  for (const { before, after, who, version, seq, uid: of } of writes) {
    if (of !== uid || after === undefined) continue;
    const [old, now] = [before, after].map((each) => each && essenceOf(scenario, storages, each));
    const paths = pathsBetween(before?.metadata?.uid === uid ? old : undefined, now);
    // Also those that remove our marks are in the list: they are told apart by having no paths.
    changes.push({ seq, version, who, paths, essence: now });
  }
  return changes;
}

function looksAt({ field }: Handler, path: Path): boolean {
  if (field === undefined) return true;
  return field.every((key, index) => path[index] === undefined || path[index] === key);
}

function uidsOf({ writes }: History): string[] {
  return [...new Set(writes.map(({ uid }) => uid))];
}

// The properties.

function objectionsToUnrest({ unrest }: History): string[] {
  return unrest === undefined ? [] : [`It does not become quiet: ${unrest}.`];
}

function objectionsToPatches({ patches }: History): string[] {
  return patches.flatMap(({ body, target, uid, isApplied, seq, path }) => {
    const problems: string[] = [];
    const text = JSON.stringify(body);
    const { metadata, ...rest } = Array.isArray(body) ? { metadata: undefined } : body;
    const { uid: _, resourceVersion: __, ...restOfMetadata } = metadata ?? {};
    const isEmpty = Array.isArray(body)
      ? body.every(({ op }: { op: string }) => op === 'test')
      : Object.keys(rest).length === 0 && Object.keys(restOfMetadata).length === 0;
    if (isEmpty) problems.push(`An empty PATCH [${seq}]: ${text}`);
    if (uid === undefined && !isNamed(path)) problems.push(`A PATCH [${seq}] without the uid: ${path} ${text}`);
    if (isApplied && uid !== undefined && target !== undefined && target.metadata?.uid !== uid) {
      problems.push(`A PATCH [${seq}] for ${uid} has changed ${target.metadata?.uid}: ${path} ${text}`);
    }
    return problems;
  });
}

/** By a verb, for an object that has no owner any more: whatever has that name is meant. */
function isNamed(path: string): boolean {
  return path.includes('fieldManager=');
}

function objectionsToTheEnd({ scenario, storages, final }: History): string[] {
  if (final === undefined) return [];
  if (final.metadata?.deletionTimestamp) return ['In the end, the deleted object is still there.'];
  return leftUndone(scenario, storages, final).map((problem) => `In the end, ${problem}.`);
}

/** Who has last put this value there, if anybody has. */
function lastAuthor(changes: readonly Change[], path: Path, value: unknown): Change | undefined {
  return changes.findLast(
    ({ paths, essence }) => paths.some((each) => isSame(each, path)) && deepEqual(valueAt(essence ?? {}, path), value),
  );
}

function isSame(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((key, index) => key === b[index]);
}

function unseenChanges(history: History): string[] {
  const { final, scenario, storages, calls, writes } = history;
  const problems: string[] = [];
  for (const uid of uidsOf(history)) {
    const changes = changesOf(history, uid);
    const own = writes.filter((write) => write.uid === uid);
    const wasStripped = history.strippings.length > 0;
    // The first state that was remembered: all that it has in it is the business of the creation.
    const firstHandled = own.find(({ after }) => after !== undefined && lastHandled(storages, after) !== undefined);
    const baseline = firstHandled?.after && lastHandled(storages, firstHandled.after);
    const isLeft = final?.metadata?.uid === uid && !final.metadata.deletionTimestamp;
    const wasDeleting = firstHandled?.after?.metadata?.deletionTimestamp !== undefined;

    for (const handler of handlersOf(scenario)) {
      const ofHandler = calls.filter((call) => call.handler === handler.name && call.uid === uid);
      // Of a call that ended with its process, or was not recorded before that, nobody can know that it ever was.
      const isRecorded = ({ outcome, endSeq }: Call): boolean => {
        const kill = history.kills.find(({ seq }) => seq > endSeq);
        const isWritten = (until: number): boolean =>
          history.writes.some(({ who, seq, uid: of }) => who === 'us' && of === uid && endSeq < seq && seq < until);
        return outcome !== 'running' && (kill === undefined || isWritten(kill.seq));
      };
      const ended = ofHandler.filter(isRecorded);
      const last = ended.findLast(({ outcome }) => outcome === 'succeeded') ?? ended.at(-1);
      let target: unknown;
      let until = Number.POSITIVE_INFINITY;
      let seen: unknown = last && essenceOf(scenario, storages, last.body);
      if (handler.role === 'create') {
        if (baseline === undefined || wasDeleting || wasStripped) continue;
        target = baseline;
        until = firstHandled?.seq ?? until;
        // Before that: a repeated creation has nothing to do with it.
        const early = ofHandler.findLast(({ outcome, seq }) => outcome === 'succeeded' && seq < until);
        seen = early && essenceOf(scenario, storages, early.body);
      } else if (handler.role === 'update') {
        if (!isLeft || baseline === undefined || wasStripped) continue;
        target = essenceOf(scenario, storages, final);
        seen ??= baseline;
      } else if (handler.role === 'field' || handler.role === 'phase') {
        if (!isLeft || wasStripped) continue;
        target = essenceOf(scenario, storages, final);
        seen ??= {};
      } else continue;
      const known = changes.filter(({ seq }) => seq <= until);
      // Put back to what was handled last before a failed call was tried again: then there is nothing to handle.
      const remembered = (body: AnyObject): unknown => lastHandled(storages, body) ?? {};
      const isPutBack = (path: Path): boolean =>
        last?.outcome === 'failed' &&
        [
          last.body,
          ...own.flatMap(({ seq, after }) => (after !== undefined && seq > last.endSeq ? [after] : [])),
        ].every((body) => deepEqual(valueAt(remembered(body), path), valueAt(target, path)));
      for (const path of pathsBetween(seen, target)) {
        if (handler.role !== 'create' && isPutBack(path)) continue;
        if (!looksAt(handler, path) || lastAuthor(known, path, valueAt(target, path))?.who !== 'others') continue;
        const [was, is] = [seen, target].map((each) => JSON.stringify(valueAt(each, path)));
        problems.push(`${handler.name} has never seen ${pathText(path)} = ${is} of ${uid}; the last it saw is ${was}.`);
      }
    }
  }
  return problems;
}

/** What a succeeded handler has asked for was so at some time after that, unless the process or the object was gone. */
function lostWrites(history: History): string[] {
  const { calls, writes, kills, rewritten } = history;
  return calls.flatMap((call) => {
    const { outcome, deeds, handler, uid, endSeq, of } = call;
    if (outcome !== 'succeeded' || of === 'timer' || of === 'delete' || of === 'resume') return [];
    const own = writes.filter((write) => write.uid === uid);
    const isReplaced = writes.some((write) => write.uid !== uid && write.seq > (own[0]?.seq ?? 0));
    const isGone = isReplaced || own.some(({ after }) => after === undefined || after.metadata?.deletionTimestamp);
    const isKilled = kills.some(({ seq }) => seq > endSeq);
    if (isGone || isKilled) return [];
    // By verbs, it is written at any time of the call.
    const since = isByVerbs(history.scenario, call) ? call.seq : endSeq;
    const states = [own.findLast(({ seq }) => seq < since), ...own.filter(({ seq }) => seq > since)];
    return deeds
      .filter((deed) => !states.some((state) => state?.after && isDone(deed, handler, state.after, rewritten)))
      .map((deed) => `What ${handler} wrote [${endSeq}] is lost: ${deed}.`);
  });
}

function isByVerbs({ handlers }: Scenario, { handler, parent }: Call): boolean {
  const index = handlers.findIndex((spec, number) => handlerName(spec, number) === (parent ?? handler));
  const spec = handlers[index];
  if (parent === undefined) return spec?.byVerbs ?? false;
  return (spec?.subs ?? []).some((sub, number) => sub.byVerbs && subName(parent, number) === handler);
}

function callsWithoutReason(history: History): string[] {
  const { scenario, calls, patches, kills, strippings } = history;
  const problems: string[] = [];
  for (const uid of uidsOf(history)) {
    const changes = changesOf(history, uid);
    const ends = endsOfCycles(history, uid);
    const refusals = patches.filter(({ isRefused }) => isRefused).map(({ seq }) => seq);
    const doubts = [
      ...patches.filter(({ answer }) => typeof answer === 'string' || answer >= 500).map(({ seq }) => seq),
      ...unguardedWrites(patches).map(({ seq }) => seq),
      ...patches.filter(({ uid: meant, path }) => meant === undefined && isNamed(path)).map(({ seq }) => seq),
      ...kills.map(({ seq }) => seq),
      ...strippings.map(({ seq }) => seq),
    ];
    for (const handler of handlersOf(scenario)) {
      if (handler.kind === 'timer' || handler.kind === 'daemon' || handler.role === 'delete') continue;
      const ofHandler = calls.filter((call) => call.handler === handler.name && call.uid === uid);
      let charged = 0;
      ofHandler.forEach((call, index) => {
        const previous = ofHandler[index - 1];
        if (previous === undefined) return;
        const between = (seq: number): boolean => previous.seq < seq && seq < call.seq;
        if (previous.outcome === 'failed') return;
        // Handlers of fields are there for deletions, too: it is another cycle.
        if (call.reason === 'delete' && previous.reason !== 'delete') return;
        if (handler.subs.length > 0 && !subsWereDone(handler, previous, call, history, changes)) return;
        if (refusals.some(between)) return;
        const isNewCycle = ends.some(between) && handler.role !== 'create' && handler.role !== 'resume';
        // What is created is created once: changes after that are updates.
        const isTooLate = handler.role === 'create' && ends.some((seq) => seq < call.seq);
        const reason = changes.find(
          ({ who, version, paths }) =>
            !isTooLate &&
            version > previous.version &&
            version <= call.version &&
            (who === 'others' || isNewCycle) &&
            paths.some((path) => looksAt(handler, path) && (who === 'others' || !isStamp(path))),
        );
        if (reason !== undefined) return;
        // It is there for the sake of a sub-handler: then it is that one who needs a reason.
        const until = ofHandler[index + 1]?.seq ?? Number.POSITIVE_INFINITY;
        const isForSub = calls.some(
          ({ handler: name, uid: of, seq }) =>
            handler.subs.includes(name) && of === uid && call.seq < seq && seq < until,
        );
        if (isForSub) return;
        charged++;
        if (charged <= doubts.filter((seq) => seq < call.seq).length) return;
        problems.push(
          `${handler.name} was called for ${uid} at version ${call.version} [${call.seq}] without a reason; ` +
            `before that, at ${previous.version} [${previous.seq}].`,
        );
      });
    }
  }
  return problems;
}

/**
 * Writes that went for the uid alone: over changes that could not be known; or after three conflicts, as they may. Who
 * writes like that without conflicts has no excuse.
 */
function unguardedWrites(patches: History['patches']): History['patches'] {
  const conflicts = patches.filter(({ answer }) => answer === 409 || answer === 422).length;
  const unguarded = patches.filter(({ body, isApplied }) => isApplied && !('resourceVersion' in (body.metadata ?? {})));
  const merges = unguarded.filter(({ body }) => !Array.isArray(body));
  const excused = new Set([...merges.slice(0, Math.floor(conflicts / 3)), ...patches.filter(({ isBlind }) => isBlind)]);
  return [...excused];
}

/** A handler with sub-handlers is called again until they all are done. */
function subsWereDone(
  handler: Handler,
  previous: Call,
  call: Call,
  { calls }: History,
  changes: readonly Change[],
): boolean {
  const series = calls.findLast(
    ({ handler: name, uid, retry, seq }) =>
      name === handler.name && uid === call.uid && retry === 0 && seq <= previous.seq,
  );
  const since = series?.seq ?? 0;
  return handler.subs.every((sub) => {
    const ofSub = calls.filter((each) => each.handler === sub && each.uid === call.uid);
    // It may have succeeded, and then failed on what others have changed; or it is yet to see that.
    const last = ofSub.findLast(({ seq, endSeq }) => seq > since && endSeq < call.seq);
    const isNews = ({ who, version, paths }: Change): boolean =>
      who === 'others' &&
      version > (last?.version ?? 0) &&
      version <= call.version &&
      paths.some((path) => looksAt(handler, path));
    return last?.outcome === 'succeeded' && !changes.some(isNews);
  });
}

/** A cycle ends when the last handled state is stored; or when all is forgotten, as the object is what it was before. */
function endsOfCycles({ writes, storages, scenario }: History, uid: string): number[] {
  const hasMarks = (body: AnyObject): boolean =>
    idsOf(scenario).some((id) => storages.progress.fetch({ key: id, body }) !== undefined);
  return writes
    .filter((write) => {
      if (write.uid !== uid || write.who !== 'us' || write.after === undefined) return false;
      const stored = lastHandled(storages, write.after);
      const before = write.before === undefined ? undefined : lastHandled(storages, write.before);
      const isForgotten = write.before !== undefined && hasMarks(write.before) && !hasMarks(write.after);
      return stored !== undefined && (isForgotten || diff(before ?? null, stored).length > 0);
    })
    .map(({ seq }) => seq);
}

function repeatedDeletions({ calls, scenario, writes, patches }: History): string[] {
  const problems: string[] = [];
  for (const [index, spec] of scenario.handlers.entries()) {
    if (spec.kind !== 'delete') continue;
    const name = handlerName(spec, index);
    const successes = new Map<string, number>();
    const refusals = patches.filter((patch) => patch.isRefused).map(({ seq }) => seq);
    let latest = 0;
    for (const call of calls) {
      if (call.handler !== name) continue;
      const key = `${call.uid} in process ${call.process}`;
      // What is refused has not succeeded.
      if (refusals.some((seq) => latest < seq && seq < call.seq)) successes.delete(key);
      latest = call.seq;
      const before = successes.get(key) ?? 0;
      // With sub-handlers, it is called until they are done.
      if (before > 0 && (spec.subs ?? []).length === 0) {
        problems.push(`${name} was called again [${call.seq}] after its success, for ${key}.`);
      }
      if (call.outcome === 'succeeded') successes.set(key, before + 1);
    }
    // Blocked by us, and gone nevertheless: then somebody must have been called.
    const gone = writes.filter(({ after, who }) => after === undefined && who === 'us');
    for (const { uid } of gone) {
      const isCalled = calls.some((call) => call.handler === name && call.uid === uid && call.outcome !== 'failed');
      if (!isCalled) problems.push(`${name} was never called for ${uid}, though it is gone by our own will.`);
    }
  }
  return problems;
}

/** Within a process, handlers of changes never go back to an older state than they have already been given. */
function olderStates({ calls }: History): string[] {
  const newest = new Map<string, number>();
  return calls.flatMap(({ process, uid, version, handler, seq, of }) => {
    if (of === 'timer' || of === 'daemon') return [];
    const key = `${process} ${uid}`;
    const known = newest.get(key) ?? 0;
    newest.set(key, Math.max(known, version));
    return version < known ? [`${handler} was given version ${version} [${seq}], after ${known} was known.`] : [];
  });
}
