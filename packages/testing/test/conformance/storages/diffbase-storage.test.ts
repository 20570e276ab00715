import {
  type Body,
  type DiffBaseStorage,
  deepCopy,
  type Essence,
  ensureField,
  getOwn,
  type Mapping,
  resolveField,
} from '@kopf-ts/core';
import { annotationsDiffBaseStorage, statusDiffBaseStorage } from '@kopf-ts/storage';
import { describe, expect, it } from 'vitest';
import { diffBaseStorageCases, testDiffBaseStorage } from '../../../src/index.js';
import { complaint, failures } from '../failures.js';

const good = annotationsDiffBaseStorage({ v1: false });
const status = statusDiffBaseStorage();
const KEY = 'kopf.zalando.org/last-handled-configuration';
const PATH = ['metadata', 'annotations', KEY];

const readText = (body: Body): string | undefined => resolveField(body, PATH) as string | undefined;
const parseText = (text: string | undefined): Essence | undefined => JSON.parse(text ?? 'null') ?? undefined;

/** As a stranger would write it: the essences are elsewhere, and the object is not touched at all. */
function externalStorage(keyOf = (body: Body): string => `${body.metadata?.uid}`): DiffBaseStorage {
  const essences = new Map<string, string>();
  return {
    build: (at) => good.build(at),
    fetch: async ({ body }) => parseText(essences.get(keyOf(body))),
    store: async ({ essence, body }) => void essences.set(keyOf(body), JSON.stringify(essence)),
  };
}

describe('a storage outside of the object', () => {
  testDiffBaseStorage(() => externalStorage(), { describe, it });
});

const allCases = diffBaseStorageCases(() => good).map(({ name }) => name);
const secretsAsTheyAre = annotationsDiffBaseStorage({ v1: false, secrets: 'plain' });
const asKopf = annotationsDiffBaseStorage({ v1: false, compat: 'kopf' });

const broken: [sin: string, caught: string, create: () => DiffBaseStorage][] = [
  [
    'sees only the specs',
    'includes the user-defined fields in the essence',
    () => ({ ...good, build: (at) => ({ spec: good.build(at)['spec'] }) }),
  ],
  [
    'reacts to whatever happens',
    'does not mistake changes of the system for changes by users',
    () => ({ ...good, build: ({ body }) => deepCopy(body) as Essence }),
  ],
  [
    'ignores the extra fields',
    'includes the extra fields',
    () => ({ ...good, build: ({ extraFields: _, ...at }) => good.build(at) }),
  ],
  [
    'takes the whole stanza for one extra field',
    'includes the extra fields',
    () => ({
      ...good,
      build: ({ extraFields = [], ...at }) =>
        good.build({ ...at, extraFields: [...extraFields].map(([root = '']) => [root]) }),
    }),
  ],
  [
    'builds essences out of parts of the body',
    'builds essences as copies',
    () => ({ ...good, build: (at) => ({ ...good.build(at), spec: at.body['spec'] }) }),
  ],
  [
    'takes the unknown for empty',
    'knows nothing of an object that was never handled',
    () => ({ ...good, fetch: async (at) => (await good.fetch(at)) ?? {} }),
  ],
  [
    'takes nulls for zeros',
    'returns the essence as it was stored',
    () => ({
      ...good,
      store: ({ essence, ...at }) =>
        good.store({ ...at, essence: JSON.parse(JSON.stringify(essence).replaceAll('null', '0')) as Essence }),
    }),
  ],
  [
    'takes the empty for unknown',
    'returns an empty essence as an essence',
    () => ({
      ...good,
      fetch: async (at) => {
        const essence = await good.fetch(at);
        return essence !== undefined && Object.keys(essence).length > 0 ? essence : undefined;
      },
    }),
  ],
  [
    'sees its own traces',
    'does not mistake its own traces for changes by users',
    () => ({
      ...good,
      store: ({ essence, patch }) =>
        ensureField(patch.merge, ['metadata', 'annotations', 'state'], JSON.stringify(essence)),
    }),
  ],
  [
    'sees its own traces if somebody else looks there',
    'does not mistake its own traces for changes by users',
    () => ({ ...status, build: (at) => good.build(at) }),
  ],
  [
    'keeps the first essence for ever',
    'replaces the previous essence',
    () => ({ ...good, store: (at) => (readText(at.body) === undefined ? good.store(at) : undefined) }),
  ],
  [
    'merges the essences',
    'replaces the previous essence',
    () => ({
      ...status,
      fetch: ({ body }) => resolveField(body, ['status', 'state']) as Essence | undefined,
      store: ({ essence, patch }) => ensureField(patch.merge, ['status', 'state'], essence),
    }),
  ],
  ['has one place for all objects', 'keeps objects apart', () => externalStorage(() => 'it')],
  [
    'puts its own patch over that of others',
    'keeps the parts of the patch written by others',
    () => ({
      ...good,
      store: ({ essence, patch }) => {
        patch.merge['metadata'] = { annotations: { [KEY]: JSON.stringify(essence) } };
      },
    }),
  ],
  [
    'writes into the body, so as to see it there at once',
    'never modifies the body or the essence',
    () => ({
      ...good,
      store: (at) => {
        if (!Object.isFrozen(at.body)) (at.body as Mapping)['touched'] = true;
        return good.store(at);
      },
    }),
  ],
  [
    'copies keys as if they were ordinary',
    'keeps keys named like members of prototypes, without touching any prototype',
    () => ({
      ...good,
      build: (at) => {
        const essence = good.build(at);
        const spec: Mapping = {};
        for (const key of Object.keys((essence['spec'] ?? {}) as Mapping))
          spec[key] = getOwn(essence['spec'] as Mapping, key);
        return { ...essence, spec };
      },
    }),
  ],
  [
    'fails on what a stranger has left',
    'reports a malformed state instead of failing, and treats it as absent',
    () => ({ ...good, fetch: ({ body }) => parseText(readText(body)) }),
  ],
  [
    'is silent about what a stranger has left',
    'reports a malformed state instead of failing, and treats it as absent',
    () => ({ ...good, fetch: ({ malformed: _, ...at }) => good.fetch(at) }),
  ],
  [
    'believes what a stranger has left',
    'reports a malformed state instead of failing, and treats it as absent',
    () => ({
      ...good,
      fetch: ({ body, malformed }) => {
        try {
          return parseText(readText(body));
        } catch {
          malformed?.('not JSON');
          return undefined;
        }
      },
    }),
  ],
  [
    'writes more than fits',
    'keeps essences of any size, at least as digests, within the limits of annotations',
    () => asKopf,
  ],
  [
    'does not write what does not fit',
    'keeps essences of any size, at least as digests, within the limits of annotations',
    () => ({ ...good, store: (at) => (JSON.stringify(at.essence).length > 200_000 ? undefined : good.store(at)) }),
  ],
  [
    'cannot be cured from having once written a digest',
    'returns to the whole essence as soon as it fits',
    () => ({
      ...good,
      fetch: (at) => {
        const digest = resolveField(at.body, ['metadata', 'annotations', `${KEY}-digest`]);
        const withDigestOnly = { ...at.body, metadata: { annotations: { [`${KEY}-digest`]: digest } } } as Body;
        return good.fetch(digest === undefined ? at : { ...at, body: withDigestOnly });
      },
      store: async (at) => {
        const digest = resolveField(at.body, ['metadata', 'annotations', `${KEY}-digest`]);
        await good.store(at);
        if (digest !== undefined) ensureField(at.patch.merge, ['metadata', 'annotations', `${KEY}-digest`], digest);
      },
    }),
  ],
  ['shows the values of Secrets', 'keeps the values of Secrets to itself', () => secretsAsTheyAre],
  [
    'hides the values of Secrets from itself, too',
    'still notices changes in Secrets',
    () => ({ ...good, build: (at) => ({ ...good.build(at), ...(at.body.kind === 'Secret' && { data: {} }) }) }),
  ],
  [
    'forgets the salt',
    'does not show which Secrets have the same values',
    () => ({
      ...good,
      build: (at) => good.build({ ...at, body: { ...at.body, metadata: { ...at.body.metadata, uid: '' } } as Body }),
    }),
  ],
];

describe('the suite of diff-base storages', () => {
  it('passes a good one', async () => {
    expect(await failures(diffBaseStorageCases(() => good))).toEqual([]);
  });

  it.each(broken)('rejects the one that %s', async (_sin, caught, create) => {
    expect(await failures(diffBaseStorageCases(create))).toContain(caught);
  });

  it.each(allCases)('has a reason for the case: %s', (name) => {
    expect(broken.map(([, caught]) => caught)).toContain(name);
  });

  it('lets those pass who keep Secrets as they are, or small objects only, if they say so', async () => {
    const plain = diffBaseStorageCases(() => secretsAsTheyAre, { secrets: 'plain' });
    expect(await failures(plain)).toEqual([]);
    const kopfs = diffBaseStorageCases(() => asKopf, { secrets: 'plain', anySize: false });
    expect(await failures(kopfs)).toEqual([]);
  });

  it('says what is wrong in words', async () => {
    const cases = diffBaseStorageCases(() => asKopf);
    const name = 'keeps essences of any size, at least as digests, within the limits of annotations';
    expect(await complaint(cases, name)).toContain('too much for the cluster');
  });
});
