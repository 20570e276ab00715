import { type Change, subhandler, TemporaryError } from '@kopf-ts/core';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { describeOnClusters } from '../support/operators/clusters.js';
import type { TestKind } from '../support/operators/kinds.js';
import { eventually, startOperator } from '../support/operators/operators.js';

const FINALIZER = 'kopf.zalando.org/KopfFinalizerMarker';
const LAST_HANDLED = 'kopf.zalando.org/last-handled-configuration';

describeOnClusters('changes of objects', (cluster) => {
  let things: TestKind;
  let namespace: string;
  beforeAll(async () => {
    things = await cluster().newKind();
  });
  beforeEach(async () => {
    namespace = await cluster().newNamespace();
  });

  const annotationsOf = async (name: string): Promise<Record<string, string>> =>
    (await things.get(namespace, name))?.metadata?.annotations ?? {};
  const isHandled = async (name: string): Promise<void> => {
    await eventually(async () => {
      const annotations = await annotationsOf(name);
      expect(Object.keys(annotations)).toEqual([LAST_HANDLED]);
    });
  };

  it('are told to handlers from the creation to the deletion, and stored as handled', async () => {
    const calls: string[] = [];
    const operator = await startOperator(
      cluster(),
      ({ on }) => {
        on.create(things.selector, function created({ name, spec, patch }) {
          calls.push(`created ${name} ${spec['size']}`);
          patch.status['phase'] = 'ready';
          return { volume: `${name}-volume` };
        });
        on.update(things.selector, function updated({ diff }) {
          calls.push(`updated ${JSON.stringify(diff)}`);
        });
        on.field(things.selector, { field: 'spec.size' }, function resized({ old, new: size }) {
          calls.push(`resized ${old} ${size}`);
        });
        on.delete(things.selector, function deleted({ name, status }) {
          calls.push(`deleted ${name} ${status['created'].volume}`);
        });
      },
      { namespaces: [namespace] },
    );

    await things.create(namespace, 'one', { spec: { size: 1 } });
    await isHandled('one');
    expect(calls.splice(0)).toEqual(['created one 1', 'resized undefined 1']);
    const handled = await things.get(namespace, 'one');
    expect(handled?.['status']).toEqual({ phase: 'ready', created: { volume: 'one-volume' } });
    expect(handled?.metadata?.finalizers).toEqual([FINALIZER]);

    await things.patch(namespace, 'one', { spec: { size: 2 } });
    await eventually(() => expect(calls).toHaveLength(2));
    await isHandled('one');
    expect(calls.splice(0)).toEqual(['updated [["change",["spec","size"],1,2]]', 'resized 1 2']);
    expect(JSON.parse((await annotationsOf('one'))[LAST_HANDLED] ?? '')).toEqual({ spec: { size: 2 } });

    await things.patch(namespace, 'one', { metadata: { labels: { colour: 'red' } } });
    await eventually(() => expect(calls).toHaveLength(1));
    await isHandled('one');
    expect(calls.splice(0)).toEqual(['updated [["add",["metadata"],null,{"labels":{"colour":"red"}}]]']);

    await things.delete(namespace, 'one');
    await eventually(async () => expect(await things.get(namespace, 'one')).toBeUndefined());
    expect(calls).toEqual(['deleted one one-volume']);
    expect(operator.logger.messages('error')).toEqual([]);
  });

  it('made while there was no operator are handled by the next one; all else is resumed', async () => {
    const calls: string[] = [];
    const start = () =>
      startOperator(
        cluster(),
        ({ on }) => {
          on.create(things.selector, function created({ name }) {
            calls.push(`created ${name}`);
          });
          on.update(things.selector, function updated({ name, diff }) {
            calls.push(`updated ${name} ${diff.length}`);
          });
          on.resume(things.selector, function resumed({ name, reason }) {
            calls.push(`resumed ${name} ${reason}`);
          });
          on.delete(things.selector, function deleted({ name }) {
            calls.push(`deleted ${name}`);
          });
        },
        { namespaces: [namespace] },
      );
    const first = await start();
    for (const name of ['same', 'changed', 'doomed']) {
      await things.create(namespace, name, { spec: { size: 1 } });
      await isHandled(name);
    }
    expect(calls.splice(0)).toEqual(['created same', 'created changed', 'created doomed']);
    await first.stop();

    await things.patch(namespace, 'changed', { spec: { size: 2 } });
    await things.delete(namespace, 'doomed');
    await things.create(namespace, 'new');
    expect((await things.get(namespace, 'doomed'))?.metadata?.deletionTimestamp).toBeDefined();
    const second = await start();
    await isHandled('new');
    await eventually(async () => expect(await things.get(namespace, 'doomed')).toBeUndefined());
    await eventually(() => expect(calls).toHaveLength(5));
    expect(calls.splice(0).sort()).toEqual([
      'created new',
      'deleted doomed',
      'resumed changed update',
      'resumed same resume',
      'updated changed 1',
    ]);
    await second.stop();
  });

  it('are handled in parts by sub-handlers, each until it succeeds', async () => {
    const calls: string[] = [];
    await startOperator(
      cluster(),
      ({ on }) => {
        on.create(things.selector, function provision({ spec, retry }) {
          calls.push(`provision ${retry}`);
          for (const part of spec['parts'] as string[]) {
            subhandler(part, ({ retry }: Change) => {
              calls.push(`${part} ${retry}`);
              if (part === 'b' && retry === 0) throw new TemporaryError('Not yet.', { delay: 0.1 });
              return `${part} is done`;
            });
          }
        });
      },
      { namespaces: [namespace] },
    );
    await things.create(namespace, 'one', { spec: { parts: ['a', 'b', 'c'] } });
    await isHandled('one');
    expect(calls.filter((call) => !call.startsWith('provision')).sort()).toEqual(['a 0', 'b 0', 'b 1', 'c 0']);
    expect((await things.get(namespace, 'one'))?.['status']).toMatchObject({
      'provision/a': 'a is done',
      'provision/b': 'b is done',
      'provision/c': 'c is done',
    });
  });

  it('are tried again by the next operator from where the former one has stopped', async () => {
    const calls: { id: string; retry: number; started: string; operator: number }[] = [];
    const start = (ordinal: number) =>
      startOperator(
        cluster(),
        ({ on }) => {
          on.create(things.selector, function easy({ retry, started }) {
            calls.push({ id: 'easy', retry, started: started.toISOString(), operator: ordinal });
          });
          on.create(things.selector, function hard({ retry, started }) {
            calls.push({ id: 'hard', retry, started: started.toISOString(), operator: ordinal });
            if (ordinal === 1) throw new TemporaryError('Not with this one.', { delay: retry < 2 ? 0.1 : 3 });
          });
        },
        { namespaces: [namespace] },
      );
    const first = await start(1);
    await things.create(namespace, 'one');
    await eventually(async () => {
      const record = JSON.parse((await annotationsOf('one'))['kopf.zalando.org/hard'] ?? '{}');
      expect(record).toMatchObject({ retries: 3, success: false, failure: false, message: 'Not with this one.' });
    });
    await first.stop();
    expect(JSON.parse((await annotationsOf('one'))['kopf.zalando.org/easy'] ?? '{}')).toMatchObject({ success: true });

    await start(2);
    await isHandled('one');
    expect(calls.map(({ id, retry, operator }) => `${operator}: ${id} ${retry}`)).toEqual([
      '1: easy 0',
      '1: hard 0',
      '1: hard 1',
      '1: hard 2',
      '2: hard 3',
    ]);
    const ofHard = calls.filter(({ id }) => id === 'hard').map(({ started }) => started);
    expect(new Set(ofHard)).toEqual(new Set([ofHard[0]]));
  });

  it('of objects of the cluster are handled without any namespace', async () => {
    const globals = await cluster().newKind({ plural: 'globals', namespaced: false });
    const calls: string[] = [];
    await startOperator(
      cluster(),
      ({ on, daemon }) => {
        on.create(globals.selector, function created({ name, namespace }) {
          calls.push(`created ${name} ${namespace}`);
        });
        on.delete(globals.selector, function deleted({ name, namespace }) {
          calls.push(`deleted ${name} ${namespace}`);
        });
        daemon(globals.selector, { cancellationTimeout: 5 }, async function guard({ name, stopped }) {
          await new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve()));
          calls.push(`guarded ${name}`);
        });
      },
      { clusterwide: true },
    );
    await globals.create(undefined, 'one');
    await eventually(async () => {
      const { annotations = {} } = (await globals.get(undefined, 'one'))?.metadata ?? {};
      expect(Object.keys(annotations)).toEqual([LAST_HANDLED]);
    });
    await globals.delete(undefined, 'one');
    await eventually(async () => expect(await globals.get(undefined, 'one')).toBeUndefined());
    expect(calls).toEqual(['created one undefined', expect.any(String), expect.any(String)]);
    expect(calls.slice(1).sort()).toEqual(['deleted one undefined', 'guarded one']);
  });
});
