import { adopt, type KubeClient } from '@kopf-ts/core';
import { currentContext, facts } from '@kopf-ts/core/engine';
import { manualClock, recordingLogger, recordingObserver } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { contents, harness, pod, pods } from '../harness.js';

// biome-ignore lint/suspicious/noExplicitAny: whatever is in there
type AnyKwargs = any;

function kwargsOf(options: object = {}, parts = harness()): AnyKwargs {
  let seen: AnyKwargs;
  parts.registry.index('pods', { id: 'fn', ...options }, (kwargs) => {
    seen = kwargs;
  });
  parts.see(pod('one', { spec: { n: 1 }, status: { phase: 'Running' } }));
  return seen;
}

describe('index functions are given', () => {
  it('the object, its parts, the memo, and what is known of the call', () => {
    const kwargs = kwargsOf({ param: 5 });
    expect(kwargs).toMatchObject({
      ...{ name: 'one', namespace: 'ns', uid: 'uid-of-one', labels: {}, annotations: {}, resource: pods },
      ...{ spec: { n: 1 }, status: { phase: 'Running' }, memo: { of: 'one' }, param: 5, retry: 0, runtime: 0 },
      started: new Date('2020-01-01T00:00:00Z'),
    });
    expect(kwargs.signal).toBeInstanceOf(AbortSignal);
    expect(kwargs.signal).toBe(kwargs.signal);
    expect(kwargs.signal.aborted).toBe(false);
    expect(Object.keys(kwargs)).not.toContain('event');
  });

  it('all of that also when copied', () => {
    const { signal, ...rest } = kwargsOf();
    expect(signal).toBeInstanceOf(AbortSignal);
    expect(Object.keys(rest)).toEqual(expect.arrayContaining(['body', 'logger', 'patch', 'client', 'indices', 'fn']));
  });

  it('the client, if there is one', () => {
    const client = {} as KubeClient;
    expect(kwargsOf({}, harness({ client })).client).toBe(client);
    expect(kwargsOf().client).toBeUndefined();
  });

  it('all indices by their names, even in place of other kwargs', () => {
    const parts = harness();
    for (const id of ['byNode', 'signal', 'retry', 'name']) parts.registry.index('pods', { id }, () => 1);
    const kwargs = kwargsOf({}, parts);
    for (const id of ['byNode', 'signal', 'retry', 'name', 'fn']) {
      expect(kwargs[id]).toBe(parts.indexer.indices.get(id));
    }
    expect(kwargs.indices).toBe(parts.indexer.indices);
  });

  it('an object that cannot be changed', () => {
    const { body, spec } = kwargsOf();
    expect(() => {
      body.spec.n = 2;
    }).toThrow(TypeError);
    expect(spec).toBe(body.spec);
  });

  it('a patch of their own, which goes nowhere', () => {
    const { registry, indexer, see } = harness();
    const seen: unknown[] = [];
    registry.index('pods', { id: 'fn' }, ({ patch }) => {
      seen.push({ ...patch.merge });
      patch.metadata.labels['a'] = 'b';
      return 1;
    });
    const object = pod('one');
    see(object);
    see(object);
    expect(seen).toEqual([{}, {}]);
    expect(object.metadata?.labels).toBeUndefined();
    expect(contents(indexer.indices.get('fn'))).toEqual({ null: [1] });
  });

  it('a logger of the object, which is one level quieter than usual', () => {
    const { registry, logger, see } = harness();
    registry.index('pods', { id: 'fn' }, ({ logger }) => {
      for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level](`${level} by me`);
    });
    see(pod('one'));
    const lines = logger.lines.map(({ level, message }) => [level, message]);
    expect(lines).toEqual([
      ['debug', 'info by me'],
      ['warn', 'warn by me'],
      ['error', 'error by me'],
      ['debug', "Indexer 'fn' succeeded."],
    ]);
    for (const { fields } of logger.lines) expect(fields['object']).toMatchObject({ name: 'one', uid: 'uid-of-one' });
  });

  it('nothing is said of a success to a logger that does not want it', () => {
    const { registry, indexer, logger } = harness();
    registry.index('pods', { id: 'fn' }, () => 1);
    const quiet = { ...logger, isEnabled: (level: string) => level !== 'debug', child: () => quiet };
    void indexer.accept({ event: { type: null, object: pod('one') }, resource: pods, memo: undefined, logger: quiet });
    expect(logger.lines).toEqual([]);
  });
});

describe('around index functions', () => {
  it('there is the context of a handler, for what handlers can do', () => {
    const { registry, see } = harness();
    const child: { metadata?: { ownerReferences?: unknown[] } } = {};
    registry.index('pods', { id: 'fn' }, () => {
      expect(currentContext()?.handler?.id).toBe('fn');
      adopt(child);
    });
    see(pod('one'));
    expect(child.metadata?.ownerReferences).toHaveLength(1);
    expect(currentContext()).toBeUndefined();
  });

  it('observers are told of each call', async () => {
    const observer = recordingObserver(['call.began', 'call.returned', 'call.settled']);
    const { registry, see } = harness({
      facts: facts({ observers: [observer], operator: 'me', clock: manualClock(), logger: recordingLogger() }),
    });
    registry.index('pods', { id: 'sync' }, () => 1);
    registry.index('pods', { id: 'async' }, async () => 1);
    await see(pod('one'));
    const each = ['call.began', 'call.returned', 'call.settled'];
    expect(observer.told.map(({ kind }) => kind)).toEqual([...each, ...each]);
    expect(observer.of('call.began').map(({ handler }) => handler.id)).toEqual(['sync', 'async']);
  });
});
