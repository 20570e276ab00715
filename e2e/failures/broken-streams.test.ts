import type { HttpKubeClient } from '@kopf-ts/client';
import type { ObjectMeta } from '@kopf-ts/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ControlPlane, startControlPlane } from '../controlplane/index.js';
import { clientOf } from '../support/client.js';
import { newNamespace } from '../support/objects.js';
import { newTestKind, type TestKind } from '../support/operators/kinds.js';
import { eventually, startOperator } from '../support/operators/operators.js';
import { describeOnRealCluster } from '../support/real-cluster.js';
import { type FaultyCluster, listsOf, newLine, pathOf, SHORT_TIMES, watchesOf } from './faulty-cluster.js';
import { collectGarbage } from './garbage.js';

describeOnRealCluster('an operator with a broken stream', () => {
  /** One of its own: it is going to be restarted. */
  let controlPlane: ControlPlane;
  let direct: HttpKubeClient;
  let things: TestKind;
  let namespace: string;
  let line: FaultyCluster;
  let calls: string[];
  /** By names, as whoever looks for them holds them. */
  let memos: Map<string, WeakRef<object>>;
  let index: () => readonly string[];

  beforeAll(async () => {
    controlPlane = await startControlPlane();
    direct = clientOf(controlPlane);
    things = await newTestKind(direct);
  });
  afterAll(async () => {
    await direct?.close();
    await controlPlane?.stop();
  });
  beforeEach(async () => {
    line = await newLine(controlPlane);
    namespace = await newNamespace(direct);
    [calls, memos, index] = [[], new Map(), () => []];
  });

  const start = (times: object = {}) =>
    startOperator(
      line,
      (registry) => {
        const { on, daemon } = registry;
        const sizesIndex = registry.index(things.selector, function sizes({ name, spec }) {
          return { [name]: spec['size'] };
        });
        on.event(things.selector, function seen({ type, name, memo, indices }) {
          calls.push(`${type} ${name}`);
          memos.set(name, new WeakRef(memo));
          index = () => [...indices.get(sizesIndex).keys()].sort();
        });
        on.update(things.selector, function updated({ name, spec }) {
          calls.push(`updated ${name} ${spec['size']}`);
        });
        daemon(things.selector, { labels: { guarded: 'yes' } }, async function guard({ name, stopped }) {
          calls.push(`guarding ${name}`);
          await new Promise((resolve) => stopped.addEventListener('abort', resolve, { once: true }));
          calls.push(`not guarding ${name}`);
        });
      },
      { namespaces: [namespace], overrides: { ...SHORT_TIMES, watching: { ...SHORT_TIMES.watching, ...times } } },
    );
  const create = (name: string, metadata: ObjectMeta = {}) =>
    things.create(namespace, name, { metadata, spec: { size: 1 } });
  const resize = (name: string, size: number) => things.patch(namespace, name, { spec: { size } });
  const isCalled = (call: string, withinSeconds = 20) => eventually(() => expect(calls).toContain(call), withinSeconds);
  const isHandled = async (name: string) => {
    const isStored = async () => {
      const { annotations = {} } = (await things.get(namespace, name))?.metadata ?? {};
      expect(Object.keys(annotations)).toContain('kopf.zalando.org/last-handled-configuration');
    };
    await eventually(isStored);
  };

  it('notices that it is stalled even with an open socket and without bookmarks, and goes on without a list', async () => {
    // The server itself would not end it in time.
    await start({ serverTimeout: 60 });
    await create('one');
    await isHandled('one');
    // The stream has come so far, too.
    await isCalled('MODIFIED one');
    line.faults.dropBookmarks();
    const before = line.requests.length;
    const stalled = line.faults.add({
      match: { path: pathOf('things'), watch: true },
      stream: { freeze: true },
      times: 1,
    });
    expect(stalled.hits).toBe(1);
    const { metadata } = (await things.get(namespace, 'one')) ?? {};
    const stalledAt = performance.now();
    await resize('one', 2);
    await isCalled('updated one 2');
    const { inactivityTimeout } = SHORT_TIMES.watching;
    expect((performance.now() - stalledAt) / 1000).toBeLessThan(inactivityTimeout + 10);
    const since = line.requests.slice(before);
    expect(listsOf(since, things)).toEqual([]);
    expect(watchesOf(since, things)[0]).toContain(`resourceVersion=${metadata?.resourceVersion}&`);
    expect(calls.filter((call) => call === 'updated one 2')).toHaveLength(1);
  });

  it('goes on from where it was after a half of a line, without a list', async () => {
    await start();
    await create('one');
    await isHandled('one');
    const before = line.requests.length;
    const half = '{"type":"MODIFIED","object":{"metadata":{"name":"half';
    expect(line.faults.garbleStreams(half, { path: pathOf('things') })).toBe(1);
    line.faults.endStreams({ path: pathOf('things') });
    await resize('one', 2);
    await isCalled('updated one 2');
    expect(listsOf(line.requests.slice(before), things)).toEqual([]);
    expect(calls.filter((call) => call.startsWith('updated'))).toEqual(['updated one 2']);
  });

  describe.each([
    ['with a history', 'not restarted'],
    ['without its history', 'restarted'],
  ])('on a server %s', (_title, how) => {
    it('forgets what has been deleted while it was disconnected', async () => {
      await start();
      for (const name of ['lost', 'kept']) await create(name, { labels: { guarded: 'yes' } });
      for (const name of ['lost', 'kept']) await isHandled(name);
      for (const name of ['lost', 'kept']) await isCalled(`guarding ${name}`);
      expect(index()).toEqual(['kept', 'lost']);
      const before = line.requests.length;

      const refusal = line.faults.refuseConnections();
      line.faults.cutConnections();
      await things.patch(namespace, 'lost', { metadata: { finalizers: null } });
      await things.delete(namespace, 'lost');
      await create('found');
      // A new server remembers nothing of what was before it, so that there is no way to go on from there.
      if (how === 'restarted') await controlPlane.restartApiServer({ abruptly: true });
      refusal.remove();

      await isCalled('DELETED lost', 40);
      await isCalled('not guarding lost');
      await isHandled('found');
      expect(index()).toEqual(['found', 'kept']);
      expect(calls.filter((call) => call === 'DELETED lost')).toHaveLength(1);
      expect(calls).not.toContain('not guarding kept');
      expect(calls.filter((call) => call === 'guarding kept')).toHaveLength(1);
      expect(listsOf(line.requests.slice(before), things).length > 0).toBe(how === 'restarted');
      await eventually(async () => {
        await collectGarbage();
        expect(memos.get('lost')?.deref()).toBeUndefined();
      });
      await collectGarbage();
      expect(memos.get('kept')?.deref()).toBeDefined();
    });
  });

  it('outlives restarts of the server', async () => {
    await start();
    await create('one');
    await isHandled('one');
    for (const [abruptly, size] of [
      [true, 2],
      [false, 3],
    ] as const) {
      await controlPlane.restartApiServer({ abruptly });
      await resize('one', size);
      await isCalled(`updated one ${size}`, 40);
    }
    expect(calls.filter((call) => call.startsWith('updated'))).toEqual(['updated one 2', 'updated one 3']);
    expect(calls).not.toContain('DELETED one');
  });
});
