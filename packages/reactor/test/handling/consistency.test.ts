import type { AnyObject, KubeClient, KubeRequest } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { laggingStream } from '../support/lagging-stream.js';
import { operated } from '../support/operated.js';

describe('While the stream lags behind our own patches', () => {
  it('the answers are gone on with at once, and what comes late is nothing new', async () => {
    const lag = laggingStream();
    await using operator = await operated({ through: lag.through });
    const calls: unknown[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c1' }, () => {
      calls.push('c1');
      lag.hold();
    });
    operator.registry.on.create('kopfexamples', { id: 'c2' }, () => void calls.push('c2'));
    operator.registry.on.delete('kopfexamples', { id: 'd' }, () => void calls.push('d'));
    await operator.start();
    await operator.create('name1');
    expect(calls).toEqual(['c1', 'c2']);
    expect(operator.patches).toHaveLength(3);
    lag.release();
    await operator.advance(100);
    expect(calls).toEqual(['c1', 'c2']);
    expect(operator.patches).toHaveLength(3);
  });

  it('handlers of changes never see a state from before our patch, and those of events see everything', async () => {
    const lag = laggingStream();
    await using operator = await operated({ through: lag.through });
    const versions: number[] = [];
    const events: number[] = [];
    const versionOf = (body: { metadata?: { resourceVersion?: string } }) => Number(body.metadata?.resourceVersion);
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ body }) => void events.push(versionOf(body)));
    for (const id of ['u1', 'u2', 'u3']) {
      operator.registry.on.update('kopfexamples', { id }, ({ body, spec }) => {
        versions.push(versionOf(body));
        if (spec['field'] === 0) lag.hold();
      });
    }
    await operator.start();
    await operator.create('name1');
    for (let field = 0; field < 5; field++) await operator.edit('name1', { spec: { field } });
    lag.release();
    await operator.advance(100);
    expect(versions.length).toBeGreaterThanOrEqual(6);
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    expect(events).toEqual([...events].sort((a, b) => a - b));
    expect(new Set(events).size).toBe(events.length);
    // The creation, five edits, and our patches: all of them, be there a conflict among these or not.
    const [first = 0] = events;
    expect(events.at(-1)).toBeGreaterThanOrEqual(first + 5 + 7);
    expect(events).toEqual(Array.from(events, (_version, index) => first + index));
  });

  it('a change of others is not waited for longer than it takes to come', async () => {
    const lag = laggingStream();
    await using operator = await operated({ through: lag.through });
    const seen: unknown[] = [];
    operator.registry.on.update('kopfexamples', { id: 'u' }, ({ spec }) => void seen.push(spec['field']));
    await operator.start();
    await operator.create('name1');
    lag.hold();
    await operator.edit('name1', { spec: { field: 'w' } });
    await operator.advance(1000);
    expect(seen).toEqual([]);
    lag.release();
    await operator.settle();
    expect(seen).toEqual(['w']);
  });

  it('no handlers of changes means no waiting at all', async () => {
    await using operator = await operated();
    const times: number[] = [];
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ patch, type }) => {
      times.push(operator.clock.now());
      patch.metadata.labels[`type-${type}`] = 'seen';
    });
    await operator.start();
    await operator.create('name1');
    await operator.edit('name1', { spec: { field: 'w' } });
    expect(times.every((time) => time === 0)).toBe(true);
    expect((await operator.get('name1')).metadata?.labels).toEqual({ 'type-ADDED': 'seen', 'type-MODIFIED': 'seen' });
  });
});

describe('With versions that cannot be compared', () => {
  /** Versions are the same as before, but look like words. */
  const worded = (client: KubeClient): KubeClient => {
    const encode = (object: AnyObject): AnyObject => {
      const version = object.metadata?.resourceVersion;
      if (version === undefined || !/^\d+$/.test(version) || object['items'] !== undefined) return object;
      return { ...object, metadata: { ...object.metadata, resourceVersion: `v${version}` } };
    };
    const decode = (value: unknown): unknown =>
      value === undefined ? undefined : JSON.parse(JSON.stringify(value).replace(/"v(\d+)"/g, '"$1"'));
    return {
      async request<T>(request: KubeRequest) {
        const answer = await client.request<AnyObject>({ ...request, body: decode(request.body) });
        return encode(answer) as T;
      },
      async *stream<T>(request: KubeRequest) {
        const path = request.path.replace(/resourceVersion=v/, 'resourceVersion=');
        for await (const event of client.stream<{ object: AnyObject }>({ ...request, path })) {
          yield { ...event, object: encode(event.object) } as T;
        }
      },
    };
  };

  it('all is handled as well, and in order', async () => {
    await using operator = await operated({ through: worded });
    const calls: unknown[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c1' }, ({ body }) => {
      calls.push(['c1', body.metadata?.resourceVersion?.slice(0, 1)]);
    });
    operator.registry.on.create('kopfexamples', { id: 'c2' }, () => void calls.push('c2'));
    operator.registry.on.update('kopfexamples', { id: 'u' }, ({ spec }) => void calls.push(['u', spec['field']]));
    await operator.start();
    await operator.create('name1');
    expect(calls).toEqual([['c1', 'v'], 'c2']);
    await operator.advance(10);
    await operator.edit('name1', { spec: { field: 'w' } });
    await operator.advance(10);
    expect(calls).toEqual([['c1', 'v'], 'c2', ['u', 'w']]);
    expect(operator.patches).toHaveLength(3);
    expect(operator.logger.messages('error')).toEqual([]);
  });
});
