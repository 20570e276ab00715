/**
 * The last handled states of objects, one step back: so that another operator sees the same change again, as it would after
 * a crash just before the success was stored.
 */
import {
  type Body,
  type DiffBaseStorage,
  deepCopy,
  type Essence,
  type Fact,
  type Observer,
  type ProgressStorage,
  type Settings,
} from '@kopf-ts/core';
import { applyMergePatch } from '@kopf-ts/core/engine';
import { keyOf } from './objects.js';

/** What was written to an object, and why. */
interface Written {
  readonly reason: string | undefined;
  readonly contents: readonly object[];
}

export interface History {
  readonly observer: Observer;
  of(uid: string): readonly Written[];
}

/** Remembers what the operator writes to objects. */
export function history(): History {
  const reasons = new Map<string, string>();
  const written = new Map<string, Written[]>();
  const observe = (fact: Fact): void => {
    if (fact.kind === 'object.cause') reasons.set(keyOf(fact.object), fact.reason);
    if (fact.kind !== 'patch.sent') return;
    const contents = fact.requests.flatMap(({ type, content }) => (type === 'merge' ? [content as object] : []));
    const key = keyOf(fact.object);
    const all = written.get(key) ?? [];
    written.set(key, all);
    all.push({ reason: reasons.get(key), contents });
  };
  return { observer: { wants: ['object.cause', 'patch.sent'], observe }, of: (uid) => written.get(uid) ?? [] };
}

/**
 * The same settings, except that their storages remember less than they could, also those that are set later; and that nothing
 * is served.
 */
export function rewound(settings: Settings, past: History): Settings {
  const stored = new Set<string>();
  const storages: Pick<Settings['persistence'], 'diffbaseStorage' | 'progressStorage'> = {
    diffbaseStorage: rewoundStates(settings.persistence.diffbaseStorage, past),
    progressStorage: withoutFormer(settings.persistence.progressStorage, stored),
  };
  const persistence = new Proxy(settings.persistence, {
    get: (target, field) => Reflect.get(Object.hasOwn(storages, field) ? storages : target, field),
    set(target, field, value) {
      if (field === 'diffbaseStorage') storages.diffbaseStorage = rewoundStates(value as DiffBaseStorage, past);
      else if (field === 'progressStorage') storages.progressStorage = withoutFormer(value as ProgressStorage, stored);
      else return Reflect.set(target, field, value);
      return true;
    },
  });
  const groups: Record<string | symbol, unknown> = { persistence };
  for (const [group, fields] of Object.entries(ADDRESSES)) {
    const given = Reflect.get(settings, group) as object | undefined;
    if (given !== undefined) groups[group] = without(fields, given);
  }
  return new Proxy(settings, {
    get: (target, group) => Reflect.get(Object.hasOwn(groups, group) ? groups : target, group),
  });
}

/** These are in use by the first operator, and cannot be used twice. */
const ADDRESSES: Readonly<Record<string, readonly string[]>> = { metrics: ['endpoint'], insight: ['admin', 'console'] };

/** The same, except that these fields are never set. */
function without(fields: readonly string[], group: object): object {
  const isAbsent = (field: string | symbol): boolean => fields.includes(String(field));
  return new Proxy(group, {
    get: (target, field) => (isAbsent(field) ? undefined : Reflect.get(target, field)),
    set: (target, field, value) => isAbsent(field) || Reflect.set(target, field, value),
  });
}

/** The same, but each object is known as it was before it was handled the last time; until it is handled again. */
function rewoundStates(storage: DiffBaseStorage | undefined, past: History): DiffBaseStorage | undefined {
  if (storage === undefined) return undefined;
  const again = new Set<string>();
  return {
    ...storage,
    fetch(at) {
      const uid = at.body.metadata?.uid ?? '';
      const before = again.has(uid) ? [] : past.of(uid);
      return before.length === 0 ? storage.fetch(at) : stateBefore(storage, at, before);
    },
    store(at) {
      again.add(at.body.metadata?.uid ?? '');
      return storage.store(at);
    },
  };
}

type FetchArguments = Parameters<DiffBaseStorage['fetch']>[0];

async function stateBefore(
  storage: DiffBaseStorage,
  at: FetchArguments,
  past: readonly Written[],
): Promise<Essence | undefined> {
  const states: { readonly reason: string | undefined; readonly essence: Essence }[] = [];
  for (const { reason, contents } of past) {
    const essence = await storage.fetch({ ...at, body: onlyWith(at.body, contents) });
    if (essence !== undefined) states.push({ reason, essence });
  }
  const last = states.at(-1);
  if (last?.reason === 'create') return undefined;
  // What was before the operator was started is not known: then there is nothing to be repeated.
  return states.at(-2)?.essence ?? (await storage.fetch(at));
}

/** The object with nothing on it but that. */
function onlyWith(body: Body, contents: readonly object[]): Body {
  const { status: _, ...object } = deepCopy(body) as Record<string, unknown> & { metadata?: Record<string, unknown> };
  delete object.metadata?.['annotations'];
  for (const content of contents) applyMergePatch(object, content);
  return object as Body;
}

/** The same, but there is no progress except what is stored from now on. */
function withoutFormer(storage: ProgressStorage | undefined, stored: Set<string>): ProgressStorage | undefined {
  if (storage === undefined) return undefined;
  const idOf = (key: string, { metadata }: Body): string => `${metadata?.uid ?? ''} ${key}`;
  return {
    ...storage,
    fetch: (at) => (stored.has(idOf(at.key, at.body)) ? storage.fetch(at) : undefined),
    store(at) {
      stored.add(idOf(at.key, at.body));
      return storage.store(at);
    },
  };
}
