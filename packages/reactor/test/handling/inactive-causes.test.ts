import type { AnyObject, KubeClient, KubeRequest, WatchEvent } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { operated } from '../support/operated.js';

const FINALIZER = 'kopf.zalando.org/KopfFinalizerMarker';
const GOODBYE = 'Deleted, really deleted, and we are notified.';
const DONE_WITH = 'Deletion, but we are done with it, and we do not care.';

/** A stream that tells the ends of objects as if they were as given. */
function endingAs(metadata: object) {
  return (client: KubeClient): KubeClient => ({
    request: (request) => client.request(request),
    async *stream<T>(request: KubeRequest) {
      for await (const line of client.stream<T>(request)) {
        const { type, object } = line as WatchEvent<AnyObject>;
        yield type === 'DELETED'
          ? ({ type, object: { ...object, metadata: { ...object.metadata, ...metadata } } } as T)
          : line;
      }
    },
  });
}

describe('An object that is gone', () => {
  it.each([
    ['in good order', {}],
    ['with our finalizer still there', { finalizers: [FINALIZER] }],
    ['with the finalizers of others still there', { finalizers: ['others/one', 'others/two'] }],
    ['after a deletion, with our finalizer', { finalizers: [FINALIZER], deletionTimestamp: '2020-01-01T00:00:00Z' }],
  ])('%s is said goodbye to, and nothing is sent, posted, or waited for', async (_what, metadata) => {
    await using operator = await operated({ through: endingAs(metadata), settings: { posting: { loggers: true } } });
    const calls: string[] = [];
    const { on } = operator.registry;
    on.create('kopfexamples', { id: 'c' }, () => void calls.push('c'));
    on.update('kopfexamples', { id: 'u' }, () => void calls.push('u'));
    on.delete('kopfexamples', { id: 'd', labels: { held: 'yes' } }, () => void calls.push('d'));
    await operator.start();
    await operator.create('name1');
    expect(calls.splice(0)).toEqual(['c']);
    operator.patches.length = 0;
    operator.logger.clear();
    operator.events.length = 0;
    const sleepers = operator.clock.sleepers;

    await operator.remove('name1');
    expect(operator.logger.messages()).toEqual([GOODBYE]);
    expect(operator.clock.sleepers).toBeLessThanOrEqual(sleepers);
    await operator.advance(1000);
    expect(operator.logger.messages().filter((line) => line.startsWith('Deleted'))).toEqual([GOODBYE]);
    expect([operator.patches, operator.events, calls]).toEqual([[], [], []]);
  });
});

describe('An object that is being deleted, and is held only by others,', () => {
  it.each([false, true])('is left alone; noticed at the start: %s', async (isListed) => {
    await using operator = await operated();
    const calls: string[] = [];
    const { on } = operator.registry;
    on.create('kopfexamples', { id: 'c' }, () => void calls.push('c'));
    on.update('kopfexamples', { id: 'u' }, () => void calls.push('u'));
    on.resume('kopfexamples', { id: 'r' }, () => void calls.push('r'));
    on.delete('kopfexamples', { id: 'd', optional: true }, () => void calls.push('d'));
    if (!isListed) await operator.start();
    await operator.create('name1', { metadata: { finalizers: ['others/one'] }, spec: { field: 'v' } });
    calls.length = 0;
    operator.patches.length = 0;
    operator.logger.clear();

    await operator.remove('name1');
    if (isListed) await operator.start();
    expect(operator.logger.messages()).toContain(DONE_WITH);
    await operator.edit('name1', { spec: { field: 'w' } });
    await operator.advance(1000);
    expect([operator.patches, operator.events, calls]).toEqual([[], [], []]);
    expect(operator.logger.find('in progress')).toBeUndefined();
    expect((await operator.get('name1')).metadata?.finalizers).toEqual(['others/one']);
  });
});
