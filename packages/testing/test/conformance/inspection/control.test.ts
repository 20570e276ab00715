import type { Control, ControlledObject, ObjectQuery } from '@kopf-ts/core';
import { makeResource } from '@kopf-ts/core/engine';
import { describe, expect, it } from 'vitest';
import { type ControlUnderTest, controlCases, testControl } from '../../../src/index.js';
import { failures } from '../failures.js';

const resource = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'kopfexamples', kind: 'KopfExample' });

interface Modelled {
  readonly name: string;
  readonly uid: string;
  readonly fails: boolean;
  version: number;
  isPaused: boolean;
  isGone: boolean;
  /** Not handled yet. */
  isPending: boolean;
  isWaiting: boolean;
  calls: number;
}

/** An operator in a few lines: just what the suite asks for. */
function model() {
  const all: Modelled[] = [];
  let isPaused = false;
  let uids = 0;
  const handle = (one: Modelled): void => {
    one.isPending = true;
    if (isPaused || one.isPaused) return;
    one.isPending = false;
    if (one.isGone) all.splice(all.indexOf(one), 1);
    else {
      one.calls += 1;
      one.isWaiting = one.fails;
    }
  };
  const check = (query: ObjectQuery, mayBeEmpty: boolean): void => {
    if (typeof query !== 'object' || query === null) throw new Error('no query');
    for (const [field, value] of Object.entries(query)) {
      const isKnown = ['resource', 'namespace', 'name', 'uid'].includes(field);
      if (!isKnown || (value !== undefined && (typeof value !== 'string' || value === '')))
        throw new Error('bad query');
    }
    if (!mayBeEmpty && Object.values(query).every((value) => value === undefined)) throw new Error('an empty query');
  };
  const found = (query: ObjectQuery = {}): Modelled[] =>
    all.filter(
      ({ name, uid }) =>
        (query.name ?? name) === name &&
        (query.uid ?? uid) === uid &&
        (query.namespace ?? 'default') === 'default' &&
        (query.resource ?? resource.plural) === resource.plural,
    );
  const control: Control = {
    get isPaused() {
      return isPaused;
    },
    objects(query = {}) {
      check(query, true);
      return found(query).map((one): ControlledObject => {
        const { name, uid } = one;
        return {
          object: { resource, kind: 'KopfExample', namespace: 'default', name, uid },
          phase: one.isWaiting ? 'waiting' : 'idle',
          isPaused: one.isPaused,
          until: one.isWaiting ? 3600 : undefined,
          version: String(one.version),
          calls: [],
          daemons: [],
        };
      });
    },
    retry(query) {
      check(query, false);
      const waiting = found(query).filter((one) => one.isWaiting);
      for (const one of waiting) handle(one);
      return waiting.length;
    },
    pause(query) {
      if (query === undefined) {
        const count = isPaused ? 0 : all.length;
        isPaused = true;
        return count;
      }
      check(query, false);
      const paused = found(query).filter((one) => !one.isPaused);
      for (const one of paused) one.isPaused = true;
      return paused.length;
    },
    resume(query) {
      if (query !== undefined) check(query, false);
      const resumed = query === undefined ? (isPaused ? [...all] : []) : found(query).filter((one) => one.isPaused);
      if (query === undefined) isPaused = false;
      else for (const one of resumed) one.isPaused = false;
      for (const one of resumed) if (one.isPending) handle(one);
      return resumed.length;
    },
  };
  const named = (name: string): Modelled | undefined => all.find((one) => one.name === name);
  const under: ControlUnderTest = {
    control,
    resource: 'kopfexamples',
    create(name, { fails = false } = {}) {
      const flags = { isPaused: false, isGone: false, isPending: false, isWaiting: false };
      const one: Modelled = { name, uid: `uid-${++uids}`, fails, version: 1, calls: 0, ...flags };
      all.push(one);
      handle(one);
    },
    edit(name) {
      const one = named(name);
      if (one === undefined) return;
      one.version += 1;
      if (!one.isWaiting) handle(one);
    },
    remove(name) {
      const one = named(name);
      if (one === undefined) return;
      one.isGone = true;
      handle(one);
    },
    settle() {},
    calls: (name) => named(name)?.calls ?? 0,
  };
  return { under, all, handle };
}

testControl(() => model().under, { describe, it });

type Spoil = (good: Control, of: ReturnType<typeof model>) => Partial<Control>;

function spoiled(spoil: Spoil): () => ControlUnderTest {
  return () => {
    const of = model();
    const { control } = of.under;
    const parts = spoil(control, of);
    return {
      ...of.under,
      control: {
        objects: (query) => (parts.objects ?? control.objects)(query),
        retry: (query) => (parts.retry ?? control.retry)(query),
        pause: (query) => (parts.pause ?? control.pause)(query),
        resume: (query) => (parts.resume ?? control.resume)(query),
        get isPaused() {
          return parts.isPaused ?? control.isPaused;
        },
      },
    };
  };
}

const broken: [sin: string, caught: string, spoil: Spoil][] = [
  [
    'lists all, whatever it is asked for',
    'finds objects by their references',
    (good) => ({ objects: () => good.objects() }),
  ],
  [
    'does not tell what objects wait for',
    'lists the objects with their states',
    (good) => ({ objects: (query) => good.objects(query).map((one) => ({ ...one, until: undefined })) }),
  ],
  [
    'only counts what it should retry',
    'calls waiting handlers at once, and no others',
    (good) => ({ retry: (query) => good.objects(query).filter(({ phase }) => phase === 'waiting').length }),
  ],
  [
    'retries all at once',
    'calls waiting handlers at once, and no others',
    (good) => ({ retry: () => good.retry({ resource: 'kopfexamples' }) }),
  ],
  [
    'counts what was paused already',
    'counts only what it changes',
    (good) => ({
      pause(query) {
        good.pause(query);
        return good.objects(query).length;
      },
    }),
  ],
  [
    'pauses everything instead of an object',
    'calls no handlers for a paused object until it is resumed',
    (good) => ({ pause: () => good.pause(), resume: () => good.resume() }),
  ],
  [
    'loses what happens in a pause',
    'calls no handlers for a paused object until it is resumed',
    (good, { all }) => ({
      resume(query) {
        for (const one of all) one.isPending = false;
        return good.resume(query);
      },
    }),
  ],
  [
    'handles all after a pause, changed or not',
    'counts only what it changes',
    (good, { all, handle }) => ({
      resume(query) {
        good.resume(query);
        for (const one of all) handle(one);
        return all.length;
      },
    }),
  ],
  ['does not know that it is paused', 'pauses the whole operator', () => ({ isPaused: false })],
  [
    'retries what is paused',
    'retries a paused object only after it is resumed',
    (good, { all }) => ({
      retry(query) {
        const paused = all.filter((one) => one.isPaused);
        for (const one of paused) one.isPaused = false;
        return good.retry(query);
      },
    }),
  ],
  [
    'never forgets',
    'forgets deleted objects, even paused ones',
    (good) => {
      const seen = new Map<string | undefined, ControlledObject>();
      return {
        objects(query) {
          for (const one of good.objects()) seen.set(one.object.name, one);
          return query === undefined ? [...seen.values()] : good.objects(query);
        },
      };
    },
  ],
  [
    'takes an empty query for all objects',
    'refuses empty or invalid queries',
    (good) => ({ pause: (query) => good.pause(query && Object.keys(query).length === 0 ? undefined : query) }),
  ],
];

describe('the suite of controls', () => {
  it.each(broken)('catches one that %s', async (_, caught, spoil) => {
    expect(await failures(controlCases(spoiled(spoil)))).toContain(caught);
  });
});
