import { type Body, type DiffBaseStorage, type Essence, Patch, type Resource } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import type { SecretsMode } from '../../src/diffbase/secret-values.js';
import { annotationsDiffBaseStorage, multiDiffBaseStorage, statusDiffBaseStorage } from '../../src/index.js';

const PASSWORD = 'aHVudGVyMg==';
const DIGEST = /^sha256:[0-9a-f]{64}$/;

function secret(parts: object = {}, uid = 'uid1'): Body {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { uid },
    type: 'Opaque',
    data: { password: PASSWORD },
    ...parts,
  };
}

function makeResource(group: string, plural: string): Resource {
  const none: ReadonlySet<string> = new Set();
  const features = { shortcuts: none, categories: none, subresources: none, verbs: none };
  return { group, version: 'v1', plural, preferred: true, ...features };
}

describe.each<[string, (options?: { compat?: 'kopf'; secrets?: SecretsMode }) => DiffBaseStorage]>([
  ['annotations', annotationsDiffBaseStorage],
  ['the status', statusDiffBaseStorage],
  [
    'several storages',
    (options) => multiDiffBaseStorage([annotationsDiffBaseStorage(options), statusDiffBaseStorage(options)]),
  ],
])('Secrets, whose values are kept as digests, and their states in %s', (_, create) => {
  const storage = create();
  const dataOf = (body: Body): Record<string, unknown> => storage.build({ body })['data'] as Record<string, unknown>;

  it('have digests instead of values, and all else as it is', () => {
    const essence = storage.build({ body: secret({ immutable: true }) });
    expect(essence).toEqual({ type: 'Opaque', immutable: true, data: { password: expect.stringMatching(DIGEST) } });
  });

  it('have the same digests as long as the values are the same', () => {
    expect(dataOf(secret())).toEqual(dataOf(secret({ metadata: { uid: 'uid1', labels: { a: 'b' } } })));
    expect(dataOf(secret())).not.toEqual(dataOf(secret({ data: { password: 'aHVudGVyMw==' } })));
  });

  it('have different digests of the same value in different objects and under different keys', () => {
    const { a, b } = dataOf(secret({ data: { a: PASSWORD, b: PASSWORD } }));
    const { a: other } = dataOf(secret({ data: { a: PASSWORD } }, 'uid2'));
    expect(new Set([a, b, other]).size).toBe(3);
  });

  it('hide also what a cluster would not accept: texts, lists, and other than mappings', () => {
    const body = secret({ data: { a: 1, b: [PASSWORD], c: { d: PASSWORD }, e: null }, stringData: PASSWORD });
    const { data, stringData } = storage.build({ body });
    expect(data).toEqual({
      a: expect.stringMatching(DIGEST),
      b: expect.stringMatching(DIGEST),
      c: { d: expect.stringMatching(DIGEST) },
      e: null,
    });
    expect(stringData).toMatch(DIGEST);
  });

  it('hide also the copy made by kubectl, if all annotations are looked at', () => {
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': `{"data":"${PASSWORD}"}`, note: 'x' };
    const body = secret({ metadata: { uid: 'uid1', annotations } });
    const essence = storage.build({ body, extraFields: [['metadata', 'annotations']] });
    expect(essence['metadata']).toEqual({
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': expect.stringMatching(DIGEST), note: 'x' },
    });
  });

  it('are recognised by the resource, too', () => {
    const { apiVersion: _v, kind: _k, ...body } = secret();
    expect(JSON.stringify(storage.build({ body, resource: makeResource('', 'secrets') }))).not.toContain(PASSWORD);
  });

  it.each<[string, Body, string]>([
    ['another kind', secret({ kind: 'ConfigMap' }), ''],
    ['a namesake in another group', secret({ apiVersion: 'example.com/v1' }), 'example.com'],
  ])('are not taken for %s', (_kind, body, group) => {
    const resource = makeResource(group, group === '' ? 'configmaps' : 'secrets');
    expect(storage.build({ body, resource })['data']).toEqual({ password: PASSWORD });
  });

  it('are hidden when stored, even if given as they are', async () => {
    const patch = new Patch();
    const essence: Essence = { data: { password: PASSWORD } };
    await storage.store({ essence, body: secret(), patch });
    expect(JSON.stringify(patch.merge)).not.toContain(PASSWORD);
    expect(essence).toEqual({ data: { password: PASSWORD } });
  });

  it('have not changed just because their state was stored by Kopf', async () => {
    const kopfs = create({ compat: 'kopf' });
    const patch = new Patch();
    await kopfs.store({ essence: kopfs.build({ body: secret() }), body: secret(), patch });
    expect(JSON.stringify(patch.merge)).toContain(PASSWORD);
    const annotations = (patch.merge['metadata'] as Body['metadata'])?.annotations;
    const body = secret({ ...patch.merge, metadata: { uid: 'uid1', annotations } });
    expect(await storage.fetch({ body })).toEqual(storage.build({ body }));
  });

  it.each([{ secrets: 'plain' as const }, { compat: 'kopf' as const }])(
    'are kept as they are with %j',
    async (options) => {
      const plain = create(options);
      const essence = plain.build({ body: secret() });
      expect(essence['data']).toEqual({ password: PASSWORD });
      const patch = new Patch();
      await plain.store({ essence, body: secret(), patch });
      expect(JSON.stringify(patch.merge)).toContain(PASSWORD);
    },
  );
});

describe('the way of keeping Secrets', () => {
  it('is asked for at each use, since settings can change', () => {
    const options: { secrets: SecretsMode } = { secrets: 'digests' };
    const storage = annotationsDiffBaseStorage(options);
    expect(JSON.stringify(storage.build({ body: secret() }))).not.toContain(PASSWORD);
    options.secrets = 'plain';
    expect(JSON.stringify(storage.build({ body: secret() }))).toContain(PASSWORD);
  });
});
