import { localCluster } from '@kopf-ts/apiserver';
import { staticCredentials } from '@kopf-ts/client';
import {
  type AnyObject,
  type Clock,
  type Indexer,
  type KubeClient,
  type LifeCycle,
  settings as makeSettings,
  type Peering,
  type Scheduler,
} from '@kopf-ts/core';
import { memoryIndexer } from '@kopf-ts/indexing';
import { boundedScheduler } from '@kopf-ts/reactor';
import { annotationsDiffBaseStorage, annotationsProgressStorage } from '@kopf-ts/storage';
import { recordingLogger, recordingObserver } from '@kopf-ts/testing';
import { createRegistry, operator, TemporaryError } from 'kopf-ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newPlace, startOperator } from './wired.js';

const annotationsOf = (object: AnyObject | undefined) => Object.keys(object?.metadata?.annotations ?? {}).sort();

describe('an operator does with what it is given:', () => {
  it('the client, which is used for everything and asked to log in by nobody', async () => {
    const place = await newPlace();
    const clients = new Set<KubeClient>();
    let logins = 0;
    await startOperator(place, ({ on }) => {
      on.login(function login() {
        logins++;
        return undefined;
      });
      on.startup(function begin({ client }) {
        clients.add(client);
      });
      on.create('kopfexamples', function created({ client }) {
        clients.add(client);
        return 'done';
      });
    });
    await place.create('one');
    expect(place.requests).toContain('GET /apis');
    expect(place.requests).toContainEqual(expect.stringMatching('GET /apis/kopf.dev/v1/kopfexamples[?]watch=true'));
    expect(place.requests).toContain('PATCH /apis/kopf.dev/v1/namespaces/default/kopfexamples/one?fieldManager=kopf');
    expect([...clients]).toEqual([place.client]);
    expect(logins).toBe(0);
  });

  it('the credentials, which its own client uses, and nobody is asked to log in; requests are told of as always', async () => {
    const cluster = await localCluster();
    onTestFinished(() => cluster.stop());
    const registry = createRegistry();
    let logins = 0;
    registry.on.login(() => {
      logins++;
      return undefined;
    });
    registry.on.create('configmaps', () => {});
    const observer = recordingObserver(['request.ended']);
    const credentials = staticCredentials({ server: cluster.url, token: cluster.token });
    const running = operator({
      ...{ registry, credentials, observers: [observer], logger: recordingLogger() },
      ...{ identity: 'me', namespaces: ['default'], standalone: true },
    });
    onTestFinished(() => running.stop());
    await running.ready;
    expect(observer.of('request.ended').map(({ path }) => path)).toContain('/apis');
    expect(logins).toBe(0);
  });

  it('the indexer, which accepts all events and whose indices the handlers get', async () => {
    const place = await newPlace();
    const registry = createRegistry();
    registry.index('kopfexamples', { id: 'names' }, ({ name }) => ({ [String(name)]: 1 }));
    const calls: unknown[] = [];
    // biome-ignore lint/suspicious/noExplicitAny: indices come under their own names
    registry.on.create('kopfexamples', { id: 'c' }, ({ names }: any) => {
      calls.push([...names.keys()]);
    });
    const memory = memoryIndexer({ registry, settings: makeSettings(), clock: place.clock, client: place.client });
    const digested: unknown[] = [];
    const indexer: Indexer = {
      indices: memory.indices,
      accept(at) {
        digested.push([at.event.type, at.event.object.metadata?.name]);
        return memory.accept(at);
      },
    };
    await place.create('listed');
    await startOperator(place, () => {}, { registry, indexer });
    expect(digested.slice(0, 1)).toEqual([[null, 'listed']]);
    expect(calls).toEqual([['listed']]);
  });

  it('the peering, which decides when to work', async () => {
    const place = await newPlace();
    const joined: unknown[] = [];
    const calls: unknown[] = [];
    let unpause = (): void => {};
    const peering: Peering = {
      async join({ namespace, paused, signal }) {
        joined.push(namespace);
        unpause = () => paused.turn(false);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    };
    await startOperator(
      place,
      ({ on }) => {
        on.create('kopfexamples', function created({ name }) {
          calls.push(name);
        });
      },
      { peering },
    );
    await place.create('one');
    expect([joined, calls]).toEqual([[null], []]);
    unpause();
    await place.settle();
    expect(calls).toEqual(['one']);
  });

  it('the scheduler, a new one for each stream', async () => {
    const place = await newPlace();
    const jobs: string[][] = [];
    const logger = recordingLogger();
    const scheduler = (): Scheduler => {
      const names: string[] = [];
      jobs.push(names);
      const bounded = boundedScheduler({ limit: () => 1, logger });
      return {
        get size() {
          return bounded.size;
        },
        failed: bounded.failed,
        close: () => bounded.close(),
        spawn(job) {
          names.push(job.name);
          bounded.spawn(job);
        },
      };
    };
    await startOperator(
      place,
      ({ on }) => {
        on.event('kopfexamples', function seen() {});
        on.event('configmaps', function seen() {});
      },
      { scheduler },
    );
    const { metadata } = await place.create('one');
    expect(jobs.filter((names) => names.includes(String(metadata?.uid)))).toHaveLength(1);
    expect(jobs).toHaveLength(2);
  });

  it('the clock, by which all delays are measured', async () => {
    const place = await newPlace();
    const times: number[] = [];
    const asked: number[] = [];
    const clock: Clock = {
      now: () => place.clock.now() + 1000,
      utc: () => place.clock.utc(),
      sleep(delay, options) {
        asked.push(delay);
        return place.clock.sleep(delay, options);
      },
    };
    await startOperator(
      place,
      ({ on }) => {
        on.create('kopfexamples', function created({ retry }) {
          times.push(clock.now());
          if (retry === 0) throw new TemporaryError('not yet', { delay: 12.5 });
        });
      },
      { clock },
    );
    await place.create('one');
    await place.clock.advance(12.5);
    await place.settle();
    expect(times).toEqual([1000, 1012.5]);
    expect(asked).toContain(12.5);
  });

  it('the logger, which gets the lines of everybody', async () => {
    const place = await newPlace();
    const logger = recordingLogger();
    await startOperator(
      place,
      ({ on }) => {
        on.startup(function begin({ logger: own }) {
          own.info('from the startup');
        });
        on.create('kopfexamples', function created({ logger: own }) {
          own.info('from the handler');
        });
      },
      { logger },
    );
    await place.create('one');
    expect(logger.find('from the startup')).toBeDefined();
    expect(logger.find('from the handler')?.fields).toMatchObject({ object: { name: 'one' } });
    expect(logger.find('Creation is in progress')).toBeDefined();
  });

  it.each(['the settings', 'a startup handler'])('the storages, given by %s', async (whose) => {
    const place = await newPlace();
    const given = {
      progressStorage: annotationsProgressStorage({ prefix: 'progress.example.com' }),
      diffbaseStorage: annotationsDiffBaseStorage({ prefix: 'diffbase.example.com' }),
      finalizer: 'example.com/finalizer',
    };
    const settings = makeSettings(whose === 'the settings' ? { persistence: given } : {});
    await startOperator(
      place,
      ({ on }) => {
        on.startup(function configure(kwargs) {
          if (whose !== 'the settings') Object.assign(kwargs.settings.persistence, given);
        });
        on.create('kopfexamples', { id: 'c' }, ({ retry }) => {
          if (retry === 0) throw new TemporaryError('not yet', { delay: 10 });
        });
        on.delete('kopfexamples', { id: 'd' }, () => {});
      },
      { settings },
    );
    await place.create('one');
    const now = () => place.cluster.get('kopfexamples/default/one') as AnyObject | undefined;
    expect(annotationsOf(now())).toContain('progress.example.com/c');
    expect(now()?.metadata?.finalizers).toEqual(['example.com/finalizer']);
    await place.clock.advance(10);
    await place.settle();
    expect(annotationsOf(now())).toContain('diffbase.example.com/last-handled-configuration');
    expect(annotationsOf(now()).filter((name) => name.includes('kopf.zalando.org'))).toEqual([]);
  });

  it('the memo, which the activities share and each object gets a copy of', async () => {
    const place = await newPlace();
    const memo = { title: 'mine', counter: 0 };
    const seen: unknown[] = [];
    await startOperator(
      place,
      ({ on }) => {
        on.startup(function begin({ memo: own }) {
          seen.push(own === memo);
        });
        on.create('kopfexamples', function created({ memo: own }) {
          own.counter++;
          seen.push([own.title, own.counter, own === memo]);
        });
      },
      { memo },
    );
    await place.create('one');
    await place.create('two');
    expect(seen).toEqual([true, ['mine', 1, false], ['mine', 1, false]]);
    expect(memo.counter).toBe(0);
  });

  it('the lifecycle, by which the handlers are chosen', async () => {
    const place = await newPlace();
    const calls: string[] = [];
    const lifecycle: LifeCycle = (handlers) => handlers.slice(-1);
    await startOperator(
      place,
      ({ on }) => {
        for (const id of ['a', 'b', 'c']) on.create('kopfexamples', { id }, () => void calls.push(id));
      },
      { lifecycle },
    );
    await place.create('one');
    expect(calls).toEqual(['c', 'b', 'a']);
  });
});
