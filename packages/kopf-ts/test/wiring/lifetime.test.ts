import { createRegistry, PermanentError, setDefaultRegistry } from '@kopf-ts/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newPlace, startOperator, stopOperator } from './wired.js';

describe('an operator whose startup fails', () => {
  it('makes no requests, does not log in, does not clean up, and fails with that', async () => {
    const place = await newPlace();
    const calls: string[] = [];
    for (const client of [place.client, undefined]) {
      const started = await startOperator(
        place,
        ({ on }) => {
          on.startup(function begin() {
            calls.push('startup');
            throw new PermanentError('There is no way.');
          });
          on.login(function login() {
            calls.push('login');
            return undefined;
          });
          on.cleanup(function finish() {
            calls.push('cleanup');
          });
          on.create('kopfexamples', function created() {});
        },
        { client },
      );
      await expect(started.done).rejects.toMatchObject({
        message: expect.stringContaining('One or more handlers failed.'),
        cause: expect.objectContaining({ message: 'There is no way.' }),
      });
      await expect(started.ready).rejects.toThrow('One or more handlers failed.');
    }
    expect(calls).toEqual(['startup', 'startup']);
    expect(place.requests).toEqual([]);
    expect(place.clock.sleepers).toBe(0);
  });
});

describe('an operator', () => {
  it('asks nothing of the cluster until the startup handlers have succeeded, with their retries', async () => {
    const place = await newPlace();
    const calls: string[] = [];
    const started = await startOperator(place, ({ on }) => {
      on.startup({ id: 'begin', backoff: 10 }, ({ retry }) => {
        calls.push(`startup ${retry}`);
        if (retry < 2) throw new Error('not yet');
      });
      on.create('kopfexamples', function created() {});
    });
    await place.clock.advance(19);
    expect(place.requests).toEqual([]);
    await place.clock.advance(1);
    await place.settle();
    await started.ready;
    expect(calls).toEqual(['startup 0', 'startup 1', 'startup 2']);
    expect(place.requests).toContainEqual(expect.stringMatching('GET /apis/kopf.dev/v1/kopfexamples[?]watch=true'));
  });

  it('stops by its signal, cleans up when nothing else runs, and leaves nothing behind', async () => {
    const place = await newPlace();
    const calls: string[] = [];
    const control = new AbortController();
    const listeners = process.listenerCount('unhandledRejection');
    const started = await startOperator(
      place,
      ({ on, daemon }) => {
        daemon('kopfexamples', async function endless({ stopped }) {
          await new Promise((resolve) => stopped.addEventListener('abort', resolve));
          calls.push('daemon ends');
        });
        on.cleanup(async function finish({ client }) {
          const seen = await client.request<{ kind: string }>({
            method: 'GET',
            path: '/apis/kopf.dev/v1/namespaces/default/kopfexamples/one',
          });
          calls.push(`cleanup of ${seen.kind}`);
        });
      },
      { signal: control.signal },
    );
    await place.create('one');
    control.abort();
    await place.settle();
    await place.clock.advance(3);
    await started.done;
    expect(calls).toEqual(['daemon ends', 'cleanup of KopfExample']);
    expect(place.clock.sleepers).toBe(0);
    expect(process.listenerCount('unhandledRejection')).toBe(listeners);
    place.requests.length = 0;
    await place.create('two');
    await place.clock.advance(1000);
    expect(place.requests).toEqual([]);
  });

  it('calls nobody before all of the indexed kinds are indexed, and then with all of them', async () => {
    const place = await newPlace();
    const calls: unknown[] = [];
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await place.create('one');
    await place.create('two');
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'three', namespace: 'default' } };
    await place.cluster.create(configMap);
    const started = await startOperator(place, ({ on, index }) => {
      index('configmaps', { id: 'names' }, async ({ name }) => {
        await held;
        return { [String(name)]: true };
      });
      index('kopfexamples', { id: 'names' }, ({ name }) => ({ [String(name)]: true }));
      // biome-ignore lint/suspicious/noExplicitAny: indices come under their own names
      on.event('kopfexamples', function seen({ name, names }: any) {
        calls.push([name, [...names.keys()].sort()]);
      });
    });
    await place.clock.advance(100);
    expect(calls).toEqual([]);
    release();
    await place.settle();
    expect(calls).toEqual([
      ['one', ['one', 'three', 'two']],
      ['two', ['one', 'three', 'two']],
    ]);
    await stopOperator(place, started);
  });

  it('takes the handlers of the process if no registry is given', async () => {
    const place = await newPlace();
    const registry = createRegistry();
    const calls: unknown[] = [];
    registry.on.create('kopfexamples', { id: 'c' }, ({ name }) => void calls.push(name));
    setDefaultRegistry(registry);
    onTestFinished(() => setDefaultRegistry(createRegistry()));
    await startOperator(place, () => {}, { registry: undefined });
    await place.create('one');
    expect(calls).toEqual(['one']);
  });
});

describe('several operators in one process', () => {
  it('have settings, memos, indices, and objects in memory of their own', async () => {
    const place = await newPlace();
    const calls: string[] = [];
    const start = (title: string) =>
      startOperator(place, ({ on, index }) => {
        on.startup(function configure({ settings, memo }) {
          settings.persistence.finalizer = `example.com/${title}`;
          settings.execution.defaultBackoff = title === 'left' ? 10 : 20;
          memo.title = title;
        });
        index('kopfexamples', { id: 'names', labels: { of: title } }, ({ name }) => ({ [String(name)]: true }));
        // biome-ignore lint/suspicious/noExplicitAny: indices come under their own names
        on.create('kopfexamples', { labels: { of: title } }, function created({ memo, name, names, retry }: any) {
          memo.count = (memo.count ?? 0) + 1;
          calls.push(`${title} as ${memo.title}: ${name} for the ${memo.count}, indexed ${[...names.keys()]}`);
          if (retry === 0) throw new Error('not yet');
        });
        on.delete('kopfexamples', { labels: { of: title } }, function deleted() {});
      });
    const [left, right] = [await start('left'), await start('right')];
    for (const of of ['left', 'right'])
      await place.create(`for-${of}`, { metadata: { name: `for-${of}`, namespace: 'default', labels: { of } } });
    expect(calls.splice(0)).toEqual([
      'left as left: for-left for the 1, indexed for-left',
      'right as right: for-right for the 1, indexed for-right',
    ]);
    await place.clock.advance(10);
    await place.settle();
    expect(calls.splice(0)).toEqual(['left as left: for-left for the 2, indexed for-left']);

    // The end of one is not the end of the other.
    await stopOperator(place, left);
    await place.settle();
    expect(calls.splice(0)).toEqual(['right as right: for-right for the 2, indexed for-right']);
    expect(place.cluster.get('kopfexamples/default/for-left')).toMatchObject({
      metadata: { finalizers: ['example.com/left'] },
    });
    expect(right.logger.lines.filter(({ fields }) => JSON.stringify(fields).includes('for-left'))).toEqual([]);
    await stopOperator(place, right);
    expect(place.clock.sleepers).toBe(0);
  });

  it('fail alone', async () => {
    const place = await newPlace();
    const calls: unknown[] = [];
    const good = await startOperator(place, ({ on }) => {
      on.create('kopfexamples', function created({ name }) {
        calls.push(name);
      });
    });
    const bad = await startOperator(place, ({ on }) => {
      on.startup({ errors: 'permanent' }, function begin() {
        throw new Error('boo');
      });
    });
    await expect(bad.done).rejects.toThrow('One or more handlers failed.');
    await place.create('one');
    expect(calls).toEqual(['one']);
    expect(good.logger.messages('error')).toEqual([]);
  });
});
