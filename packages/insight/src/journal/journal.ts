/**
 * The journal of an operator: for each object, the last things that have happened to it, in a ring; for all objects
 * together, no more memory than the budget. What was quiet for longest is forgotten first.
 *
 * It is told of everything in the midst of the work, so it keeps compact records, and puts nothing into words.
 */
import {
  type Clock,
  type Fact,
  type FactKind,
  type FactOf,
  type FieldPath,
  type ObservedObject,
  type Observer,
  parseField,
  type Rejection,
} from '@kopf-ts/core';
import { isTooLarge } from '@kopf-ts/core/engine';
import type { JournalEntry, KeptRejection, ObjectJournal, OperatorJournal, Verdict } from './entries.js';
import { OPERATOR_FACTS, operatorFacts, resourceTitle, statusOf } from './operator-facts.js';
import { retriedWrites } from './retried-writes.js';
import { entrySize, RECORD, textSize, verdictSize } from './sizes.js';
import { errorText, patchedPaths, pathText, shortName, shortText, valueText } from './texts.js';

/**
 * How much a journal may keep, and what it must not.
 *
 * ```ts
 * const options: kopf.insight.JournalOptions = {
 *   clock: kopf.reactor.systemClock,
 *   maxBytes: 4_000_000,
 *   sensitive: ['spec.password'],
 * };
 * ```
 */
export interface JournalOptions {
  readonly clock: Clock;
  /** For all objects together. Default: 16 MB. */
  readonly maxBytes?: number | undefined;
  /** For one object. Default: 64. */
  readonly maxEntries?: number | undefined;
  /**
   * Fields of which only the paths are kept, of any kind: `spec.password`; of errors that name them, only the types. Of
   * Secrets, no values are ever kept.
   */
  readonly sensitive?: readonly string[] | undefined;
}

/**
 * Which object is meant.
 *
 * ```ts
 * const one: kopf.insight.JournalQuery = { resource: 'kopfexamples', namespace: 'default', name: 'one' };
 * ```
 */
export interface JournalQuery {
  /** A plural, a singular, a kind, a short name; with or without the group: `kopfexamples.kopf.dev`. */
  readonly resource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly uid?: string | undefined;
}

/**
 * The journal of an operator.
 *
 * ```ts
 * const journal = kopf.insight.journal({ clock: kopf.reactor.systemClock });
 * const operator = kopf.operator({ observers: [journal.observer] });
 * console.log(journal.find({ resource: 'kopfexamples', name: 'one' })?.entries);
 * ```
 */
export interface Journal {
  readonly observer: Observer;
  /** The bytes that are taken now: an estimate that is rather too high. */
  readonly bytes: number;
  /** The objects that are remembered; the one that was quiet for longest goes first. */
  objects(query?: JournalQuery): Iterable<ObjectJournal>;
  /** What is known of the object; of several of the same name, of the one that was seen last. */
  find(query: JournalQuery): ObjectJournal | undefined;
  /** What is known of the operator as a whole. */
  operator(): OperatorJournal;
  /** Calls the function whenever there is something new about an object; returns how to stop that. */
  onChange(listener: (object: ObservedObject) => void): () => void;
}

const MAX_BYTES = 16_000_000;
const MAX_ENTRIES = 64;
/** Of one patch or one change. */
const MAX_PATHS = 12;
/** Of one change. */
const MAX_VERDICTS = 64;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type CauseEntry = Mutable<Extract<JournalEntry, { kind: 'cause' }>> & { verdicts: Verdict[] };

/** One object, as it is kept. */
interface Kept {
  readonly key: string;
  readonly object: ObservedObject;
  readonly isSecret: boolean;
  readonly entries: JournalEntry[];
  readonly verdicts: Verdict[];
  /** The latest one in the ring. */
  cause: CauseEntry | undefined;
  lost: number;
  lastEvent: ObjectJournal['lastEvent'];
  /** What came back for our last patch. */
  ownVersion: string | undefined;
  waiting: ObjectJournal['waiting'];
  bytes: number;
}

type Takers = { readonly [K in FactKind]?: (fact: FactOf<K>) => void };

/**
 * Makes a journal: an observer for an operator.
 *
 * ```ts
 * const journal = kopf.insight.journal({ clock: kopf.reactor.systemClock, maxBytes: 4_000_000 });
 * await kopf.run({ observers: [journal.observer] });
 * ```
 */
export function journal(options: JournalOptions): Journal {
  const { clock, maxBytes = MAX_BYTES, maxEntries = MAX_ENTRIES } = options;
  const sensitive = (options.sensitive ?? []).map((field) => parseField(field));
  /** The one that was quiet for longest goes first. */
  const all = new Map<string, Kept>();
  const ofOperator = operatorFacts();
  const retried = retriedWrites();
  const listeners = new Set<(object: ObservedObject) => void>();
  let bytes = 0;
  let order = 0;
  let latest: Kept | undefined;

  const grow = (kept: Kept, size: number): void => {
    kept.bytes += size;
    bytes += size;
    if (bytes + retried.bytes > maxBytes) shrink(kept);
  };

  const forget = (kept: Kept): void => {
    all.delete(kept.key);
    bytes -= kept.bytes;
    // Whoever still has it at hand adds to nothing.
    kept.bytes = 0;
    kept.entries.length = 0;
    kept.verdicts.length = 0;
    kept.cause = undefined;
    if (latest === kept) latest = undefined;
  };

  const dropOldest = (kept: Kept): void => {
    const oldest = kept.entries.shift();
    if (oldest === undefined) return;
    if (oldest === kept.cause) kept.cause = undefined;
    kept.lost += 1;
    const size = sizeOf(oldest);
    kept.bytes -= size;
    bytes -= size;
  };

  const total = (): number => bytes + retried.bytes;

  const shrink = (busy?: Kept): void => {
    for (const kept of all.values()) {
      if (total() <= maxBytes) return;
      if (kept !== busy) forget(kept);
    }
    while (total() > maxBytes && retried.bytes > 0) retried.forgetOldest();
    if (busy === undefined) return;
    while (bytes > maxBytes && busy.entries.length > 1) dropOldest(busy);
    if (bytes > maxBytes) forget(busy);
  };

  const keptOf = (object: ObservedObject): Kept => {
    if (latest !== undefined && (latest.object === object || isSame(latest.object, object))) return latest;
    const key = keyOf(object);
    let kept = all.get(key);
    if (kept === undefined) {
      kept = {
        key,
        object: identityOf(object),
        isSecret: object.resource.group === '' && object.resource.plural === 'secrets',
        entries: [],
        verdicts: [],
        cause: undefined,
        lost: 0,
        lastEvent: undefined,
        ownVersion: undefined,
        waiting: undefined,
        bytes: 0,
      };
      all.set(key, kept);
      latest = kept;
      const { kind, namespace, name, uid } = kept.object;
      const names = textSize(key) + textSize(kind) + textSize(namespace) + textSize(name) + textSize(uid);
      grow(kept, RECORD + names);
    } else {
      // It is not quiet any more.
      all.delete(key);
      all.set(key, kept);
    }
    latest = kept;
    return kept;
  };

  const add = (kept: Kept, entry: JournalEntry): void => {
    // A budget that is too small even for one object.
    if (kept.bytes === 0) return;
    if (kept.entries.length >= maxEntries) dropOldest(kept);
    kept.entries.push(entry);
    grow(kept, entrySize(entry));
  };

  const put = (object: ObservedObject, entry: JournalEntry): void => add(keptOf(object), entry);

  const judge = (kept: Kept, verdicts: Verdict[], verdict: Verdict): void => {
    if (kept.bytes === 0) return;
    const index = verdicts.findIndex(({ handler, kind }) => handler === verdict.handler && kind === verdict.kind);
    const old = verdicts[index];
    // The same function may be declared for several reasons: who was chosen is not unchosen by another declaration.
    if (old !== undefined && old.rejection === undefined && verdict.rejection?.filter === 'reason') return;
    if (old === undefined && verdicts.length >= MAX_VERDICTS) return;
    if (old === undefined) verdicts.push(verdict);
    else verdicts[index] = verdict;
    grow(kept, verdictSize(verdict) - (old === undefined ? 0 : verdictSize(old)));
  };

  /** With each patch: mostly, none is there to be forgotten, and no name has to be made. */
  const noteWritten = (object: ObservedObject): void => {
    if (retried.bytes > 0) retried.forget(nameOf(object));
  };

  const errorOf = (error: Error, { isSecret }: Pick<Kept, 'isSecret'>) => {
    const status = statusOf(error);
    return {
      message: errorText(error, { isSecret, sensitive }),
      status,
      ...(isTooLarge(error) && ({ isTooLarge: true } as const)),
    };
  };

  const takers: Takers = {
    'stream.event'({ object, type, version, at }) {
      const kept = keptOf(object);
      if (kept.bytes === 0) return;
      const before = textSize(kept.lastEvent?.version);
      kept.lastEvent = { at, type, version: shortName(version) };
      grow(kept, textSize(kept.lastEvent.version) - before);
    },
    'object.cause'({ object, reason, paths: changed, version, at }) {
      const kept = keptOf(object);
      // The empty one is the whole object: of creations.
      const paths = changed.slice(0, MAX_PATHS).flatMap((path) => (path.length === 0 ? [] : [pathText(path)]));
      const { cause } = kept;
      const isOwnDoing = version === cause?.version || version === kept.ownVersion;
      if (cause !== undefined && isOwnDoing && cause.reason === reason && sameTexts(cause.paths, paths)) {
        cause.repeats += 1;
        cause.lastAt = at;
        const before = textSize(cause.version);
        cause.version = shortName(version);
        grow(kept, textSize(cause.version) - before);
        return;
      }
      const entry: CauseEntry = {
        kind: 'cause',
        at,
        reason,
        paths,
        version: shortName(version),
        verdicts: [],
        repeats: 0,
        lastAt: at,
      };
      kept.cause = entry;
      add(kept, entry);
    },
    'handler.considered'({ object, handler, rejection, at }) {
      const kept = keptOf(object);
      const isChange = handler.kind === 'change';
      const verdicts = isChange ? kept.cause?.verdicts : kept.verdicts;
      if (verdicts === undefined) return;
      const why = rejection && keptRejection(rejection, kept.isSecret, sensitive);
      judge(kept, verdicts, {
        handler: shortName(handler.id) as string,
        kind: handler.kind,
        at,
        order: order++,
        rejection: why,
      });
    },
    'call.ended'({ object, handler, reason, outcome, retry, duration, delay, error, at }) {
      if (object === undefined) return;
      const kept = keptOf(object);
      const { id, kind: type } = handler;
      const failure = error && errorOf(error, kept);
      const call = { reason: shortName(reason), outcome, retry, duration, delay, error: failure };
      add(kept, { kind: 'call', at, order: order++, handler: shortName(id) as string, type, ...call });
    },
    'object.waiting'({ object, until, why }) {
      const kept = keptOf(object);
      kept.waiting = { until, why };
    },
    'object.woken'({ object }) {
      keptOf(object).waiting = undefined;
    },
    'object.failed'({ object, error, pause, at }) {
      const kept = keptOf(object);
      add(kept, { kind: 'failed', at, error: errorOf(error, kept), pause });
    },
    'object.gone'({ object, at }) {
      put(object, { kind: 'gone', at });
    },
    'object.superseded'({ object, reason, by, unfinished, at }) {
      put(object, { kind: 'superseded', at, reason: shortText(reason), by: shortText(by), unfinished });
    },
    'object.paused'({ object, by, isPaused, until, at }) {
      put(object, { kind: 'paused', at, by, isPaused, until });
    },
    'breaker.tripped'({ object, fields, handlers, pause, at }) {
      const some = fields.slice(0, MAX_PATHS).map((field) => shortText(field));
      put(object, { kind: 'breaker', at, fields: some, handlers: someIds(handlers), pause });
    },
    'patch.sent'({ object, requests, version, at }) {
      const paths = requests.flatMap(({ content }) => patchedPaths(content, MAX_PATHS)).slice(0, MAX_PATHS);
      const kept = keptOf(object);
      noteWritten(object);
      // The same text is in the entry.
      kept.ownVersion = shortName(version);
      add(kept, { kind: 'patch', at, paths, version: kept.ownVersion, error: undefined });
    },
    'patch.failed'({ object, requests, error, at }) {
      const kept = keptOf(object);
      noteWritten(object);
      const paths = requests.flatMap(({ content }) => patchedPaths(content, MAX_PATHS)).slice(0, MAX_PATHS);
      add(kept, { kind: 'patch', at, paths, version: undefined, error: errorOf(error, kept) });
    },
    'request.retried'({ method, resource, namespace, name, error, delay, at }) {
      if (method === 'GET' || name === undefined) return;
      const key = nameText(resource, namespace, name);
      retried.put(key, { at, until: at + delay, error: errorOf(error, { isSecret: resource === 'secrets' }) });
      if (total() > maxBytes) shrink();
    },
    'patch.dropped'({ object, what, why, at }) {
      const kept = keptOf(object);
      add(kept, { kind: 'dropped', at, what: shortText(what), why: kept.isSecret ? 'refused' : shortText(why) });
    },
    'daemon.started': ({ object, handler, at }) => daemon(object, handler, 'started', undefined, at),
    'daemon.stopping': ({ object, handler, why, at }) => daemon(object, handler, 'stopping', why, at),
    'daemon.stopped': ({ object, handler, isOver, at }) =>
      daemon(object, handler, isOver ? 'over' : 'stopped', undefined, at),
    'review.answered'({ object, operation, allowed, code, handlers, at }) {
      if (object === undefined) return;
      put(object, { kind: 'review', at, operation: shortText(operation), allowed, code, handlers: someIds(handlers) });
    },
  };

  const daemon = (
    object: ObservedObject,
    { id, kind: type }: FactOf<'daemon.started'>['handler'],
    what: 'started' | 'stopping' | 'stopped' | 'over',
    why: string | undefined,
    at: number,
  ): void => {
    put(object, { kind: 'daemon', at, handler: shortName(id) as string, type, what, why: shortName(why) });
  };

  const observe = (fact: Fact): void => {
    const take = takers[fact.kind] as ((fact: Fact) => void) | undefined;
    if (take === undefined) {
      ofOperator.observe(fact);
      return;
    }
    take(fact);
    if (listeners.size === 0) return;
    const { object } = fact as { readonly object?: ObservedObject };
    if (object !== undefined) for (const listener of listeners) listener(object);
  };

  function* found(query: JournalQuery): Generator<Kept> {
    if (query.uid !== undefined) {
      const kept = all.get(keyText(query.uid));
      if (kept !== undefined && fits(query, kept.object)) yield kept;
      return;
    }
    for (const kept of all.values()) if (fits(query, kept.object)) yield kept;
  }

  return {
    observer: { wants: [...(Object.keys(takers) as FactKind[]), ...OPERATOR_FACTS], observe },
    get bytes() {
      return total();
    },
    *objects(query = {}) {
      for (const kept of found(query)) yield viewOf(kept, retried.get(nameOf(kept.object)));
    },
    find(query) {
      const views = [...found(query)].map((kept) => viewOf(kept, retried.get(nameOf(kept.object))));
      const last = views.findLast(({ uid }) => uid !== undefined) ?? views.at(-1);
      if (last === undefined) return undefined;
      // Reviews of objects that do not exist yet know no uids.
      const nameless = views.filter((view) => view !== last && view.uid === undefined && view.name === last.name);
      if (nameless.length === 0) return last;
      const entries = [...nameless, last].flatMap((view) => view.entries).toSorted((a, b) => a.at - b.at);
      return { ...last, entries };
    },
    operator: () => ofOperator.view(clock.now(), clock.utc()),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function viewOf(kept: Kept, retriedWrite: ObjectJournal['retriedWrite']): ObjectJournal {
  const { object, entries, verdicts, lost, lastEvent, waiting } = kept;
  const { resource, kind, namespace, name, uid } = object;
  const copies = entries.map((entry) => (entry.kind === 'cause' ? { ...entry, verdicts: [...entry.verdicts] } : entry));
  return {
    resource: resourceTitle(resource),
    kind,
    namespace,
    name,
    uid,
    entries: copies,
    lost,
    verdicts: [...verdicts],
    lastEvent,
    waiting,
    retriedWrite,
  };
}

function sizeOf(entry: JournalEntry): number {
  const size = entrySize(entry);
  return entry.kind === 'cause' ? entry.verdicts.reduce((sum, one) => sum + verdictSize(one), size) : size;
}

function identityOf({ resource, kind, namespace, name, uid }: ObservedObject): ObservedObject {
  return {
    resource,
    kind: shortName(kind),
    namespace: shortName(namespace),
    name: shortName(name),
    uid: shortName(uid),
  };
}

/** For objects with uids, it is these alone. */
function isSame(kept: ObservedObject, told: ObservedObject): boolean {
  return kept.uid !== undefined && kept.uid === told.uid;
}

function keyOf({ uid, resource, namespace, name }: ObservedObject): string {
  return uid === undefined ? nameOf({ resource, namespace, name }) : keyText(uid);
}

function nameOf({ resource, namespace, name }: Pick<ObservedObject, 'resource' | 'namespace' | 'name'>): string {
  return nameText(resourceTitle(resource), namespace, name);
}

function nameText(resource: string, namespace: string | undefined, name: string | undefined): string {
  return keyText(`${resource}/${namespace ?? ''}/${name ?? ''}`);
}

function keyText(text: string): string {
  return shortText(text, 800);
}

function fits(query: JournalQuery, { resource, kind, namespace, name, uid }: ObservedObject): boolean {
  const { resource: wanted } = query;
  if (query.name !== undefined && query.name !== name) return false;
  if (query.namespace !== undefined && namespace !== undefined && query.namespace !== namespace) return false;
  if (query.uid !== undefined && query.uid !== uid) return false;
  if (wanted === undefined) return true;
  const [first = '', ...rest] = wanted.toLowerCase().split('.');
  if (rest.length > 0 && rest.join('.') !== resource.group.toLowerCase()) return false;
  const names = [resource.plural, resource.singular, resource.kind, kind, ...resource.shortcuts];
  return names.some((one) => one?.toLowerCase() === first);
}

function keptRejection(rejection: Rejection, isSecret: boolean, sensitive: readonly FieldPath[]): KeptRejection {
  const { filter, path, wanted, found } = rejection;
  const isKey = filter === 'labels' || filter === 'annotations';
  const where = path && (isKey ? shortText(path.at(-1) ?? '') : pathText(path));
  // The kinds have nothing to hide, but their descriptions are long; and reasons are few and known.
  if (filter === 'resource') return { filter };
  const isHidden = path !== undefined && (isSecret || sensitive.some((one) => overlaps(one, path)));
  if (isHidden) return { filter, path: where, isHidden: true };
  return {
    filter,
    path: where,
    wanted: wanted === undefined ? undefined : valueText(wanted),
    found: found === undefined ? undefined : valueText(found),
  };
}

/** One of them is inside of the other, or they are the same. */
function overlaps(one: FieldPath, other: FieldPath): boolean {
  return one.every((key, depth) => depth >= other.length || other[depth] === key);
}

function sameTexts(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((text, index) => text === others[index]);
}

function someIds(ids: readonly string[]): readonly string[] {
  return ids.slice(0, MAX_PATHS).map((id) => shortText(id));
}
