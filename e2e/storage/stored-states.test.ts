import { randomBytes } from 'node:crypto';
import type { HttpKubeClient } from '@kopf-ts/client';
import {
  type AnyObject,
  ApiUnprocessableError,
  type Body,
  type DiffBaseStorage,
  type Essence,
  isDigestOnly,
  Patch,
  type ProgressRecord,
  type ProgressStorage,
  type Resource,
} from '@kopf-ts/core';
import { patchObject } from '@kopf-ts/core/engine';
import {
  annotationsDiffBaseStorage,
  annotationsProgressStorage,
  smartProgressStorage,
  statusDiffBaseStorage,
  statusProgressStorage,
} from '@kopf-ts/storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientOf } from '../support/client.js';
import { createThing, getObject, newKind, newNamespace } from '../support/objects.js';
import { type PythonKopf, pythonKopf } from '../support/python-kopf.js';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';

const record: ProgressRecord = {
  started: '2020-12-31T23:59:59.123456+00:00',
  delayed: '2021-01-01T00:01:00.000000+00:00',
  purpose: 'create',
  retries: 3,
  success: false,
  failure: false,
  message: '"é"\n\\ 漢😀/\u007f',
  subrefs: ['fn/a', 'fn/b'],
};

describeOnRealCluster('what is stored on objects of a real cluster', () => {
  let client: HttpKubeClient;
  let namespace: string;
  let things: Resource;

  beforeAll(async () => {
    client = clientOf(realCluster());
    [namespace, things] = await Promise.all([newNamespace(client), newKind(client)]);
  });
  afterAll(() => client?.close());

  let count = 0;
  const create = (body: AnyObject = {}): Promise<AnyObject> => {
    count += 1;
    return createThing(client, things, namespace, `thing-${count}`, { spec: { field: 'value' }, ...body });
  };
  /** Sends the patch, and gives the object as anybody can read it afterwards. */
  const send = async (body: Body, patch: Patch): Promise<AnyObject> => {
    const name = body.metadata?.name ?? '';
    await patchObject(client, things, { namespace, name, patch, body });
    return getObject(client, things, namespace, name);
  };
  const annotationsOf = (body: Body) => body.metadata?.annotations ?? {};

  describe('the keys', () => {
    const x = (length: number) => 'x'.repeat(length);
    const prefixes = ['kopf.zalando.org', 'my-operator.example.com', `${x(60)}.example.com`];
    const ids = [
      'create_fn',
      'create_fn/spec.field',
      'a_b.c-d/e',
      'create_fn.<locals>.inner/sub',
      ...[46, 47, 63, 64, 300].map(x),
      `create_fn/${'s'.repeat(40)}`,
      `create_fn/${'s'.repeat(60)}`,
      'fn'.repeat(323),
    ];

    it.each(prefixes.slice(0, 2).flatMap((prefix) => ids.map((id) => [prefix, id] as const)))(
      'of %s are accepted for %s',
      async (prefix, key) => {
        const storage = annotationsProgressStorage({ prefix });
        const body = await create();
        const patch = new Patch();
        await storage.store({ key, record, body, patch });
        const stored = await send(body, patch);
        expect(await storage.fetch({ key, body: stored })).toEqual(record);
      },
    );

    it('of the current format alone are accepted where the older ones have no room', async () => {
      const [, , prefix = ''] = prefixes;
      const storage = annotationsProgressStorage({ prefix, v1: false });
      const body = await create();
      const patch = new Patch();
      await storage.store({ key: x(64), record, body, patch });
      const stored = await send(body, patch);
      expect(await storage.fetch({ key: x(64), body: stored })).toEqual(record);
    });

    it.each(['lambda:/app/handlers.py:42', 'Ä'.repeat(64)])('are refused for %s, as those of Kopf are', async (key) => {
      const body = await create();
      const patch = new Patch();
      await annotationsProgressStorage().store({ key, record, body, patch });
      await expect(send(body, patch)).rejects.toThrow(ApiUnprocessableError);
    });
  });

  it('is marked for other operators, if the prefix is not the default one', async () => {
    const body = await create();
    const patch = new Patch();
    await annotationsProgressStorage({ prefix: 'my-operator.example.com' }).store({ key: 'fn', record, body, patch });
    const stored = await send(body, patch);
    expect(annotationsOf(stored)).toMatchObject({ 'my-operator.example.com/kopf-managed': 'yes' });
    // Another operator must not take it for a change made by the user.
    const others = annotationsDiffBaseStorage({ prefix: 'other.example.com' });
    expect(others.build({ body: stored })).toEqual(others.build({ body }));
  });

  it('is removed without a trace', async () => {
    const storage = annotationsProgressStorage();
    const body = await create();
    const [storing, purging] = [new Patch(), new Patch()];
    await storage.store({ key: 'fn', record, body, patch: storing });
    const stored = await send(body, storing);
    await storage.purge({ key: 'fn', body: stored, patch: purging });
    expect(annotationsOf(await send(stored, purging))).toEqual({});
  });

  it('can be in the status, where the schema permits anything', async () => {
    const [progress, diffBase] = [statusProgressStorage(), statusDiffBaseStorage()];
    const body = await create();
    const patch = new Patch();
    const essence = diffBase.build({ body });
    await progress.store({ key: 'fn/sub.field', record, body, patch });
    await diffBase.store({ essence, body, patch });
    const stored = await send(body, patch);
    expect(await progress.fetch({ key: 'fn/sub.field', body: stored })).toMatchObject(record);
    expect(await diffBase.fetch({ body: stored })).toEqual(essence);
    expect(progress.clear(diffBase.build({ body: stored }))).toEqual(essence);
  });

  describe('the last handled state of a big object', () => {
    const size = 280_000;
    const storeEssence = async (storage: DiffBaseStorage, body: Body) => {
      const essence = storage.build({ body });
      const patch = new Patch();
      await storage.store({ essence, body, patch });
      return { essence, patch };
    };

    it('does not fit as Kopf would write it', async () => {
      const body = await create({ spec: { text: 'lorem ipsum '.repeat(size / 12) } });
      const { patch } = await storeEssence(annotationsDiffBaseStorage({ compat: 'kopf' }), body);
      await expect(send(body, patch)).rejects.toThrow(/annotations.*Too long/);
    });

    it('fits when compressed, and is read back in full', async () => {
      const body = await create({ spec: { text: 'lorem ipsum '.repeat(size / 12) } });
      const storage = annotationsDiffBaseStorage();
      const { essence, patch } = await storeEssence(storage, body);
      const stored = await send(body, patch);
      expect(Object.keys(annotationsOf(stored))).toEqual(['kopf.zalando.org/last-handled-configuration-gzip']);
      expect(await storage.fetch({ body: stored })).toEqual(essence);
    });

    it('fits as a digest when it cannot be compressed', async () => {
      const body = await create({ spec: { text: randomBytes(size).toString('base64') } });
      const storage = annotationsDiffBaseStorage();
      const { patch } = await storeEssence(storage, body);
      const stored = await send(body, patch);
      expect(Object.keys(annotationsOf(stored))).toEqual(['kopf.zalando.org/last-handled-configuration-digest']);
      const fetched = await storage.fetch({ body: stored });
      expect(fetched !== undefined && isDigestOnly(fetched)).toBe(true);
    });

    it('leaves room for the progress of handlers', async () => {
      // Of such a size that it fits, and not much besides it.
      const body = await create({ spec: { text: randomBytes(90_000).toString('base64') } });
      const storage = annotationsDiffBaseStorage();
      const stored = await send(body, (await storeEssence(storage, body)).patch);
      const patch = new Patch();
      const ids = Array.from({ length: 10 }, (_, index) => `${'long-id-'.repeat(10)}${index}`);
      for (const key of ids) await annotationsProgressStorage().store({ key, record, body: stored, patch });
      const progressing = await send(stored, patch);
      expect(Object.keys(annotationsOf(progressing)).length).toBe(1 + 2 * ids.length);
    });
  });

  describe('is understood by Kopf itself, and the other way round', () => {
    let kopf: PythonKopf = { kind: 'unavailable', reason: 'not looked for yet' };

    beforeAll(async () => {
      kopf = await pythonKopf();
    });

    const keys = ['fn', 'fn/spec.field', `fn/${'s'.repeat(60)}`];
    const prefix = 'my-operator.example.com';
    const storages: [string, string, object, ProgressStorage, DiffBaseStorage][] = [
      ['annotations', 'annotations', {}, annotationsProgressStorage(), annotationsDiffBaseStorage()],
      [
        'annotations with a prefix',
        'annotations',
        { prefix },
        annotationsProgressStorage({ prefix }),
        annotationsDiffBaseStorage({ prefix }),
      ],
      ['the status', 'status', {}, statusProgressStorage(), statusDiffBaseStorage()],
      ['smart storages', 'smart', {}, smartProgressStorage(), annotationsDiffBaseStorage()],
    ];
    const spec = { text: 'é漢😀', number: 1.5, list: [1, null, { a: [] }], nothing: null, yes: true };
    const metadata = { labels: { label: 'value' }, annotations: { note: 'value', empty: '' } };

    it.for(storages)('in %s: Kopf reads what we write', async ([, storage, options, progress, diffBase], { skip }) => {
      if (kopf.kind === 'unavailable') skip(kopf.reason);
      const body = await create({ spec, metadata });
      const patch = new Patch();
      const essence = progress.clear(diffBase.build({ body }));
      for (const key of keys)
        await progress.store({
          key,
          record: { ...record, digest: 'ours', token: '42', result: '{"id":1}' },
          body,
          patch,
        });
      await diffBase.store({ essence, body, patch });
      const stored = await send(body, patch);

      const answer = await asked({ action: 'fetch', storage, options, keys, body: stored });
      for (const key of keys) expect(answer.records?.[key]).toMatchObject(record);
      expect(answer.essence).toEqual(essence);
      // And it sees no change in the object since then.
      expect(answer.current).toEqual(essence);
    });

    /** An object whose state is stored as handled. */
    async function handledObject(progress: ProgressStorage, diffBase: DiffBaseStorage) {
      const body = await create({ spec, metadata });
      const patch = new Patch();
      const essence = progress.clear(diffBase.build({ body }));
      await diffBase.store({ essence, body, patch });
      return { handled: await send(body, patch), essence };
    }

    it.for(storages)(
      'in %s: a digest of children is no change of the object, for Kopf either',
      async ([, storage, options, progress, diffBase], { skip }) => {
        if (kopf.kind === 'unavailable') skip(kopf.reason);
        const { handled, essence } = await handledObject(progress, diffBase);
        const marks = new Patch();
        const digest = { success: true, purpose: 'children', digest: '0123456789abcdef' };
        await progress.store({ key: 'children/count', record: digest, body: handled, patch: marks });
        const stored = await send(handled, marks);
        expect(stored.metadata?.resourceVersion).not.toBe(handled.metadata?.resourceVersion);
        expect(await progress.fetch({ key: 'children/count', body: stored })).toMatchObject(digest);
        const answer = await asked({ action: 'fetch', storage, options, keys: ['count'], body: stored });
        expect(answer.current).toEqual(essence);
        expect(answer.essence).toEqual(essence);
        // It is nobody's progress there.
        expect(answer.records).toEqual({ count: null });
      },
    );

    it.for(storages)(
      'in %s: a pause and a trace are no change of the object, for Kopf either',
      async ([, storage, options, progress, diffBase], { skip }) => {
        if (kopf.kind === 'unavailable') skip(kopf.reason);
        const { handled, essence } = await handledObject(progress, diffBase);
        const marks = new Patch();
        marks.meta.annotations['kopf.zalando.org/paused-until'] = '2030-12-31T23:59:59Z';
        marks.meta.annotations['kopf.zalando.org/traceparent'] = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
        const stored = await send(handled, marks);
        expect(Object.keys(annotationsOf(stored))).toContain('kopf.zalando.org/paused-until');
        const answer = await asked({
          action: 'fetch',
          storage,
          options,
          keys: ['fn'],
          body: stored,
        });
        expect(answer.current).toEqual(essence);
        expect(answer.essence).toEqual(essence);
        expect(progress.clear(diffBase.build({ body: stored }))).toEqual(essence);
      },
    );

    it.for(storages)('in %s: we read what Kopf writes', async ([, storage, options, progress, diffBase], { skip }) => {
      if (kopf.kind === 'unavailable') skip(kopf.reason);
      const body = await create({ spec, metadata });
      const records = Object.fromEntries(keys.map((key) => [key, record]));
      const answer = await asked({ action: 'store', storage, options, records, body });
      const stored = await send(body, new Patch(answer.patch));

      for (const key of keys) expect(await progress.fetch({ key, body: stored })).toMatchObject(record);
      expect(await diffBase.fetch({ body: stored })).toEqual(answer.essence);
      expect(progress.clear(diffBase.build({ body: stored }))).toEqual(answer.essence);
    });

    it.for(storages)(
      'in %s: Kopf keeps what it knows when it goes on, and the rest is lost',
      async (stored, { skip }) => {
        if (kopf.kind === 'unavailable') skip(kopf.reason);
        const [, storage, options, progress] = stored;
        const body = await create({ spec, metadata });
        const patch = new Patch();
        const extended = { ...record, digest: 'ours', token: '42', result: '{"id":1}' };
        await progress.store({ key: 'fn/one', record: extended, body, patch });
        const before = await send(body, patch);
        expect(await progress.fetch({ key: 'fn/one', body: before })).toEqual(extended);
        const answer = await asked({ action: 'retry', storage, options, keys: ['fn/one'], body: before });
        const after = await progress.fetch({ key: 'fn/one', body: await send(before, new Patch(answer.patch)) });
        expect(after).toMatchObject({ started: record.started, retries: 4, success: true, subrefs: record.subrefs });
        // By this, the operator knows that the step is to be done again. In a status, it stays as it is.
        expect(after?.result).toBe(storage === 'status' ? '{"id":1}' : undefined);
      },
    );

    interface Answer {
      readonly records?: Record<string, ProgressRecord | null>;
      readonly essence?: Essence;
      readonly current?: Essence;
      readonly patch?: Record<string, unknown>;
    }

    const asked = async (request: object): Promise<Answer> => {
      if (kopf.kind === 'unavailable') throw new Error(kopf.reason);
      return (await kopf.ask(request)) as Answer;
    };
  });
});
