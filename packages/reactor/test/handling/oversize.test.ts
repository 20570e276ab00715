import { randomBytes } from 'node:crypto';
import { ApiError } from '@kopf-ts/core';
import { isTooLarge } from '@kopf-ts/core/engine';
import { describe, expect, it } from 'vitest';
import { type Operated, operated } from '../support/operated.js';

const PREFIX = 'kopf.zalando.org';
const LAST_HANDLED = `${PREFIX}/last-handled-configuration`;
const ETCD_LIMIT = 1.5 * 1024 * 1024;

const incompressible = (size: number) => randomBytes(size).toString('base64').slice(0, size);
const annotationsOf = async (operator: Operated) => (await operator.get('name1')).metadata?.annotations ?? {};

const THE_END = /^(Handling cycle is finished|Deleted, really deleted)/;

/** Compression is done aside, in its own time; everything else has to wait for it. Tells of which errors it was told. */
async function after(operator: Operated, action: Promise<unknown>): Promise<string[]> {
  operator.logger.clear();
  await action;
  const isFinished = (): boolean => THE_END.test(operator.logger.messages().at(-1) ?? '');
  for (let turn = 0; turn < 5000 && !isFinished(); turn++) await operator.settle();
  expect(isFinished()).toBe(true);
  await operator.advance(10_000);
  return operator.logger.messages('error');
}

async function withHandlers(): Promise<{ operator: Operated; calls: string[] }> {
  const operator = await operated();
  const calls: string[] = [];
  operator.registry.on.create('kopfexamples', { id: 'c1' }, () => {
    calls.push('c1');
    return 'created';
  });
  operator.registry.on.create('kopfexamples', { id: 'c2' }, () => void calls.push('c2'));
  operator.registry.on.update('kopfexamples', { id: 'u' }, ({ old, diff }) => {
    calls.push(
      `u ${old === undefined ? 'without' : 'with'} old, ${JSON.stringify(diff.map(([op, path]) => [op, path]))}`,
    );
  });
  await operator.start();
  return { operator, calls };
}

describe('A spec of', () => {
  it('280 KB is remembered in a compressed form', async () => {
    const { operator, calls } = await withHandlers();
    await using _ = operator;
    const spec = { text: 'x'.repeat(280_000), field: 'v' };
    expect(await after(operator, operator.create('name1', { spec }))).toEqual([]);
    expect(calls).toEqual(['c1', 'c2']);
    expect(Object.keys(await annotationsOf(operator))).toEqual([`${LAST_HANDLED}-gzip`]);
    expect(await after(operator, operator.edit('name1', { spec: { field: 'w' } }))).toEqual([]);
    expect(await after(operator, operator.edit('name1', { status: { irrelevant: true } }))).toEqual([]);
    expect(calls.slice(2)).toEqual(['u with old, [["change",["spec","field"]]]']);
    expect((await operator.get('name1')).status).toMatchObject({ c1: 'created' });
  });

  it('900 KB, which cannot be compressed, is remembered by its digest', async () => {
    const { operator, calls } = await withHandlers();
    await using _ = operator;
    const spec = { text: incompressible(900_000), field: 'v' };
    expect(await after(operator, operator.create('name1', { spec }))).toEqual([]);
    expect(calls).toEqual(['c1', 'c2']);
    expect(Object.keys(await annotationsOf(operator))).toEqual([`${LAST_HANDLED}-digest`]);
    expect(await after(operator, operator.edit('name1', { status: { irrelevant: true } }))).toEqual([]);
    expect(calls).toHaveLength(2);
    expect(await after(operator, operator.edit('name1', { spec: { field: 'w' } }))).toEqual([]);
    expect(calls.slice(2)).toEqual(['u without old, [["change",[]]]']);
    expect(await after(operator, operator.edit('name1', { spec: { text: null } }))).toEqual([]);
    expect(await annotationsOf(operator)).toEqual({ [LAST_HANDLED]: '{"spec":{"field":"w"}}\n' });
    expect(calls).toHaveLength(4);
  });
});

describe('An object with so little room that', () => {
  /** Of an object whose other parts leave so many bytes of what etcd takes. */
  const specWithRoom = (room: number) => ({ text: incompressible(ETCD_LIMIT - 250 - room), field: 'v' });

  it('nothing fits is handled once, while the operator lives', async () => {
    const { operator, calls } = await withHandlers();
    await using _ = operator;
    expect(await after(operator, operator.create('name1', { spec: specWithRoom(50) }))).toEqual([
      'The object is too large to be patched. Only the progress is stored; this is dropped: status.c1.',
      expect.stringMatching(/^The object is too large for the progress of its handlers, which is kept only while/),
    ]);
    expect(calls).toEqual(['c1', 'c2']);
    expect(await annotationsOf(operator)).toEqual({});
    const before = operator.patches.length;
    expect(await after(operator, operator.edit('name1', { spec: { field: 'w' } }))).toEqual([]);
    expect(calls.slice(2)).toEqual(['u without old, [["change",[]]]']);
    expect(operator.patches.length - before).toBeLessThan(5);
    // It is stored as soon as there is room for it.
    expect(await after(operator, operator.edit('name1', { spec: { text: null } }))).toEqual([]);
    expect(calls).toHaveLength(4);
    expect(await annotationsOf(operator)).toEqual({ [LAST_HANDLED]: '{"spec":{"field":"w"}}\n' });
  });

  it('only the digest fits, keeps the results', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c1' }, () => {
      calls.push('c1');
      return 'created';
    });
    await operator.start();
    const data = incompressible(ETCD_LIMIT - 100_500);
    const fields = { status: { data }, spec: { text: incompressible(99_000) } };
    expect(await after(operator, operator.create('name1', fields))).toEqual([]);
    expect(calls).toEqual(['c1']);
    expect(Object.keys(await annotationsOf(operator))).toEqual([`${LAST_HANDLED}-digest`]);
    expect((await operator.get('name1')).status).toMatchObject({ c1: 'created' });
  });

  it('the finalizer does not fit, is handled without it', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c1' }, () => void calls.push('c1'));
    operator.registry.on.delete('kopfexamples', { id: 'd' }, () => void calls.push('d'));
    await operator.start();
    expect(await after(operator, operator.create('name1', { spec: specWithRoom(30) }))).toHaveLength(1);
    expect(calls).toEqual(['c1']);
    expect((await operator.get('name1')).metadata?.finalizers).toBeUndefined();
    // When there is room, there is a finalizer.
    expect(await after(operator, operator.edit('name1', { spec: { text: 'short' } }))).toEqual([]);
    expect((await operator.get('name1')).metadata?.finalizers).toHaveLength(1);
    expect(await after(operator, operator.remove('name1'))).toEqual([]);
    expect(calls).toEqual(['c1', 'd']);
  });

  it('the traces of a deletion do not fit, is released all the same', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.delete('kopfexamples', { id: 'd' }, () => void calls.push('d'));
    const finalizers = [`${PREFIX}/KopfFinalizerMarker`, 'others/finalizer'];
    await operator.create('name1', { metadata: { finalizers }, spec: specWithRoom(260) });
    await operator.remove('name1');
    await after(operator, operator.start());
    expect(calls).toEqual(['d']);
    expect((await operator.get('name1')).metadata?.finalizers).toEqual(['others/finalizer']);
  });
});

describe('A result of 2 MB', () => {
  it.each([false, true])(
    'is dropped, and the handler is not called again (a status subresource: %s)',
    async (status) => {
      await using operator = await operated({ status });
      const calls: string[] = [];
      operator.registry.on.create('kopfexamples', { id: 'c1' }, () => {
        calls.push('c1');
        return { data: 'x'.repeat(2_000_000) };
      });
      operator.registry.on.create('kopfexamples', { id: 'c2' }, () => {
        calls.push('c2');
        return 'small';
      });
      await operator.start();
      expect(await after(operator, operator.create('name1'))).toEqual([
        'The object is too large to be patched. Only the progress is stored; this is dropped: status.c1.',
      ]);
      expect(calls).toEqual(['c1', 'c2']);
      const object = await operator.get('name1');
      expect(object.status).toEqual({ c2: 'small' });
      expect(object.metadata?.annotations).toEqual({ [LAST_HANDLED]: '{"spec":{"field":"v"}}\n' });
    },
  );
});

describe('What the API server says of what is too large', () => {
  const tooLong = { reason: 'FieldValueTooLong', message: 'Too long: may not be more than 262144 bytes' };
  it.each([
    [500, { message: 'etcdserver: request is too large' }, true],
    [500, { message: 'rpc error: trying to send message larger than max (2097279 vs. 2097152)' }, true],
    [413, { message: 'Request entity too large: limit is 3145728', reason: 'RequestEntityTooLarge' }, true],
    [422, { message: '…', details: { causes: [{ ...tooLong, field: 'metadata.annotations' }] } }, true],
    [422, { message: '…', details: { causes: [{ ...tooLong, field: 'spec.name' }] } }, false],
    [422, { message: 'spec.list: Too long' }, false],
    [500, { message: 'internal error' }, false],
    [409, { message: 'request is too large' }, false],
  ])('%i %j: %s', (status, answer, expected) => {
    expect(isTooLarge(new ApiError({ status, payload: { kind: 'Status', ...answer } }))).toBe(expected);
  });

  it('is not what a broken connection says', () => {
    expect(isTooLarge(new Error('request is too large'))).toBe(false);
  });
});
