import { PermanentError, TemporaryError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { laggingStream } from '../support/lagging-stream.js';
import { operated } from '../support/operated.js';

const FINALIZER = 'kopf.zalando.org/KopfFinalizerMarker';
const LAST_HANDLED = 'kopf.zalando.org/last-handled-configuration';

describe('A deletion', () => {
  it('is held until the handlers are done, with retries', async () => {
    await using operator = await operated();
    const times: number[] = [];
    operator.registry.on.delete('kopfexamples', { id: 'd' }, ({ retry }) => {
      times.push(operator.clock.now());
      if (retry < 2) throw new TemporaryError('not yet', { delay: 10 });
    });
    await operator.start();
    await operator.create('name1');
    await operator.remove('name1');
    await operator.advance(15);
    expect((await operator.get('name1')).metadata?.finalizers).toEqual([FINALIZER]);
    await operator.advance(15);
    expect(times).toEqual([0, 10, 20]);
    await expect(operator.get('name1')).rejects.toMatchObject({ status: 404 });
    expect(operator.logger.messages('debug')).toContain('Removing the finalizer, thus allowing the actual deletion.');
  });

  it('is not held by those who have failed for good', async () => {
    await using operator = await operated();
    operator.registry.on.delete('kopfexamples', { id: 'd' }, () => {
      throw new PermanentError('no way');
    });
    await operator.start();
    await operator.create('name1');
    await operator.remove('name1');
    await expect(operator.get('name1')).rejects.toMatchObject({ status: 404 });
  });

  it('supersedes the creation that is not finished', async () => {
    await using operator = await operated();
    const calls: string[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => {
      calls.push('c');
      throw new TemporaryError('not yet', { delay: 10 });
    });
    operator.registry.on.delete('kopfexamples', { id: 'd' }, () => void calls.push('d'));
    await operator.start();
    await operator.create('name1');
    await operator.remove('name1');
    await operator.advance(1000);
    expect(calls).toEqual(['c', 'd']);
    expect(operator.logger.messages('info')).toContain(
      'Creation is superseded by deletion: 0 succeeded; 0 failed; 1 left to the moment.',
    );
    expect(operator.memories.size).toBe(0);
  });

  it('with all traces and the finalizer takes one patch; with the compatibility mode two, as in Kopf', async () => {
    for (const compat of [undefined, 'kopf'] as const) {
      await using operator = await operated({ settings: { persistence: { compat } } });
      operator.registry.on.delete('kopfexamples', { id: 'd' }, () => {});
      const metadata = { finalizers: [FINALIZER, 'others/one'] };
      await operator.create('name1', { metadata });
      await operator.remove('name1');
      await operator.start();
      const types = operator.patches.map(({ contentType }) => contentType);
      // It was never handled before, so there is something to remember, even now.
      expect(types).toEqual(
        compat === 'kopf'
          ? ['application/merge-patch+json', 'application/json-patch+json']
          : ['application/merge-patch+json'],
      );
      const object = await operator.get('name1');
      expect(object.metadata?.finalizers).toEqual(['others/one']);
      expect(Object.keys(object.metadata?.annotations ?? {})).toEqual([LAST_HANDLED]);
    }
  });

  it('by force, without any finalizers, is only noticed', async () => {
    const lag = laggingStream();
    await using operator = await operated({ through: lag.through });
    const calls: string[] = [];
    operator.registry.on.delete('kopfexamples', { id: 'd' }, () => void calls.push('d'));
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ type }) => void calls.push(String(type)));
    await operator.start();
    await operator.create('name1');
    lag.hold();
    await operator.edit('name1', { metadata: { finalizers: null } });
    await operator.remove('name1');
    calls.length = 0;
    operator.patches.length = 0;
    lag.release();
    await operator.advance(1000);
    expect(calls).toEqual(['MODIFIED', 'DELETED']);
    // If the first of the events is handled before the second one comes, it is tried to hold the object; no more.
    expect(operator.patches.filter(({ contentType }) => contentType !== 'application/json-patch+json')).toEqual([]);
    expect(operator.logger.messages('debug')).toContain('Deleted, really deleted, and we are notified.');
    expect(operator.logger.messages('error')).toEqual([]);
  });

  it('that begins while the finalizer is being added is not an error', async () => {
    await using operator = await operated();
    operator.registry.on.event('kopfexamples', { id: 'e' }, async ({ type }) => {
      if (type !== 'ADDED') return;
      // Just before the finalizer is sent.
      const path = '/apis/kopf.dev/v1/namespaces/default/kopfexamples/name1';
      await operator.cluster.client.request({ method: 'DELETE', path });
    });
    operator.registry.on.delete('kopfexamples', { id: 'd' }, () => {});
    await operator.start();
    await operator.create('name1', { metadata: { finalizers: ['others/one'] } });
    await operator.advance(1000);
    expect(operator.logger.messages('error')).toEqual([]);
    expect((await operator.get('name1')).metadata?.finalizers).toEqual(['others/one']);
  });

  it('of what vanishes with our own patch is followed by nothing', async () => {
    await using operator = await operated();
    const seen: string[] = [];
    operator.registry.on.delete('kopfexamples', { id: 'd' }, () => void seen.push('d'));
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ type }) => void seen.push(String(type)));
    await operator.start();
    await operator.create('name1');
    seen.length = 0;
    operator.patches.length = 0;
    await operator.remove('name1');
    await operator.advance(1000);
    expect(seen).toEqual(['MODIFIED', 'd', 'DELETED']);
    expect(operator.patches).toHaveLength(1);
    expect(operator.logger.find('Patching was skipped')).toBeUndefined();
  });
});
