import { type AnyObject, type Daemon, DaemonStop, sleep } from '@kopf-ts/core';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { describeOnClusters } from '../support/operators/clusters.js';
import type { TestKind } from '../support/operators/kinds.js';
import { became, eventually, startOperator } from '../support/operators/operators.js';

const FINALIZER = 'kopf.zalando.org/KopfFinalizerMarker';

const until = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** The first one: the others tell only how it goes on. */
const reasonOf = ({ reason }: AbortSignal): string => {
  if (!(reason instanceof DaemonStop)) throw new Error(`This is no reason to stop: ${reason}`);
  return [...reason.reasons][0] ?? 'none';
};

describeOnClusters('daemons and timers', (cluster) => {
  let things: TestKind;
  let namespace: string;
  beforeAll(async () => {
    things = await cluster().newKind();
  });
  beforeEach(async () => {
    namespace = await cluster().newNamespace();
  });

  it('by a schedule are called at its times', async () => {
    const seconds: number[] = [];
    await startOperator(
      cluster(),
      ({ timer }) => {
        timer(things.selector, { id: 'even', schedule: '*/2 * * * * *', timeZone: 'Asia/Tokyo' }, () => {
          seconds.push(Date.now() / 1000);
        });
      },
      { namespaces: [namespace] },
    );
    await things.create(namespace, 'one', { spec: { size: 1 } });
    await eventually(() => expect(seconds.length).toBeGreaterThan(2));
    // Never before its time, and never twice for one.
    const times = seconds.map((second) => Math.floor(second / 2));
    expect(new Set(times).size).toBe(times.length);
    for (const second of seconds) expect(second % 2).toBeLessThan(1.5);
    const stored = await things.get(namespace, 'one');
    expect(stored?.metadata?.annotations).toBeUndefined();
  });

  it('live as long as their objects, which wait for them to end', async () => {
    const calls: string[] = [];
    let mayEnd: () => void = () => {};
    const ending = new Promise<void>((resolve) => {
      mayEnd = resolve;
    });
    await startOperator(
      cluster(),
      ({ daemon, timer }) => {
        daemon(things.selector, async function guard({ name, spec, stopped, patch }: Daemon) {
          calls.push(`guard of ${name} begins with ${spec['size']}`);
          patch.status['guarded'] = true;
          await until(stopped);
          calls.push(`guard of ${name} stops: ${reasonOf(stopped)}`);
          await ending;
          calls.push(`guard of ${name} ends with ${spec['size']}`);
        });
        timer(things.selector, { interval: 0.1 }, function tick({ patch, retry }) {
          patch.status['ticks'] = Date.now();
          expect(retry).toBe(0);
        });
      },
      { namespaces: [namespace] },
    );
    await things.create(namespace, 'one', { spec: { size: 1 } });
    await became(calls, 'guard of one begins with 1');
    const ticks = async (): Promise<number> => (await things.get(namespace, 'one'))?.['status']?.ticks ?? 0;
    const first = await eventually(async () => {
      const seen = await ticks();
      expect(seen).toBeGreaterThan(0);
      return seen;
    });
    await eventually(async () => expect(await ticks()).toBeGreaterThan(first));
    await eventually(async () =>
      expect((await things.get(namespace, 'one'))?.metadata?.finalizers).toEqual([FINALIZER]),
    );

    await things.patch(namespace, 'one', { spec: { size: 2 } });
    await things.delete(namespace, 'one');
    await became(calls, 'guard of one stops: resource-deleted');
    const dying = await things.get(namespace, 'one');
    expect(dying?.metadata?.finalizers).toEqual([FINALIZER]);
    mayEnd();
    await eventually(async () => expect(await things.get(namespace, 'one')).toBeUndefined());
    expect(calls).toEqual(['guard of one ends with 2']);
  });

  it('come and go with the filters; are cancelled if they do not stop by themselves', async () => {
    const calls: string[] = [];
    await startOperator(
      cluster(),
      ({ daemon }) => {
        daemon(
          things.selector,
          { labels: { guarded: 'yes' }, cancellationBackoff: 0.1, cancellationTimeout: 5 },
          async function guard({ stopped, signal }) {
            calls.push('begins');
            try {
              await sleep(1000, signal);
            } finally {
              calls.push(`cancelled: ${reasonOf(stopped)}`);
            }
          },
        );
      },
      { namespaces: [namespace] },
    );
    await things.create(namespace, 'one');
    const label = (guarded: string | null) => things.patch(namespace, 'one', { metadata: { labels: { guarded } } });
    for (let round = 1; round <= 2; round += 1) {
      await label('yes');
      await became(calls, 'begins');
      await label(null);
      await became(calls, 'cancelled: filters-mismatch');
      await eventually(async () =>
        expect((await things.get(namespace, 'one'))?.metadata?.finalizers ?? []).toEqual([]),
      );
    }
    await things.delete(namespace, 'one');
    await eventually(async () => expect(await things.get(namespace, 'one')).toBeUndefined());
    expect(calls).toEqual([]);
  });

  it('end with the operator, and begin again with the next one', async () => {
    const calls: string[] = [];
    const start = () =>
      startOperator(
        cluster(),
        ({ daemon }) => {
          daemon(things.selector, async function guard({ name, stopped }) {
            calls.push(`${name} begins`);
            await until(stopped);
            calls.push(`${name} stops: ${reasonOf(stopped)}`);
          });
        },
        { namespaces: [namespace] },
      );
    const first = await start();
    await things.create(namespace, 'one');
    await became(calls, 'one begins');
    await first.stop();
    expect(calls.splice(0)).toEqual(['one stops: operator-exiting']);
    const second = await start();
    await became(calls, 'one begins');
    await things.delete(namespace, 'one');
    await eventually(async () => expect(await things.get(namespace, 'one')).toBeUndefined());
    await became(calls, 'one stops: resource-deleted');
    await second.stop();
  });

  it('watch over pods until these are gone, with their time to end gracefully', async () => {
    const calls: string[] = [];
    await startOperator(
      cluster(),
      ({ daemon, on }) => {
        daemon('v1/pods', { labels: { app: 'web' } }, async function watchOver({ name, meta, stopped }) {
          calls.push(`begins for ${name}`);
          await until(stopped);
          calls.push(`stops, deleted: ${meta.deletionTimestamp !== undefined}`);
        });
        on.delete('v1/pods', { labels: { app: 'web' } }, function drain({ name }) {
          calls.push(`drained ${name}`);
        });
      },
      { namespaces: [namespace] },
    );
    const { client, backend } = cluster();
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    if (backend === 'real') {
      // Pods are not accepted before there is an account for them.
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
      await eventually(() => client.request({ method: 'GET', path }));
    }
    // Of a node that does not exist: nobody ends the pod but us.
    const spec = {
      nodeName: 'nowhere',
      containers: [{ name: 'main', image: 'none' }],
      terminationGracePeriodSeconds: 30,
    };
    await client.request({
      method: 'POST',
      path: pods,
      body: { metadata: { name: 'web', labels: { app: 'web' } }, spec },
    });
    await became(calls, 'begins for web');
    const getPod = () => client.request<AnyObject>({ method: 'GET', path: `${pods}/web` });
    await eventually(async () => expect((await getPod()).metadata?.finalizers).toEqual([FINALIZER]));
    await client.request({ method: 'DELETE', path: `${pods}/web` });
    const dying = await eventually(async () => {
      const { metadata } = await getPod();
      expect(metadata?.finalizers ?? []).toEqual([]);
      return metadata;
    });
    expect(dying?.deletionGracePeriodSeconds).toBe(30);
    await client.request({ method: 'DELETE', path: `${pods}/web`, body: { gracePeriodSeconds: 0 } });
    await eventually(async () => {
      const { items } = await client.request<{ items: unknown[] }>({ method: 'GET', path: pods });
      expect(items).toEqual([]);
    });
    expect(calls.sort()).toEqual(['drained web', 'stops, deleted: true']);
  });
});
