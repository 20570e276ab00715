import { ABSENT, PRESENT } from '@kopf-ts/core';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { describeOnClusters } from '../support/operators/clusters.js';
import type { TestKind } from '../support/operators/kinds.js';
import { eventually, startOperator } from '../support/operators/operators.js';

/** Only labels, annotations and callbacks decide whether an object is touched; fields decide whether a handler is called. */
const SIZED = { sized: PRESENT } as const;

describeOnClusters('events and filters', (cluster) => {
  let things: TestKind;
  let namespace: string;
  beforeAll(async () => {
    things = await cluster().newKind();
  });
  beforeEach(async () => {
    namespace = await cluster().newNamespace();
  });

  it('event handlers see everything in order, and nothing is written for them', async () => {
    const calls: string[] = [];
    await things.create(namespace, 'old');
    await startOperator(
      cluster(),
      ({ on }) => {
        on.event(things.selector, function seen({ type, name, spec }) {
          calls.push(`${type} ${name} ${spec['size']}`);
        });
      },
      { namespaces: [namespace] },
    );
    await eventually(() => expect(calls).toEqual(['null old undefined']));
    const made = await things.create(namespace, 'new', { spec: { size: 1 } });
    await things.patch(namespace, 'new', { spec: { size: 2 } });
    await things.patch(namespace, 'new', { spec: { size: 3 } });
    await things.delete(namespace, 'new');
    await eventually(() => expect(calls.at(-1)).toBe('DELETED new 3'));
    expect(calls.slice(1)).toEqual(['ADDED new 1', 'MODIFIED new 2', 'MODIFIED new 3', 'DELETED new 3']);
    expect(made.metadata?.annotations).toBeUndefined();
    const { metadata } = (await things.get(namespace, 'old')) ?? {};
    expect([metadata?.annotations, metadata?.finalizers, metadata?.generation]).toEqual([undefined, undefined, 1]);
  });

  it('event handlers that want to are tried again until they succeed or a newer event comes; nothing is written', async () => {
    const calls: string[] = [];
    await startOperator(
      cluster(),
      ({ on }) => {
        on.event(things.selector, { id: 'shaky', errors: 'retry', backoff: 0.2 }, ({ type, spec, retry }) => {
          calls.push(`${type} ${spec['size']} ${retry}`);
          if (spec['size'] === 1 || retry < 2) throw new Error('Not now.');
        });
      },
      { namespaces: [namespace] },
    );
    await things.create(namespace, 'one', { spec: { size: 1 } });
    // It may be among the objects listed at first.
    await eventually(() => expect(calls.some((call) => call.endsWith(' 1 2'))).toBe(true));
    await things.patch(namespace, 'one', { spec: { size: 2 } });
    await eventually(() => expect(calls).toContain('MODIFIED 2 2'));
    expect(calls.slice(calls.indexOf('MODIFIED 2 0'))).toEqual(['MODIFIED 2 0', 'MODIFIED 2 1', 'MODIFIED 2 2']);
    const { metadata } = (await things.get(namespace, 'one')) ?? {};
    expect([metadata?.annotations, metadata?.finalizers, metadata?.generation]).toEqual([undefined, undefined, 2]);
    await things.delete(namespace, 'one');
    await eventually(() => expect(calls.at(-1)).toBe('DELETED 2 2'));
  });

  it('handlers see only the objects that pass their filters, and other objects are not touched', async () => {
    const calls: string[] = [];
    await startOperator(
      cluster(),
      ({ on }) => {
        const record =
          (title: string) =>
          ({ name }: { name: string }) => {
            calls.push(`${title} ${name}`);
          };
        on.event(things.selector, { id: 'red', labels: { colour: 'red' } }, record('red'));
        on.create(things.selector, { id: 'coloured', labels: { colour: PRESENT } }, record('coloured'));
        on.create(
          things.selector,
          {
            id: 'noted',
            annotations: { note: (value) => value?.startsWith('x') ?? false },
            labels: { colour: ABSENT },
          },
          record('noted'),
        );
        on.create(things.selector, { id: 'big', labels: SIZED, field: 'spec.size', value: 10 }, record('big'));
        on.create(things.selector, { id: 'last', when: ({ name }) => name === 'last' }, record('last'));
        on.update(
          things.selector,
          { id: 'grown', labels: SIZED, field: 'spec.size', old: 10, new: 20 },
          record('grown'),
        );
      },
      { namespaces: [namespace] },
    );
    const ignored = await things.create(namespace, 'plain', { spec: { size: 5 } });
    await things.create(namespace, 'red', { metadata: { name: 'red', labels: { colour: 'red' } } });
    await things.create(namespace, 'blue', { metadata: { name: 'blue', labels: { colour: 'blue' } } });
    await things.create(namespace, 'noted', { metadata: { name: 'noted', annotations: { note: 'xyz' } } });
    await things.create(namespace, 'quiet', { metadata: { name: 'quiet', annotations: { note: 'abc' } } });
    await things.create(namespace, 'big', { metadata: { name: 'big', labels: { sized: 'yes' } }, spec: { size: 10 } });
    await things.create(namespace, 'small', {
      metadata: { name: 'small', labels: { sized: 'yes' } },
      spec: { size: 1 },
    });
    await eventually(() => expect(calls).toContain('big big'));
    await eventually(async () => {
      const { annotations = {} } = (await things.get(namespace, 'big'))?.metadata ?? {};
      expect(Object.keys(annotations)).toContain('kopf.zalando.org/last-handled-configuration');
    });
    await things.patch(namespace, 'big', { spec: { size: 20 } });
    await things.create(namespace, 'last');
    await eventually(() => expect(calls).toEqual(expect.arrayContaining(['last last', 'grown big'])));
    const expected = ['big big', 'coloured blue', 'coloured red', 'grown big', 'last last', 'noted noted', 'red red'];
    expect([...new Set(calls)].sort()).toEqual(expected);
    expect(calls.filter((call) => call !== 'red red')).toHaveLength(expected.length - 1);
    const plain = await things.get(namespace, 'plain');
    expect(plain?.metadata?.resourceVersion).toBe(ignored.metadata?.resourceVersion);
  });
});
