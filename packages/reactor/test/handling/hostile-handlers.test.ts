/** Handlers that ask for what cannot be had: it is their own loss, and nobody else suffers. */
import {
  ApiError,
  allAtOnce,
  type KubeClient,
  type KubeRequest,
  oneByOne,
  type Patch,
  TemporaryError,
} from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { type Operated, type OperatedOptions, operated } from '../support/operated.js';

const LAST_HANDLED = 'kopf.zalando.org/last-handled-configuration';
const PREFIX = 'kopf.zalando.org/';

const marksOf = async (operator: Operated, name = 'name1') =>
  Object.keys((await operator.get(name)).metadata?.annotations ?? {}).filter((key) => key.startsWith(PREFIX));

describe('An object that others change all the time', () => {
  it.each<[string, OperatedOptions]>([
    ['by default', {}],
    ['one by one', { lifecycle: oneByOne }],
  ])('starves no handler (%s), and all is handled when it is left alone', async (_title, options) => {
    await using operator = await operated(options);
    const calls: string[] = [];
    for (const id of ['c1', 'c2', 'c3']) {
      operator.registry.on.create('kopfexamples', { id }, async ({ signal }) => {
        calls.push(id);
        await operator.clock.sleep(0.5, { signal });
      });
    }
    await operator.start();
    await operator.create('name1');
    for (let beat = 0; beat < 60; beat++) {
      await operator.edit('name1', { metadata: { annotations: { 'example.com/heartbeat': `${beat}` } } });
      await operator.advance(0.35);
    }
    const counts = ['c1', 'c2', 'c3'].map((id) => calls.filter((call) => call === id).length);
    expect(Math.min(...counts)).toBeGreaterThan(5);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
    await operator.advance(10);
    expect(await marksOf(operator)).toEqual([LAST_HANDLED]);
  });
});

describe('A handler that writes what is not its own', () => {
  it.each<[string, (patch: Patch, before: object) => void]>([
    ['a version', (patch) => void Object.assign(patch.metadata, { resourceVersion: '1' })],
    ['a uid', (patch) => void Object.assign(patch.metadata, { uid: 'abc' })],
    ['an old copy of the metadata', (patch, before) => patch.fns.push((body) => void Object.assign(body, before))],
    [
      'a uid by a function',
      (patch) => patch.fns.push((body) => void Object.assign(body.metadata ?? {}, { uid: 'abc' })),
    ],
  ])('(%s) stops nothing: the object is handled, and can be deleted', async (_what, spoil) => {
    await using operator = await operated();
    const calls: string[] = [];
    let before: object = {};
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ body, patch, retry }) => {
      calls.push(`c ${retry}`);
      if (retry === 0) {
        before = { metadata: structuredClone(body.metadata) };
        throw new TemporaryError('not yet', { delay: 1 });
      }
      spoil(patch as Patch, before);
      patch.spec['good'] = 'yes';
    });
    operator.registry.on.delete('kopfexamples', { id: 'd' }, () => void calls.push('d'));
    await operator.start();
    await operator.create('name1');
    await operator.advance(100);
    expect(calls).toEqual(['c 0', 'c 1']);
    expect((await operator.get('name1'))['spec']).toMatchObject({ good: 'yes' });
    await operator.remove('name1');
    await operator.advance(10);
    expect(calls).toEqual(['c 0', 'c 1', 'd']);
    expect(operator.memories.size).toBe(0);
  });

  it('by a function that makes a cycle loses only that', async () => {
    await using operator = await operated();
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ patch }) => {
      patch.spec['good'] = 'yes';
      patch.fns.push((body) => {
        body['spec'].self = body['spec'];
      });
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(100);
    expect((await operator.get('name1'))['spec']).toEqual({ field: 'v', good: 'yes' });
    expect(await marksOf(operator)).toEqual([LAST_HANDLED]);
  });
});

describe('Of two handlers called together', () => {
  it.each<[string, (patch: Patch) => void]>([
    ['a big integer', (patch) => void Object.assign(patch.spec, { odd: 10n })],
    [
      'an annotation that is too long',
      (patch) => void Object.assign(patch.metadata.annotations, { 'example.com/odd': 'v'.repeat(300_000) }),
    ],
    ['a field that is too large', (patch) => void Object.assign(patch.spec, { odd: 'y'.repeat(2_000_000) })],
  ])('the one with %s takes with it neither the records nor what the other wants', async (_what, spoil) => {
    await using operator = await operated({ lifecycle: allAtOnce });
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'odd' }, ({ patch }) => {
      calls.push('odd');
      spoil(patch as Patch);
    });
    operator.registry.on.create('kopfexamples', { id: 'good' }, ({ patch }) => {
      calls.push('good');
      patch.spec['good'] = 'yes';
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(1000);
    expect(calls).toEqual(['odd', 'good']);
    expect(await marksOf(operator)).toEqual([LAST_HANDLED]);
    expect((await operator.get('name1'))['spec']).toMatchObject({ good: 'yes' });
    expect(operator.logger.messages('error').join()).toMatch(/spec\.odd|example\.com\/odd/);
  });

  it('the one with endless error messages leaves room for the other', async () => {
    await using operator = await operated({ lifecycle: allAtOnce });
    for (const id of ['e1', 'e2', 'e3']) {
      operator.registry.on.create('kopfexamples', { id, retries: 2, backoff: 1 }, () => {
        throw new Error('z'.repeat(150_000));
      });
    }
    operator.registry.on.create('kopfexamples', { id: 'good' }, ({ patch }) => {
      patch.spec['good'] = 'yes';
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(1000);
    expect((await operator.get('name1'))['spec']).toMatchObject({ good: 'yes' });
    expect(await marksOf(operator)).toEqual([LAST_HANDLED]);
  });

  it('only the one with the bad label fails, though the server names nothing but the labels', async () => {
    await using operator = await operated({ lifecycle: allAtOnce });
    operator.registry.on.create('kopfexamples', { id: 'odd', retries: 1 }, ({ patch }) => {
      patch.metadata.labels['bad key'] = 'x';
    });
    operator.registry.on.create('kopfexamples', { id: 'good', errors: 'permanent' }, ({ patch }) => {
      patch.metadata.labels['good'] = 'yes';
    });
    await operator.start();
    await operator.create('name1');
    await operator.advance(1000);
    expect((await operator.get('name1')).metadata?.labels).toEqual({ good: 'yes' });
    expect(operator.logger.messages('error').join()).not.toContain("'good'");
  });
});

describe('A cluster that does not let go of an object for a while', () => {
  it('is not the fault of the deletion handler: it is not called again', async () => {
    let isLocked = true;
    const through = (client: KubeClient): KubeClient => ({
      stream: (request) => client.stream(request),
      async request<T>(request: KubeRequest): Promise<T> {
        const text = JSON.stringify(request.body ?? {});
        const isRelease =
          request.method === 'PATCH' && /"finalizers":(null|\[\])|"remove","path":"\/metadata\/finalizers/.test(text);
        if (isLocked && isRelease) {
          const message =
            "ValidatingAdmissionPolicy 'x' with binding 'y' denied request: finalizers may not be removed";
          throw new ApiError({ status: 422, payload: { kind: 'Status', message } });
        }
        return await client.request<T>(request);
      },
    });
    await using operator = await operated({ through });
    const calls: string[] = [];
    operator.registry.on.delete('kopfexamples', { id: 'd', backoff: 1 }, ({ patch }) => {
      calls.push('d');
      patch.status['deleting'] = 1;
    });
    await operator.start();
    await operator.create('name1');
    await operator.remove('name1');
    await operator.advance(20);
    isLocked = false;
    await operator.advance(30);
    expect(calls).toEqual(['d']);
    expect(operator.memories.size).toBe(0);
  });
});
