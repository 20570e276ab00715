import {
  type Body,
  deepCopy,
  type Essence,
  ensureField,
  getOwn,
  isMapping,
  type Mapping,
  type ProgressRecord,
  type ProgressStorage,
  resolveField,
} from '@kopf-ts/core';
import { annotationsProgressStorage, statusProgressStorage } from '@kopf-ts/storage';
import { describe, expect, it } from 'vitest';
import { progressStorageCases, testProgressStorage } from '../../../src/index.js';
import { complaint, failures } from '../failures.js';

const good = annotationsProgressStorage({ v1: false });
const prefix = 'kopf.zalando.org';
const pathOf = (key: string) => ['metadata', 'annotations', `${prefix}/${key}`];

/** As a stranger would write it: the records are elsewhere, and the object is only touched. */
function externalStorage(keyOf = (body: Body, key: string): string => `${body.metadata?.uid}:${key}`): ProgressStorage {
  const records = new Map<string, string>();
  return {
    ...good,
    async fetch({ key, body }) {
      const text = records.get(keyOf(body, key));
      return text === undefined ? undefined : (JSON.parse(text) as ProgressRecord);
    },
    async store({ key, record, body }) {
      const kept = Object.entries(record).filter(([, value]) => value !== null);
      records.set(keyOf(body, key), JSON.stringify(Object.fromEntries(kept)));
    },
    async purge({ key, body }) {
      records.delete(keyOf(body, key));
    },
  };
}

describe('a storage outside of the object', () => {
  testProgressStorage(() => externalStorage(), { describe, it });
});

function readAnnotation(body: Body, key: string): string | undefined {
  return resolveField(body, pathOf(key)) as string | undefined;
}

const allCases = progressStorageCases(() => good).map(({ name }) => name);

const broken: [sin: string, caught: string, create: () => ProgressStorage][] = [
  [
    'invents records',
    'knows nothing of a handler that was never stored',
    () => ({ ...good, fetch: async (at) => (await good.fetch(at)) ?? { retries: 0 } }),
  ],
  [
    'spoils the texts',
    'returns a record as it was stored',
    () => ({
      ...good,
      store: ({ record, ...at }) =>
        good.store({ ...at, record: { ...record, message: Buffer.from(record.message ?? '', 'latin1').toString() } }),
    }),
  ],
  [
    'returns nulls as they are stored',
    'returns no nulls',
    () => {
      const verbose = annotationsProgressStorage({ v1: false, verbose: true });
      return {
        ...verbose,
        fetch: ({ key, body }) => JSON.parse(readAnnotation(body, key) ?? 'null') ?? undefined,
      };
    },
  ],
  [
    'forgets to remove what the record has no more',
    'replaces the previous record as a whole',
    () => {
      const status = statusProgressStorage();
      return {
        ...status,
        store: ({ record, ...at }) => {
          const kept = Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
          ensureField(at.patch.merge, ['status', 'kopf', 'progress', at.key], kept);
        },
      };
    },
  ],
  [
    'drops the digests',
    'keeps the digest of the handled state, and forgets it with the record',
    () => annotationsProgressStorage({ compat: 'kopf' }),
  ],
  [
    'keeps the digests for ever',
    'keeps the digest of the handled state, and forgets it with the record',
    () => {
      const status = statusProgressStorage();
      // As if there were no previous record to be cleaned of what it had.
      return { ...status, store: (at) => status.store({ ...at, body: {} }) };
    },
  ],
  [
    'has one place for all handlers',
    'keeps handlers apart even if their ids are long with a common prefix',
    () => {
      const same = <At extends { key: string }>(at: At): At => ({ ...at, key: 'progress' });
      return {
        ...good,
        fetch: (at) => good.fetch(same(at)),
        store: (at) => good.store(same(at)),
        purge: (at) => good.purge(same(at)),
      };
    },
  ],
  [
    'cuts long ids',
    'keeps handlers apart even if their ids are long with a common prefix',
    () => {
      const cut = <At extends { key: string }>(at: At): At => ({ ...at, key: at.key.slice(0, 60) });
      return {
        ...good,
        fetch: (at) => good.fetch(cut(at)),
        store: (at) => good.store(cut(at)),
        purge: (at) => good.purge(cut(at)),
      };
    },
  ],
  ['has one place for all objects', 'keeps objects apart', () => externalStorage((_, key) => key)],
  [
    'looks for handlers in prototypes',
    'is not confused by handlers named like members of prototypes',
    () => {
      const status = statusProgressStorage();
      return {
        ...status,
        fetch: ({ key, body }) => {
          const records = (resolveField(body, ['status', 'kopf', 'progress']) ?? {}) as Mapping;
          return records[key] as ProgressRecord | undefined;
        },
      };
    },
  ],
  [
    'purges only what is not sent yet',
    'purges a record from the object',
    () => ({ ...good, purge: (at) => good.purge({ ...at, body: {} }) }),
  ],
  [
    'purges everything at once',
    'purges a record from the object',
    () => ({
      ...good,
      purge: ({ body, patch }) => {
        for (const key of Object.keys(body.metadata?.annotations ?? {})) {
          if (key.startsWith(prefix)) ensureField(patch.merge, ['metadata', 'annotations', key], null);
        }
      },
    }),
  ],
  [
    'purges by writing nothing instead of removing',
    'leaves nothing of a purged record behind',
    () => ({
      ...good,
      purge: (at) => {
        if (readAnnotation(at.body, at.key) === undefined) return good.purge(at);
        ensureField(at.patch.merge, pathOf(at.key), 'null');
      },
    }),
  ],
  [
    'sends a purge of what was never sent',
    'withdraws a record from a patch that was not sent yet',
    () => ({
      ...good,
      purge: ({ key, body, patch }) => {
        const isKnown = resolveField(body, pathOf(key)) ?? resolveField(patch.merge, pathOf(key));
        if (isKnown !== undefined) ensureField(patch.merge, pathOf(key), null);
      },
    }),
  ],
  [
    'purges without looking',
    'has nothing to purge for records that were never stored',
    () => ({ ...good, purge: ({ key, patch }) => ensureField(patch.merge, pathOf(key), null) }),
  ],
  ['does not touch', 'touches the object so that it changes', () => ({ ...good, touch: () => undefined })],
  [
    'touches always in the same way',
    'touches the object so that it changes',
    () => ({ ...good, touch: ({ value, ...at }) => good.touch({ ...at, value: value === null ? null : 'touched' }) }),
  ],
  [
    'never takes a touch back',
    'undoes a touch',
    () => ({ ...good, touch: (at) => (at.value === null ? undefined : good.touch(at)) }),
  ],
  [
    'takes back what never was',
    'has nothing to undo without a touch',
    () => ({ ...good, touch: ({ value, patch }) => ensureField(patch.merge, pathOf('touch-dummy'), value) }),
  ],
  [
    'touches where the progress is',
    'does not mistake touches for progress',
    () => annotationsProgressStorage({ v1: false, touchKey: 'fn' }),
  ],
  [
    'puts its own patch over that of others',
    'keeps the parts of the patch written by others',
    () => ({
      ...good,
      store: ({ key, record, patch }) => {
        const kept = Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
        patch.merge['metadata'] = { annotations: { [`${prefix}/${key}`]: JSON.stringify(kept) } };
      },
    }),
  ],
  [
    'writes into the body, so as to see it there at once',
    'never modifies the body or the record',
    () => ({
      ...good,
      store: (at) => {
        if (!Object.isFrozen(at.body)) (at.body as Mapping)['touched'] = true;
        return good.store(at);
      },
    }),
  ],
  [
    'strips the nulls off the very record it is given',
    'never modifies the body or the record',
    () => ({
      ...good,
      store: (at) => {
        if (!Object.isFrozen(at.record)) delete (at.record as Mapping)['delayed'];
        return good.store(at);
      },
    }),
  ],
  [
    'fails on what a stranger has left',
    'reports a malformed record instead of failing, and treats it as absent',
    () => ({ ...good, fetch: ({ key, body }) => JSON.parse(readAnnotation(body, key) ?? 'null') ?? undefined }),
  ],
  [
    'is silent about what a stranger has left',
    'reports a malformed record instead of failing, and treats it as absent',
    () => ({ ...good, fetch: ({ malformed: _, ...at }) => good.fetch(at) }),
  ],
  [
    'believes what a stranger has left',
    'reports a malformed record instead of failing, and treats it as absent',
    () => ({
      ...good,
      fetch: ({ key, body, malformed }) => {
        try {
          return JSON.parse(readAnnotation(body, key) ?? 'null') ?? undefined;
        } catch {
          malformed?.('not JSON');
          return undefined;
        }
      },
    }),
  ],
  [
    'needs somebody to report to',
    'reports a malformed record instead of failing, and treats it as absent',
    () => ({
      ...good,
      fetch: ({ malformed, ...at }) =>
        good.fetch({
          ...at,
          malformed: (problem) => {
            if (malformed === undefined) throw new Error(problem);
            malformed(problem);
          },
        }),
    }),
  ],
  [
    'purges only what it can read',
    'purges malformed records, too',
    () => ({
      ...good,
      purge: async ({ key, body, patch }) => {
        const isReadable = (await good.fetch({ key, body })) !== undefined;
        const isPlanned = resolveField(patch.merge, pathOf(key)) !== undefined;
        if (isReadable || isPlanned) await good.purge({ key, body, patch });
      },
    }),
  ],
  ['clears nothing', 'clears its records from essences', () => ({ ...good, clear: (essence) => deepCopy(essence) })],
  [
    'clears too much',
    'keeps user-defined fields in essences',
    () => ({
      ...good,
      clear: (essence) => {
        const { metadata: _, ...cleared } = deepCopy(essence);
        return cleared;
      },
    }),
  ],
  [
    'does not know its own records when it sees them',
    'recognises its own records and touches in a body',
    () => ({ ...good, clearOwn: (essence) => deepCopy(essence) }),
  ],
  [
    'clears the very essence it is given',
    'clears copies of essences, not the essences themselves',
    () => ({ ...good, clear: (essence) => clearInPlace(Object.isFrozen(essence) ? deepCopy(essence) : essence) }),
  ],
  [
    'copies not deep enough',
    'clears copies of essences, not the essences themselves',
    () => ({
      ...good,
      clear: (essence) => {
        const metadata = { ...(essence['metadata'] as Mapping) };
        metadata['annotations'] = { ...(metadata['annotations'] as Mapping) };
        return clearInPlace({ ...essence, metadata });
      },
    }),
  ],
];

function clearInPlace(essence: Essence): Essence {
  const annotations = getOwn((essence['metadata'] ?? {}) as Mapping, 'annotations');
  if (isMapping(annotations)) {
    for (const key of Object.keys(annotations)) if (key.startsWith(prefix)) delete annotations[key];
  }
  return essence;
}

describe('the suite of progress storages', () => {
  it('passes a good one', async () => {
    expect(await failures(progressStorageCases(() => good))).toEqual([]);
  });

  it.each(broken)('rejects the one that %s', async (_sin, caught, create) => {
    expect(await failures(progressStorageCases(create))).toContain(caught);
  });

  it.each(allCases)('has a reason for the case: %s', (name) => {
    expect(broken.map(([, caught]) => caught)).toContain(name);
  });

  it('does not ask for digests of those who write only what Kopf would', async () => {
    const create = () => annotationsProgressStorage({ compat: 'kopf' });
    expect(await failures(progressStorageCases(create, { keepsDigests: false }))).toEqual([]);
  });

  it('says what is wrong in words', async () => {
    const cases = progressStorageCases(() => ({ ...good, fetch: ({ malformed: _, ...at }) => good.fetch(at) }));
    const name = 'reports a malformed record instead of failing, and treats it as absent';
    expect(await complaint(cases, name)).toContain('no report of');
  });
});
