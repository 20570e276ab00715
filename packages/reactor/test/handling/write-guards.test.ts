/** Operators that can be replaced by others at any moment, and without noticing it. */
import type { KubeClient, KubeRequest } from '@kopf-ts/core';
import type { ToggleView } from '@kopf-ts/core/engine';
import { describe, expect, it } from 'vitest';
import { applier } from '../../src/sending/apply.js';
import { writeGuards } from '../../src/write-guards.js';
import { type Operated, type OperatedOptions, operated } from '../support/operated.js';

/** With a write guard, which is open at first. */
async function guarded(options: OperatedOptions = {}) {
  const all = writeGuards();
  const guard = { isOpen: true };
  all.add(() => guard.isOpen);
  let op: Operated | undefined;
  const toggleOf = (): ToggleView => (op as Operated).paused;
  const paused: ToggleView = {
    get isOn() {
      return toggleOf().isOn;
    },
    whenOn: (signal) => toggleOf().whenOn(signal),
    whenOff: (signal) => toggleOf().whenOff(signal),
  };
  op = await operated({
    ...options,
    applier: (parts) => applier({ ...parts, writeGuards: all, paused }),
    parts: { writeGuards: all },
  });
  return { op, guard };
}

const isPatch = ({ method }: KubeRequest): boolean => method === 'PATCH';

/** What was refused by the write guard is not worth a word to anyone. */
const expectSilence = ({ logger }: Operated): void => {
  expect([...logger.messages('error'), ...logger.messages('warn')]).toEqual([]);
};

describe('a closed write guard', () => {
  it('stops the patch of a handler that is at work; it is called again later, as nothing is remembered', async () => {
    const { op, guard } = await guarded();
    await using _ = op;
    let calls = 0;
    op.registry.on.create('kopfexamples', { id: 'made' }, () => {
      calls += 1;
      if (calls > 1) return;
      guard.isOpen = false;
      op.paused.turn(true);
    });
    await op.start();
    await op.create('a');
    await op.settle();
    expect(calls).toBe(1);
    expect(op.patches).toEqual([]);
    expectSilence(op);

    guard.isOpen = true;
    op.paused.turn(false);
    await op.settle();
    expect(calls).toBe(2);
    expect(op.patches).toHaveLength(1);
    expect(op.logger.find('was removed from the object')).toBeUndefined();
  });

  it('stops handlers, though the pause is not there yet', async () => {
    const { op, guard } = await guarded();
    await using _ = op;
    const calls: string[] = [];
    op.registry.on.event('kopfexamples', ({ name }) => void calls.push(`event ${name}`));
    op.registry.on.create('kopfexamples', ({ name }) => void calls.push(`create ${name}`));
    await op.start();
    guard.isOpen = false;
    await op.create('a');
    await op.settle();
    expect(calls).toEqual([]);
    op.paused.turn(true);
    await op.settle();
    guard.isOpen = true;
    op.paused.turn(false);
    await op.settle();
    expect(calls).toContain('create a');
  });
});

describe('a pause', () => {
  it('breaks off the patch that is on its way, and it is never sent again', async () => {
    let hanging = 0;
    let isHanging = true;
    const through = (client: KubeClient): KubeClient => ({
      stream: (request) => client.stream(request),
      async request<T>(request: KubeRequest): Promise<T> {
        if (!isPatch(request) || !isHanging) return await client.request<T>(request);
        hanging += 1;
        return await new Promise<T>((_resolve, reject) => {
          request.signal?.addEventListener('abort', () => {
            hanging -= 1;
            reject(request.signal?.reason);
          });
        });
      },
    });
    const { op } = await guarded({ through });
    await using _ = op;
    const calls: unknown[] = [];
    op.registry.on.create('kopfexamples', ({ spec, patch }) => {
      calls.push(spec['x']);
      patch.status['seen'] = spec['x'];
    });
    await op.start();
    await op.create('a', { spec: { x: 1 } });
    await op.settle();
    expect(hanging).toBe(1);
    op.paused.turn(true);
    await op.settle();
    expect(hanging).toBe(0);

    isHanging = false;
    await op.edit('a', { spec: { x: 2 } });
    op.paused.turn(false);
    await op.settle();
    expect(calls).toEqual([1, 2]);
    expect(op.patches).toHaveLength(1);
    expect((await op.get('a'))['status']).toEqual({ seen: 2 });
    expectSilence(op);
  });

  it('outdates what could not be sent before it', async () => {
    let isFailing = true;
    const through = (client: KubeClient): KubeClient => ({
      stream: (request) => client.stream(request),
      async request<T>(request: KubeRequest): Promise<T> {
        if (isPatch(request) && isFailing) throw new Error('The line is bad.');
        return await client.request<T>(request);
      },
    });
    const { op } = await guarded({ through });
    await using _ = op;
    const calls: unknown[] = [];
    op.registry.on.create('kopfexamples', ({ spec, patch }) => {
      calls.push(spec['x']);
      patch.status['seen'] = spec['x'];
    });
    await op.start();
    await op.create('a', { spec: { x: 1 } });
    await op.settle();
    expect(calls).toEqual([1]);
    op.paused.turn(true);
    await op.settle();
    isFailing = false;
    await op.edit('a', { spec: { x: 2 } });
    op.paused.turn(false);
    await op.settle();
    expect(calls).toEqual([1, 2]);
    expect(op.patches).toHaveLength(1);
    expect((await op.get('a'))['status']).toEqual({ seen: 2 });
  });
});

it('with a write guard, patches are for the known version only', async () => {
  const { op } = await guarded();
  await using _ = op;
  op.registry.on.create('kopfexamples', ({ patch }) => {
    patch.status['seen'] = true;
  });
  await op.start();
  const { metadata } = await op.create('a');
  await op.settle();
  expect(op.patches.map(({ body }) => body.metadata.resourceVersion)).toEqual([metadata?.resourceVersion]);
});
