import type { Indexer } from '@kopf-ts/core';
import { toggleSet } from '@kopf-ts/core/engine';
import { describe, expect, it } from 'vitest';
import { type OperatedOptions, operated } from '../support/operated.js';
import { type Gate, gate } from './handled-by-hand.js';

/** An indexer that writes down what it accepts, and takes its time if there is a gate. */
function indexing(log: string[], slowness?: Gate): Indexer {
  return {
    indices: { get: () => undefined, [Symbol.iterator]: () => [][Symbol.iterator]() } as unknown as Indexer['indices'],
    accept({ event }) {
      log.push(`accept ${event.type} ${event.object.metadata?.name}`);
      return slowness?.pass();
    },
  };
}

async function indexed(slowness?: Gate, options: OperatedOptions = {}) {
  const log: string[] = [];
  // As when the cluster is looked at for the first time.
  const gates = toggleSet('all');
  const looking = gates.make(false);
  const operator = await operated({
    ...options,
    parts: { indexer: indexing(log, slowness), indexed: gates, ...options.parts },
  });
  operator.registry.index('kopfexamples', { id: 'i' }, () => 1);
  const start = async () => {
    await operator.start();
    expect(log.filter((line) => !line.startsWith('accept'))).toEqual([]);
    looking.turn(true);
    await operator.settle();
  };
  return { log, gates, operator, start };
}

describe('Before all is indexed for the first time', () => {
  it.each([
    ['synchronous', undefined],
    ['asynchronous', gate()],
  ])(
    'nothing is handled, and one worker for two objects is no deadlock: with %s functions',
    async (_name, slowness) => {
      const { log, operator, start } = await indexed(slowness, { settings: { queueing: { workerLimit: 1 } } });
      await using _ending = operator;
      operator.registry.on.create('kopfexamples', { id: 'c' }, ({ name }) => void log.push(`create ${name}`));
      for (const name of ['name1', 'name2']) await operator.create(name);
      await start();
      if (slowness !== undefined) {
        expect(log).toEqual(['accept null name1', 'accept null name2']);
        slowness.release();
        await operator.settle();
        expect(log).toHaveLength(2);
        slowness.open();
        await operator.settle();
      }
      expect(log.slice(0, 3)).toEqual(['accept null name1', 'accept null name2', 'create name1']);
      expect(log).toContain('create name2');
    },
  );

  it('changes are waited with, too, and then only the newest state is handled', async () => {
    const { log, gates, operator, start } = await indexed();
    await using _ending = operator;
    const other = gates.make(false);
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ spec }) => void log.push(`create ${spec['field']}`));
    await operator.create('name1');
    await start();
    await operator.edit('name1', { spec: { field: 'w' } });
    expect(log).toEqual(['accept null name1', 'accept MODIFIED name1']);
    other.turn(true);
    await operator.settle();
    expect(log.filter((line) => line.startsWith('create'))).toEqual(['create w']);
  });

  it('what is deleted by then is never handled, but the handlers of events are told', async () => {
    const { log, gates, operator, start } = await indexed();
    await using _ending = operator;
    const other = gates.make(false);
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => void log.push('create'));
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ type }) => void log.push(`event ${type}`));
    await operator.create('name1');
    await start();
    await operator.remove('name1');
    log.length = 0;
    other.turn(true);
    await operator.settle();
    expect(log).toEqual(['event null', 'event DELETED']);
  });

  it('a pause comes: what is listed after it is handled, and not what was seen before it', async () => {
    const { log, gates, operator, start } = await indexed();
    await using _ending = operator;
    const other = gates.make(false);
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ spec }) => void log.push(`create ${spec['field']}`));
    await operator.create('name1');
    await start();
    operator.paused.turn(true);
    await operator.settle();
    await operator.edit('name1', { spec: { field: 'w' } });
    other.turn(true);
    await operator.settle();
    expect(log).toEqual(['accept null name1']);
    operator.paused.turn(false);
    await operator.settle();
    expect(log.filter((line) => line.startsWith('create'))).toEqual(['create w']);
  });

  it('the operator is stopped: it is at once, and nobody is called with half of an index', async () => {
    const { log, operator, start } = await indexed(gate());
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => void log.push('create'));
    operator.registry.on.event('kopfexamples', { id: 'e' }, () => void log.push('event'));
    await operator.create('name1');
    await start();
    const since = operator.clock.now();
    const stopped = operator.stop();
    await operator.settle();
    expect(log).toEqual(['accept null name1']);
    expect(operator.logger.find('Unprocessed streams')).toBeUndefined();
    await stopped;
    expect(operator.clock.now() - since).toBeLessThanOrEqual(operator.settings.queueing.exitTimeout);
    await operator[Symbol.asyncDispose]();
  });

  it('the stop of those who are not indexed does not wait for the others either', async () => {
    const gates = toggleSet('all');
    gates.make(false);
    const calls: string[] = [];
    const operator = await operated({ parts: { indexed: gates } });
    operator.registry.on.create('kopfexamples', { id: 'c' }, () => void calls.push('create'));
    await operator.create('name1');
    await operator.start();
    await operator.stop();
    expect(calls).toEqual([]);
    expect(operator.logger.find('Unprocessed streams')).toBeUndefined();
    await operator[Symbol.asyncDispose]();
  });
});

describe('After all is indexed', () => {
  it('a slow index function holds up only its own object', async () => {
    const slowness = gate();
    const log: string[] = [];
    const accept: Indexer['accept'] = ({ event }) =>
      event.object.metadata?.name === 'slow' ? slowness.pass() : undefined;
    await using operator = await operated({ parts: { indexer: { ...indexing(log), accept } } });
    operator.registry.index('kopfexamples', { id: 'i' }, () => 1);
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ name }) => void log.push(`create ${name}`));
    await operator.start();
    await operator.create('slow');
    await operator.create('fast');
    expect(log).toEqual(['create fast']);
    slowness.open();
    await operator.settle();
    expect(log).toEqual(['create fast', 'create slow']);
  });

  it('events of an object are indexed and handled one by one, in order', async () => {
    const slowness = gate();
    const { log, operator, start } = await indexed(slowness);
    await using _ending = operator;
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ type, name }) => void log.push(`event ${type} ${name}`));
    await start();
    await operator.create('name1');
    await operator.edit('name1', { spec: { field: 'w' } });
    await operator.create('name2');
    expect(log).toEqual(['accept ADDED name1', 'accept ADDED name2']);
    slowness.release();
    await operator.settle();
    expect(log.slice(2)).toEqual(['event ADDED name1', 'accept MODIFIED name1']);
    slowness.open();
    await operator.settle();
    expect(log.filter((line) => line.includes('event') && line.includes('name1'))).toEqual([
      'event ADDED name1',
      'event MODIFIED name1',
    ]);
  });

  it('what was being indexed when a pause came is not handled after it, but what is listed then', async () => {
    const slowness = gate();
    const { log, operator, start } = await indexed(slowness);
    await using _ending = operator;
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ spec }) => void log.push(`create ${spec['field']}`));
    operator.registry.on.event('kopfexamples', { id: 'e' }, ({ spec }) => void log.push(`event ${spec['field']}`));
    await start();
    await operator.create('name1');
    operator.paused.turn(true);
    await operator.settle();
    await operator.edit('name1', { spec: { field: 'w' } });
    operator.paused.turn(false);
    await operator.settle();
    slowness.open();
    await operator.settle();
    expect(log.filter((line) => !line.startsWith('accept')).slice(0, 2)).toEqual(['event w', 'create w']);
    expect(log).not.toContain('event v');
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('boo!');
      },
    ],
    ['rejects', () => Promise.reject(new Error('boo!'))],
  ])('an indexer that %s is reported, and the object is handled all the same', async (_name, accept) => {
    const calls: unknown[] = [];
    const indexer = { ...indexing([]), accept };
    await using operator = await operated({ parts: { indexer } });
    operator.registry.index('kopfexamples', { id: 'i' }, () => 1);
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ name }) => void calls.push(name));
    await operator.create('name1');
    await operator.start();
    expect(calls).toEqual(['name1']);
    expect(operator.logger.find('Indexing has failed unexpectedly: boo!')?.level).toBe('error');
  });
});
