/** Operators for those namespaces that have some labels at the moment. */
import { type AnyObject, ApiConflictError, DaemonStop, type IndexRef, type Registry } from '@kopf-ts/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newPlace, type Place, startOperator } from './wired.js';

const OF_TENANTS = { namespaces: { labels: { tenant: true, stage: ['test', 'live'] } }, standalone: true } as const;
const LABELS = { tenant: 'a', stage: 'live' };

async function newNamespace({ cluster }: Place, name: string, labels: Record<string, string> = {}): Promise<void> {
  await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
}

async function relabel({ cluster, settle, clock }: Place, name: string, labels: object): Promise<void> {
  await cluster.client.request({
    method: 'PATCH',
    path: `/api/v1/namespaces/${name}`,
    contentType: 'application/merge-patch+json',
    body: { metadata: { labels } },
  });
  await settle();
  await clock.advance(1);
  await settle();
}

async function put(place: Place, namespace: string, name: string, size: number): Promise<void> {
  const path = `/apis/kopf.dev/v1/namespaces/${namespace}/kopfexamples`;
  const metadata = { namespace, name };
  const body = { apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata, spec: { size } };
  const { client } = place.cluster;
  try {
    await client.request({ method: 'POST', path, body });
  } catch (error) {
    if (!(error instanceof ApiConflictError)) throw error;
    const contentType = 'application/merge-patch+json';
    await client.request({ method: 'PATCH', path: `${path}/${name}`, contentType, body: { spec: { size } } });
  }
  await place.settle();
}

/** All that happens, and all that is known, of objects in the namespaces. */
function declared() {
  const calls: string[] = [];
  let byName: IndexRef<string, string> | undefined;
  const known: { indices?: { get(ref: IndexRef<string, string>): { keys(): Iterable<string> } } } = {};
  const declare = ({ on, daemon, index }: Registry): void => {
    byName = index('kopfexamples', ({ namespace, name }) => ({ [`${namespace}/${name}`]: 'known' })) as never;
    on.startup(({ indices }: { indices?: unknown }) => {
      known.indices = indices as never;
    });
    const at = ({ namespace, name }: { namespace?: string | undefined; name: string }) => `${namespace}/${name}`;
    on.create('kopfexamples', { id: 'c' }, (kwargs) => void calls.push(`created ${at(kwargs as never)}`));
    on.update('kopfexamples', { id: 'u' }, (kwargs) => void calls.push(`updated ${at(kwargs as never)}`));
    on.delete(
      'kopfexamples',
      { id: 'd', optional: true },
      (kwargs) => void calls.push(`deleted ${at(kwargs as never)}`),
    );
    on.event('kopfexamples', { id: 'e' }, (kwargs) => {
      if (kwargs.type === 'DELETED') calls.push(`gone ${at(kwargs as never)}`);
    });
    daemon('kopfexamples', { id: 'guard' }, async (kwargs) => {
      calls.push(`guarded ${at(kwargs as never)}`);
      await new Promise<void>((resolve) => kwargs.stopped.addEventListener('abort', () => resolve()));
      const { reason } = kwargs.stopped;
      calls.push(`unguarded ${at(kwargs as never)} ${reason instanceof DaemonStop ? [...reason.reasons].join() : ''}`);
    });
  };
  const indexed = (): string[] => [...(known.indices?.get(byName as IndexRef<string, string>).keys() ?? [])].sort();
  const taken = (): string[] => calls.splice(0).sort();
  return { declare, indexed, taken };
}

describe('namespaces by labels', () => {
  it('are selected by the server, and served as long as they have the labels', async () => {
    const place = await newPlace();
    await newNamespace(place, 'one', LABELS);
    await newNamespace(place, 'other', { tenant: 'a' });
    for (const namespace of ['one', 'other']) await put(place, namespace, 'a', 1);
    const { declare, indexed, taken } = declared();
    const { logger } = await startOperator(place, declare, OF_TENANTS);
    expect(taken()).toEqual(['created one/a', 'guarded one/a']);
    expect(indexed()).toEqual(['one/a']);
    const asked = place.requests.filter((request) => request.includes('/api/v1/namespaces?'));
    expect(asked.length).toBeGreaterThan(0);
    for (const request of asked) {
      expect(new URL(request.replace('GET ', ''), 'http://h').searchParams.get('labelSelector')).toBe(
        'tenant,stage in (test,live)',
      );
    }

    await relabel(place, 'other', { stage: 'test' });
    expect(taken()).toEqual(['created other/a', 'guarded other/a']);
    expect(indexed()).toEqual(['one/a', 'other/a']);

    // It is left, and not deleted.
    await relabel(place, 'one', { stage: null });
    expect(taken()).toEqual(['unguarded one/a filters-mismatch']);
    expect(indexed()).toEqual(['other/a']);
    await put(place, 'one', 'a', 2);
    await put(place, 'one', 'b', 1);
    expect(taken()).toEqual([]);

    await relabel(place, 'one', { stage: 'live' });
    expect(taken()).toEqual(['created one/b', 'guarded one/a', 'guarded one/b', 'updated one/a']);
    expect(indexed()).toEqual(['one/a', 'one/b', 'other/a']);
    expect(logger.messages('error')).toEqual([]);
    expect(logger.messages('warn')).toEqual([]);
  });

  it('are waited for, if there are none', async () => {
    const place = await newPlace();
    const { declare, taken } = declared();
    await startOperator(place, declare, OF_TENANTS);
    await newNamespace(place, 'later', LABELS);
    await place.settle();
    await put(place, 'later', 'a', 1);
    expect(taken()).toEqual(['created later/a', 'guarded later/a']);
  });

  it('do not get new daemons before the old ones are out', async () => {
    const place = await newPlace();
    await newNamespace(place, 'one', LABELS);
    await put(place, 'one', 'a', 1);
    const lives: string[] = [];
    let running = 0;
    let atOnce = 0;
    const declare = ({ daemon }: Registry): void => {
      daemon('kopfexamples', { id: 'slow' }, async ({ stopped }) => {
        running += 1;
        atOnce = Math.max(atOnce, running);
        lives.push('begun');
        await new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve()));
        await place.clock.sleep(30);
        lives.push('ended');
        running -= 1;
      });
    };
    await startOperator(place, declare, OF_TENANTS);
    await relabel(place, 'one', { stage: null });
    await relabel(place, 'one', { stage: 'live' });
    expect(lives).toEqual(['begun']);
    await place.clock.advance(100);
    await place.settle();
    expect(lives).toEqual(['begun', 'ended', 'begun']);
    expect(atOnce).toBe(1);
  });

  it('are what they are labelled as in the end, whatever happens on the way', async () => {
    const names = ['x', 'y', 'z'] as const;
    const steps = fc.array(
      fc.oneof(
        fc.record({ kind: fc.constant('label' as const), namespace: fc.constantFrom(...names), isOn: fc.boolean() }),
        fc.record({
          kind: fc.constant('put' as const),
          namespace: fc.constantFrom(...names),
          name: fc.constantFrom('a', 'b'),
          size: fc.integer({ min: 1, max: 3 }),
        }),
      ),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const place = await newPlace();
        const labelled = new Set<string>(['x']);
        for (const name of names) await newNamespace(place, name, name === 'x' ? LABELS : {});
        const sizes = new Map<string, number>();
        const seen = new Map<string, number>();
        const { declare, indexed } = declared();
        const operator = await startOperator(
          place,
          (registry) => {
            declare(registry);
            const see = ({ namespace, name, spec }: AnyObject) => void seen.set(`${namespace}/${name}`, spec.size);
            registry.on.create('kopfexamples', { id: 'see' }, see as never);
            registry.on.update('kopfexamples', { id: 'see-again' }, see as never);
          },
          OF_TENANTS,
        );
        for (const step of all) {
          if (step.kind === 'put') {
            await put(place, step.namespace, step.name, step.size);
            sizes.set(`${step.namespace}/${step.name}`, step.size);
          } else {
            await relabel(place, step.namespace, step.isOn ? LABELS : { tenant: null, stage: null });
            if (step.isOn) labelled.add(step.namespace);
            else labelled.delete(step.namespace);
          }
        }
        await place.clock.advance(100);
        await place.settle();
        const isServed = (key: string): boolean => labelled.has(key.split('/')[0] ?? '');
        const expected = [...sizes.keys()].filter(isServed).sort();
        expect(indexed()).toEqual(expected);
        for (const key of expected) expect(seen.get(key)).toBe(sizes.get(key));
        const stopping = operator.stop();
        await place.clock.advance(60);
        await stopping;
      }),
      { numRuns: 15 },
    );
  });
});
