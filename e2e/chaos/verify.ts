/**
 * The judge of a run: from the history alone, it tells what was lost, what is stuck, what is left behind, and which
 * calls nobody can explain. Nothing here knows how an operator works, only what it promises.
 *
 * A handler may be called again for what it has seen already if there was a doubt in between: a write of that object
 * whose answer never came, or the end of the process before the success was stored. Each doubt explains one call.
 */
import type { Blow, Call, Edit, History, LineWrite, Promises, Remnant } from './history.js';

export interface Finding {
  readonly what:
    | 'lost'
    | 'stuck'
    | 'leaked finalizer'
    | 'missing finalizer'
    | 'unexplained duplicate'
    | 'repeated deletion'
    | 'went back'
    | 'two at once'
    | 'accident';
  /** Of the object; empty if it is about the operator as a whole. */
  readonly uid: string;
  readonly key: string;
  readonly text: string;
  /** Around when; for the history to be shown. */
  readonly at: number;
}

interface Duplicate {
  readonly first: Call;
  readonly second: Call;
  /** What explains it. */
  readonly doubt: string | undefined;
}

export interface Judgement {
  readonly findings: readonly Finding[];
  readonly duplicates: readonly Duplicate[];
}

/**
 * A request that is under way when the process is stopped or all connections break may fail without a trace on the
 * line: it is seen only when it is repeated, so much later at most.
 */
const UNTIL_REPEATED = 2_000;

export function judge(history: History, promises: Readonly<Record<string, Promises>>): Judgement {
  const byObject = groupBy(history.calls, ({ uid }) => uid);
  const writesOf = groupBy(history.writes, ({ key }) => key);
  const duplicates: Duplicate[] = [];
  const findings: Finding[] = history.accidents.map((text) => ({
    what: 'accident',
    uid: '',
    key: '',
    text,
    at: history.calmSince,
  }));
  for (const calls of byObject.values()) {
    const key = calls[0]?.key ?? '';
    const writes = writesOf.get(key) ?? [];
    for (const ofHandler of groupBy(calls, ({ handler }) => handler).values()) {
      findings.push(...overlapsIn(ofHandler), ...stepsBackIn(ofHandler));
      const { repeated, others } = apartRepeatedDeletions(ofHandler);
      findings.push(...repeated);
      duplicates.push(...duplicatesIn(others, writes, history.blows));
    }
  }
  findings.push(
    ...duplicates.filter(({ doubt }) => doubt === undefined).map(unexplained),
    ...lostEdits(history, promises, byObject),
    ...lostDeletions(history, promises, byObject),
    ...history.settled.flatMap((object) => stuck(object, promises, byObject.get(object.uid) ?? [], history)),
    ...history.left.map((object) => leftBehind(object, history)),
  );
  return { findings, duplicates };
}

// Calls of one handler for one object.

function overlapsIn(calls: readonly Call[]): Finding[] {
  const found: Finding[] = [];
  for (const ofRun of groupBy(calls, ({ run }) => String(run)).values()) {
    for (const [index, call] of ofRun.entries()) {
      const before = ofRun[index - 1];
      if (before === undefined || (before.ended ?? Number.POSITIVE_INFINITY) <= call.began) continue;
      const ended = before.ended === undefined ? 'has not ended' : `ended ${before.ended - call.began} ms later`;
      found.push(finding('two at once', call, `'${call.handler}' began while the previous call ${ended}`));
    }
  }
  return found;
}

function stepsBackIn(calls: readonly Call[]): Finding[] {
  const found: Finding[] = [];
  let newest = Number.NEGATIVE_INFINITY;
  for (const call of calls) {
    if (call.values.edit < newest) {
      found.push(
        finding('went back', call, `'${call.handler}' has seen edit ${call.values.edit} after edit ${newest}`),
      );
    }
    newest = Math.max(newest, call.values.edit);
  }
  return found;
}

/** In one process, a deletion is never done twice: no doubt explains that, as the process knows what it has done. */
function apartRepeatedDeletions(calls: readonly Call[]): { repeated: Finding[]; others: readonly Call[] } {
  const done = new Map<number, Call>();
  const repeated: Finding[] = [];
  const others: Call[] = [];
  for (const call of calls) {
    const before = done.get(call.run);
    if (call.kind === 'deletion' && before !== undefined) {
      const ago = call.began - (before.ended ?? before.began);
      repeated.push(
        finding('repeated deletion', call, `'${call.handler}' has succeeded in the same process ${ago} ms before`),
      );
      continue;
    }
    if (call.outcome === 'succeeded') done.set(call.run, call);
    others.push(call);
  }
  return { repeated, others };
}

function duplicatesIn(calls: readonly Call[], writes: readonly LineWrite[], blows: readonly Blow[]): Duplicate[] {
  const found: Duplicate[] = [];
  const used = new Set<unknown>();
  const latest = new Map<string, Call>();
  for (const second of calls) {
    if (second.kind === 'timer' || second.kind === 'daemon') continue;
    const first = latest.get(second.seen);
    latest.set(second.seen, second);
    if (first === undefined || isRetry(first, second)) continue;
    const doubt = doubtsBetween(first, second, writes, blows).find(({ source }) => !used.has(source));
    if (doubt !== undefined) used.add(doubt.source);
    found.push({ first, second, doubt: doubt?.text });
  }
  return found;
}

/** Parents are called again and again until their parts are done: the count tells. */
function isRetry(first: Call, second: Call): boolean {
  const isToBeContinued = first.outcome === 'failed' || first.kind === 'parent';
  return isToBeContinued && second.retry > first.retry;
}

interface Doubt {
  readonly source: unknown;
  readonly text: string;
}

function doubtsBetween(
  first: Call,
  second: Call,
  writes: readonly LineWrite[],
  blows: readonly Blow[],
): readonly Doubt[] {
  const overlaps = (from: number, to: number): boolean => from <= second.began && to >= first.began;
  const ofWrites = writes
    .filter((write) => isDoubtful(write) && overlaps(write.from, write.to))
    .map((write) => ({ source: write, text: write.fate === 'delivered' ? `HTTP ${write.status}` : write.fate }));
  const ofBlows = blows
    .filter((blow) =>
      blow.kind === 'kill'
        ? first.run !== second.run && overlaps(blow.from, blow.to) && !isStoredBefore(blow.from, first, writes)
        : writes.some(({ from, to }) => overlaps(from, to) && from <= blow.to + UNTIL_REPEATED && to >= blow.from),
    )
    .map((blow) => ({ source: blow, text: blow.kind }));
  return [...ofWrites, ...ofBlows];
}

/** The operator cannot know what became of it. Being told to come later (429) is no such case, nor is a conflict. */
function isDoubtful({ fate, status }: LineWrite): boolean {
  return fate !== 'delivered' || status >= 500;
}

/**
 * What our own write has made of the object is known when it is answered, and is stored with the next write, or a second
 * later: until then, a process that is killed leaves a doubt behind.
 */
const UNTIL_CORRECTED = 1500;

/** A process that is killed later has no reason to repeat what is stored already. */
function isStoredBefore(moment: number, call: Call, writes: readonly LineWrite[]): boolean {
  const { ended = Number.POSITIVE_INFINITY } = call;
  // Of a parent, it is not known when its parts are done.
  if (call.outcome !== 'succeeded' || call.kind === 'resumption' || call.kind === 'parent') return false;
  const later = writes.filter(({ from, to, isApplied }) => isApplied && from >= ended && to <= moment);
  const isOver = later.some(({ marks }) => marks.includes('last-handled-configuration'));
  if (!isOver && later.some(({ to }) => to > moment - UNTIL_CORRECTED)) return false;
  return later.some(({ marks }) => marks.some((mark) => isMarkOf(mark, call.handler)));
}

/** Ids of handlers have their fields in the names of their marks: `resize.spec.size`, `reassemble.spec.round.a`. */
function isMarkOf(mark: string, handler: string): boolean {
  if (mark === 'last-handled-configuration') return true;
  const [parent = '', part] = handler.split('/');
  const segments = mark.split('.');
  return segments[0] === parent && (part === undefined || segments.at(-1) === part);
}

function unexplained({ first, second }: Duplicate): Finding {
  const how = first.outcome ?? 'was not ended';
  const where = first.run === second.run ? 'the same process' : `process ${first.run}`;
  const text =
    `'${second.handler}' was called for ${second.seen} (retry ${second.retry}), ` +
    `${second.began - first.began} ms after a call in ${where} that ${how} (retry ${first.retry})`;
  return finding('unexplained duplicate', second, text);
}

// What has to be seen by somebody.

function lostEdits(
  { edits: allEdits, settled, settledAt }: History,
  promises: Readonly<Record<string, Promises>>,
  byObject: ReadonlyMap<string, readonly Call[]>,
): Finding[] {
  const edits = allEdits.filter(({ at }) => at <= settledAt);
  const deleted = new Set(edits.filter(({ what }) => what === 'delete').map(({ uid }) => uid));
  const newest = new Map(edits.map((edit) => [edit.uid, edit]));
  const found: Finding[] = [];
  for (const [uid, edit] of newest) {
    const lose = (text: string, at = edit.at) => found.push({ what: 'lost', uid, key: edit.key, text, at });
    if (deleted.has(uid)) continue;
    if (!settled.some((object) => object.uid === uid)) lose('the object itself is not there any more');
    const { chains = [], effects } = promises[kindOf(edit)] ?? {};
    for (const { handlers, value } of chains) {
      const done = (byObject.get(uid) ?? []).filter(
        ({ handler, outcome, began }) => handlers.includes(handler) && outcome === 'succeeded' && began <= settledAt,
      );
      const last = done.at(-1);
      const wanted = `${value} ${edit.values[value]}`;
      const since = edits.find((one) => one.uid === uid && one.values[value] === edit.values[value])?.at;
      if (last === undefined) lose(`no success of '${handlers.join("' or '")}', which should see ${wanted}`, since);
      else if (last.values[value] !== edit.values[value]) {
        lose(
          `'${last.handler}' has seen ${value} ${last.values[value]} last, and nobody of its chain ${wanted}`,
          since,
        );
      }
    }
    const object = settled.find((one) => one.uid === uid);
    if (object === undefined || effects === undefined) continue;
    for (const [name, expected] of Object.entries(effects(edit.values))) {
      if (object.effects[name] === expected) continue;
      lose(
        `${name} is ${JSON.stringify(object.effects[name])} in the object, and should be ${JSON.stringify(expected)}`,
      );
    }
  }
  return found;
}

function lostDeletions(
  { edits }: History,
  promises: Readonly<Record<string, Promises>>,
  byObject: ReadonlyMap<string, readonly Call[]>,
): Finding[] {
  return edits
    .filter(({ what, isBlocked }) => what === 'delete' && isBlocked)
    .flatMap(({ uid, key, at }) =>
      (promises[key.split('/')[0] ?? '']?.deletions ?? [])
        .filter((id) => !byObject.get(uid)?.some(({ handler, outcome }) => handler === id && outcome === 'succeeded'))
        .map((id) => ({
          what: 'lost' as const,
          uid,
          key,
          at,
          text: `no success of '${id}', though the object was deleted`,
        })),
    );
}

// What is in the cluster.

function stuck(
  object: Remnant,
  promises: Readonly<Record<string, Promises>>,
  calls: readonly Call[],
  { calmSince, settledAt, calls: allCalls }: History,
): Finding[] {
  const { uid, key } = object;
  const found: Finding[] = [];
  const say = (what: Finding['what'], text: string) => found.push({ what, uid, key, text, at: calmSince });
  if (object.isDeleting) {
    say('stuck', `is still being deleted, with finalizers ${object.finalizers.join(', ')}`);
    return found;
  }
  if (object.marks.length > 0) say('stuck', `is still in progress: ${object.marks.join(', ')}`);
  if (object.lastHandled !== 'equal') say('stuck', `the last handled state is ${object.lastHandled}`);
  if (object.finalizers.length !== 1)
    say('missing finalizer', `has finalizers: ${object.finalizers.join(', ') || 'none'}`);

  const { daemons = [], timers = [] } = promises[key.split('/')[0] ?? ''] ?? {};
  const newestRun = Math.max(...allCalls.map(({ run }) => run));
  const now = calls.filter(({ run }) => run === newestRun);
  for (const id of daemons) {
    const running = now.filter((call) => call.handler === id && isRunningAt(settledAt, call)).length;
    if (running !== 1) say('stuck', `${running} daemons '${id}' run for it`);
  }
  for (const id of timers) {
    const ticks = now.filter(({ handler, began }) => handler === id && began >= calmSince && began <= settledAt).length;
    if (ticks === 0) say('stuck', `timer '${id}' does not tick`);
  }
  return found;
}

function leftBehind({ uid, key, finalizers }: Remnant, { calmSince }: History): Finding {
  const text = `cannot be deleted: ${finalizers.join(', ') || 'no finalizers'}`;
  return { what: 'leaked finalizer', uid, key, text, at: calmSince };
}

// Helpers.

const isRunningAt = (moment: number, { began, ended = Number.POSITIVE_INFINITY }: Call): boolean =>
  began <= moment && ended > moment;

const kindOf = ({ key }: Edit): string => key.split('/')[0] ?? '';

function finding(what: Finding['what'], { uid, key, began }: Call, text: string): Finding {
  return { what, uid, key, text, at: began };
}

function groupBy<T>(items: readonly T[], by: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(by(item));
    if (group === undefined) groups.set(by(item), [item]);
    else group.push(item);
  }
  return groups;
}
