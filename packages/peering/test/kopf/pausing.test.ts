import { type KubeRequest, settings } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { kopfPeering } from '../../src/index.js';
import { join, makeRig, peeringObject, record, records, writeRecords } from '../helpers/joining.js';

const me = (overrides = {}) =>
  kopfPeering({ settings: settings({ peering: overrides }), identity: 'me', random: () => 0.5 });

describe('the first ruling', () => {
  it('lets the operator work if it is alone', async () => {
    const rig = await makeRig();
    const operator = await join(rig, me());
    expect(operator.turns).toEqual([false]);
    expect(operator.logger.find('Resuming')).toBeUndefined();
    expect(operator.logger.find('Pausing')).toBeUndefined();
  });

  it('comes after our own record is there, so that others know of us before we begin', async () => {
    const rig = await makeRig();
    rig.cluster.faults.add({ match: { method: 'PATCH' }, latency: 2 });
    const operator = await join(rig, me());
    await rig.clock.advance(1.9);
    expect(operator.isPaused).toBe(true);
    await rig.clock.advance(0.2);
    expect(operator.isPaused).toBe(false);
    expect(records(rig)).toHaveProperty('me');
  });

  it('never turns on and off again if there is somebody of the same priority (a second replica handles nothing)', async () => {
    const rig = await makeRig();
    await writeRecords(rig, { other: record(rig) });
    const operator = await join(rig, me());
    await rig.clock.advance(30);
    expect(operator.turns).toEqual([]);
    expect(operator.isPaused).toBe(true);
  });

  it('gives those of lower priorities a moment to finish what they are doing', async () => {
    const rig = await makeRig();
    await writeRecords(rig, { other: record(rig, { priority: -1 }) });
    const operator = await join(rig, me());
    await rig.clock.advance(0.9);
    expect(operator.isPaused).toBe(true);
    await rig.clock.advance(0.1);
    expect(operator.turns).toEqual([false]);
    expect(operator.logger.messages('info')).toEqual([]);
  });

  it('comes at once if those of lower priorities are dead', async () => {
    const rig = await makeRig();
    await writeRecords(rig, { other: record(rig, { priority: -1, ago: 3600 }) });
    const operator = await join(rig, me());
    expect(operator.turns).toEqual([false]);
  });

  it('waits for the cluster that does not answer', async () => {
    const rig = await makeRig();
    const outage = rig.cluster.faults.add({ answer: { status: 503 } });
    const operator = await join(rig, me());
    await rig.clock.advance(100);
    expect(operator.isPaused).toBe(true);
    outage.remove();
    await rig.clock.advance(15);
    expect(operator.isPaused).toBe(false);
  });
});

describe('peers of a higher priority', () => {
  it('pause us, with a word of who it is', async () => {
    const rig = await makeRig();
    const operator = await join(rig, me());
    await writeRecords(rig, { other: record(rig, { priority: 1 }) });
    expect(operator.isPaused).toBe(true);
    expect(operator.logger.messages('info')).toEqual([
      "Pausing operations in favour of [<Peer other: priority=1, lifetime=60, lastseen='2020-12-31T23:59:59.123000+00:00'>].",
    ]);
  });

  it('keep us paused without more words', async () => {
    const rig = await makeRig();
    const operator = await join(rig, me());
    await writeRecords(rig, { other: record(rig, { priority: 1 }) });
    operator.logger.clear();
    await rig.clock.advance(10);
    await writeRecords(rig, { other: record(rig, { priority: 1 }) });
    expect(operator.isPaused).toBe(true);
    expect(operator.logger.messages('info')).toEqual([]);
    expect(operator.logger.messages('warn')).toEqual([]);
  });

  it('let us go on when they leave', async () => {
    const rig = await makeRig();
    const operator = await join(rig, me());
    await writeRecords(rig, { other: record(rig, { priority: 1 }) });
    await writeRecords(rig, { other: null });
    expect(operator.turns).toEqual([false, true, false]);
    expect(operator.logger.find('Resuming operations after the pause')?.level).toBe('info');
  });

  it('tell why they are there, if they do', async () => {
    const rig = await makeRig();
    const operator = await join(rig, me());
    await writeRecords(rig, { other: { ...record(rig, { priority: 1 }), message: 'maintenance' } });
    expect(operator.logger.find('Pausing operations in favour of')?.message).toContain('(maintenance)');
  });
});

describe('peers of a lower priority', () => {
  it('do not matter while we work', async () => {
    const rig = await makeRig();
    const operator = await join(rig, me({ priority: 5 }));
    await writeRecords(rig, { other: record(rig, { priority: 4 }) });
    expect(operator.turns).toEqual([false]);
    expect(operator.logger.messages('info')).toEqual([]);
  });

  it('do not matter when those of a higher one are gone', async () => {
    const rig = await makeRig();
    const operator = await join(rig, me({ priority: 5 }));
    await writeRecords(rig, { other: record(rig, { priority: 6 }) });
    await writeRecords(rig, { other: record(rig, { priority: 4 }) });
    expect(operator.turns).toEqual([false, true, false]);
    expect(operator.logger.find('Resuming operations')).toBeDefined();
  });
});

describe('peers of the same priority, which all pause', () => {
  it('pause us with one warning that names them and says that all pause', async () => {
    const rig = await makeRig();
    const operator = await join(rig, me());
    await writeRecords(rig, { other: record(rig) });
    expect(operator.isPaused).toBe(true);
    const [warning, ...more] = operator.logger.messages('warn');
    expect(warning).toContain('Possibly conflicting operators with the same priority: [<Peer other: priority=0');
    expect(warning).toContain('Pausing all operators, including self');
    expect(more).toEqual([]);
  });

  it('are not warned of with each of their keep-alives', async () => {
    const rig = await makeRig();
    const operator = await join(rig, me());
    for (let i = 0; i < 5; i++) {
      await writeRecords(rig, { other: record(rig) });
      await rig.clock.advance(30);
    }
    expect(operator.isPaused).toBe(true);
    expect(operator.logger.messages('warn')).toHaveLength(1);
  });

  it('are warned of again when there are others', async () => {
    const rig = await makeRig();
    const operator = await join(rig, me());
    await writeRecords(rig, { other: record(rig) });
    await writeRecords(rig, { another: record(rig) });
    expect(operator.logger.messages('warn')).toHaveLength(2);
    expect(operator.logger.messages('warn')[1]).toContain('<Peer another:');
  });

  it('make both operators pause, and the one that is left goes on', async () => {
    const rig = await makeRig();
    const first = await join(rig, me());
    const second = await join(rig, kopfPeering({ settings: settings(), identity: 'replica' }));
    expect([first.isPaused, second.isPaused]).toEqual([true, true]);
    expect(second.turns).toEqual([]);
    second.abort();
    await rig.clock.settle();
    expect(first.isPaused).toBe(false);
    expect(second.outcome).toBe('resolved');
  });
});

it('looks only at the object of the given name', async () => {
  const rig = await makeRig();
  await rig.cluster.create(peeringObject('default', { name: 'special' }));
  const operator = await join(rig, me());
  await writeRecords(rig, { other: record(rig, { priority: 1 }) }, 'kopfpeerings/default/special');
  expect(operator.turns).toEqual([false]);
  expect(records(rig, 'kopfpeerings/default/special')).toEqual({ other: record(rig, { priority: 1 }) });
});

it('takes no notice of its own record of a previous life', async () => {
  const rig = await makeRig();
  await writeRecords(rig, { me: record(rig, { priority: 100, lifetime: 1000 }) });
  const operator = await join(rig, me());
  expect(operator.isPaused).toBe(false);
  expect(records(rig)).toMatchObject({ me: { priority: 0, lifetime: 60 } });
});

it('ignores malformed records with one warning, and obeys the others', async () => {
  const rig = await makeRig();
  const operator = await join(rig, me());
  await writeRecords(rig, { text: 'hello', nobody: { priority: 'high' }, other: record(rig, { priority: 1 }) });
  await rig.clock.advance(30);
  expect(operator.isPaused).toBe(true);
  expect(operator.logger.messages('warn')).toEqual([
    "Ignoring malformed records of peers in the peering 'default' in 'default': text, nobody.",
  ]);
});

it('writes to the peering object only', async () => {
  const rig = await makeRig();
  const writes: string[] = [];
  const { client } = rig.cluster;
  await join(rig, me(), {
    client: {
      stream: (request) => client.stream(request),
      request: (request) => {
        if (request.method !== 'GET') writes.push(`${request.method} ${request.path}`);
        return client.request(request);
      },
    },
  });
  await rig.clock.advance(200);
  expect(new Set(writes)).toEqual(new Set(['PATCH /apis/kopf.dev/v1/namespaces/default/kopfpeerings/default']));
  expect(writes.length).toBeGreaterThan(2);
});

it('is not misled by the stream, which can be behind the answers to our own writes', async () => {
  const rig = await makeRig();
  const { client } = rig.cluster;
  let release = (): void => {};
  let isHeld: Promise<void> | undefined;
  const operator = await join(rig, me(), {
    client: {
      request: (request) => client.request(request),
      async *stream<T>(request: KubeRequest) {
        for await (const event of client.stream<T>(request)) {
          await isHeld;
          yield event;
        }
      },
    },
  });
  isHeld = new Promise((resolve) => {
    release = resolve;
  });
  await writeRecords(rig, { other: record(rig, { priority: 1 }) });
  await writeRecords(rig, { other: null });
  await rig.clock.advance(60);
  release();
  await rig.clock.settle();
  expect(operator.turns).toEqual([false]);
});
