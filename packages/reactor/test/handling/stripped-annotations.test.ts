import { TemporaryError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { laggingStream } from '../support/lagging-stream.js';
import { type Operated, operated } from '../support/operated.js';

const LAST_HANDLED = 'kopf.zalando.org/last-handled-configuration';

/** As `kubectl replace` does: all that is not in the file, is gone. */
async function replace({ cluster, settle, get }: Operated, spec: object): Promise<void> {
  const path = '/apis/kopf.dev/v1/namespaces/default/kopfexamples/name1';
  const { resourceVersion } = (await get('name1')).metadata ?? {};
  const metadata = { name: 'name1', resourceVersion };
  const body = { apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata, spec };
  await cluster.client.request({ method: 'PUT', path, body });
  await settle();
}

async function handled(options: Parameters<typeof operated>[0] = {}) {
  const operator = await operated(options);
  const calls: unknown[] = [];
  operator.registry.on.create('kopfexamples', { id: 'c' }, () => void calls.push('c'));
  operator.registry.on.update('kopfexamples', { id: 'u' }, ({ diff }) => void calls.push(['u', diff]));
  operator.registry.on.delete('kopfexamples', { id: 'd' }, () => void calls.push('d'));
  await operator.start();
  await operator.create('name1');
  calls.length = 0;
  operator.patches.length = 0;
  operator.logger.clear();
  return { operator, calls };
}

describe('A replaced object, without the annotations and finalizers that it had,', () => {
  it('is updated, and not created again', async () => {
    const { operator, calls } = await handled();
    await using _ = operator;
    await replace(operator, { field: 'w' });
    await operator.advance(100);
    expect(calls).toEqual([['u', [['change', ['spec', 'field'], 'v', 'w']]]]);
    const { metadata } = await operator.get('name1');
    expect(metadata?.annotations).toEqual({ [LAST_HANDLED]: '{"spec":{"field":"w"}}\n' });
    expect(metadata?.finalizers).toHaveLength(1);
    expect(operator.logger.messages('info')).toContain(
      'The last handled state was removed from the object by someone else. It is restored.',
    );
  });

  it('is only restored, if nothing else was changed', async () => {
    const { operator, calls } = await handled();
    await using _ = operator;
    await replace(operator, { field: 'v' });
    await operator.advance(100);
    expect(calls).toEqual([]);
    expect((await operator.get('name1')).metadata?.annotations).toEqual({
      [LAST_HANDLED]: '{"spec":{"field":"v"}}\n',
    });
    // The finalizer and the state together.
    expect(operator.patches).toHaveLength(1);
  });

  it('is reported once, then once as a habit, and then not any more', async () => {
    const { operator, calls } = await handled();
    await using _ = operator;
    for (let index = 0; index < 10; index++) await replace(operator, { field: `v${index}` });
    expect(calls).toHaveLength(10);
    expect(operator.logger.messages('info').filter((line) => line.includes('removed from the object'))).toHaveLength(1);
    expect(operator.logger.messages('warn').filter((line) => line.includes('keeps removing'))).toHaveLength(1);
  });

  it('is created again with the compatibility mode, as in Kopf', async () => {
    const { operator, calls } = await handled({ settings: { persistence: { compat: 'kopf' } } });
    await using _ = operator;
    await replace(operator, { field: 'w' });
    await operator.advance(100);
    expect(calls).toEqual(['c']);
  });

  it('can be deleted as any other', async () => {
    const { operator, calls } = await handled();
    await using _ = operator;
    await replace(operator, { field: 'v' });
    await operator.remove('name1');
    await operator.advance(100);
    expect(calls).toEqual(['d']);
    expect(operator.memories.size).toBe(0);
    expect(operator.logger.messages('error')).toEqual([]);
  });

  it('in the middle of an update is updated to the end', async () => {
    await using operator = await operated();
    const calls: unknown[] = [];
    operator.registry.on.update('kopfexamples', { id: 'u' }, ({ spec, retry }) => {
      calls.push([spec['field'], retry]);
      if (retry === 0) throw new TemporaryError('not yet', { delay: 10 });
    });
    await operator.start();
    await operator.create('name1', { spec: { field: 1 } });
    await operator.edit('name1', { spec: { field: 2 } });
    await replace(operator, { field: 3 });
    await operator.advance(100);
    expect(calls.at(-1)).toEqual([3, 1]);
    expect((await operator.get('name1')).metadata?.annotations).toEqual({ [LAST_HANDLED]: '{"spec":{"field":3}}\n' });
  });

  it.each([false, true])(
    'is no news of an object that is gone, or is being deleted (held by others: %s)',
    async (isHeld) => {
      const stream = laggingStream();
      await using operator = await operated({ through: stream.through });
      operator.registry.on.create('kopfexamples', { id: 'c' }, () => {});
      await operator.start();
      const finalizers = isHeld ? ['others/finalizer'] : [];
      await operator.create('name1', { metadata: { finalizers }, spec: { field: 'v' } });
      stream.hold();
      await operator.edit('name1', { metadata: { annotations: null } });
      await operator.remove('name1');
      stream.release();
      await operator.advance(100);
      if (isHeld) await operator.edit('name1', { metadata: { finalizers: null } });
      await operator.advance(100);
      expect(operator.memories.size).toBe(0);
      const told = operator.logger.messages('info').filter((line) => line.includes('was removed from the object'));
      // Only of the state in between, if that was seen at all.
      expect(told.length).toBeLessThanOrEqual(1);
    },
  );
});
