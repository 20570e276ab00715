import { type Clock, type KubeClient, type Mapping, settings } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { kopfPeering, type LeasePeeringOptions, leasePeering } from '../../src/index.js';
import { join, makeRig, type Rig } from '../helpers/joining.js';

const replica = (identity: string, options: Partial<LeasePeeringOptions> = {}) =>
  leasePeering({ name: 'operator', namespace: 'default', identity, random: () => 0.5, ...options });

const specOf = (rig: Rig, reference = 'leases/default/operator') =>
  rig.cluster.get(reference)?.spec as Mapping | undefined;

/** A lease of somebody who is not there: as if a leader had died. */
async function heldBy(rig: Rig, holderIdentity: string, leaseDurationSeconds = 15): Promise<void> {
  const time = rig.clock.utc().toISOString().replace('Z', '000Z');
  const spec = { holderIdentity, leaseDurationSeconds, acquireTime: time, renewTime: time, leaseTransitions: 3 };
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'operator', namespace: 'default' },
    spec,
  };
  await rig.cluster.apply(lease);
  await rig.clock.settle();
}

/** A process that can be stopped as a whole: its clock goes on, but nothing of it runs until it is continued. */
function stoppable(rig: Rig): { clock: Clock; client: KubeClient; stop(): void; resume(): void } {
  let running = Promise.resolve();
  let resume = (): void => {};
  const whenRunning = async <T>(result: Promise<T>): Promise<T> => {
    const settled = await result.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    await running;
    if ('error' in settled) throw settled.error;
    return settled.value;
  };
  const { clock, cluster } = rig;
  return {
    clock: { now: clock.now, utc: clock.utc, sleep: (delay, options) => whenRunning(clock.sleep(delay, options)) },
    client: {
      request: (request) => whenRunning(cluster.client.request(request)),
      stream: (request) => cluster.client.stream(request),
    },
    stop() {
      running = new Promise((resolve) => {
        resume = resolve;
      });
    },
    resume: () => resume(),
  };
}

describe('becoming the leader', () => {
  it('creates the lease if there is none', async () => {
    const rig = await makeRig({ kinds: false });
    const one = await join(rig, replica('one'));
    expect(one.turns).toEqual([false]);
    expect(one.mayWrite).toBe(true);
    expect(specOf(rig)).toEqual({
      holderIdentity: 'one',
      leaseDurationSeconds: 15,
      acquireTime: '2020-12-31T23:59:59.123000Z',
      renewTime: '2020-12-31T23:59:59.123000Z',
      leaseTransitions: 0,
    });
    expect(one.logger.find("Became the leader: acquired the lease 'default/operator' as one.")?.level).toBe('info');
  });

  it('takes a released lease at once, and counts the transition', async () => {
    const rig = await makeRig({ kinds: false });
    await heldBy(rig, '', 1);
    const one = await join(rig, replica('one'));
    expect(one.isPaused).toBe(false);
    expect(specOf(rig)).toMatchObject({ holderIdentity: 'one', leaseTransitions: 4, leaseDurationSeconds: 15 });
  });

  it('takes its own lease of a previous life at once, without a transition', async () => {
    const rig = await makeRig({ kinds: false });
    await heldBy(rig, 'one');
    const acquireTime = specOf(rig)?.acquireTime;
    await rig.clock.advance(5);
    const one = await join(rig, replica('one'));
    expect(one.isPaused).toBe(false);
    expect(specOf(rig)).toMatchObject({ holderIdentity: 'one', leaseTransitions: 3, acquireTime });
  });

  it('waits for the end of a foreign lease since it was first seen, whatever its times say', async () => {
    const rig = await makeRig({ kinds: false });
    await heldBy(rig, 'other', 6);
    await rig.clock.advance(3600);
    const one = await join(rig, replica('one'));
    await rig.clock.advance(5.9);
    expect(one.turns).toEqual([]);
    expect(one.mayWrite).toBe(false);
    expect(one.logger.messages('info')).toEqual(["Waiting for the lease 'default/operator', held by other."]);
    await rig.clock.advance(0.1);
    expect(one.isPaused).toBe(false);
    expect(specOf(rig)).toMatchObject({ holderIdentity: 'one', leaseTransitions: 4 });
  });

  it('is for one of those who come at the same time', async () => {
    const rig = await makeRig({ kinds: false });
    const replicas = [];
    rig.cluster.faults.add({ latency: 0.1, times: 6 });
    for (const name of ['one', 'two', 'three']) replicas.push(await join(rig, replica(name)));
    await rig.clock.advance(60);
    expect(replicas.filter(({ isPaused }) => !isPaused)).toHaveLength(1);
    expect(replicas.filter(({ mayWrite }) => mayWrite)).toHaveLength(1);
  });

  it('keeps what others have put into the lease', async () => {
    const rig = await makeRig({ kinds: false });
    await heldBy(rig, '');
    await rig.cluster.patch('leases/default/operator', { metadata: { labels: { app: 'demo' } } });
    await join(rig, replica('one'));
    await rig.clock.advance(10);
    expect(rig.cluster.get('leases/default/operator')?.metadata?.labels).toEqual({ app: 'demo' });
  });
});

describe('staying the leader', () => {
  it('renews the lease with each period', async () => {
    const rig = await makeRig({ kinds: false });
    const one = await join(rig, replica('one'));
    const times = [];
    for (let i = 0; i < 3; i++) {
      await rig.clock.advance(2);
      times.push(specOf(rig)?.renewTime);
    }
    expect(times).toEqual([
      '2021-01-01T00:00:01.123000Z',
      '2021-01-01T00:00:03.123000Z',
      '2021-01-01T00:00:05.123000Z',
    ]);
    expect(specOf(rig)?.acquireTime).toBe('2020-12-31T23:59:59.123000Z');
    expect(one.turns).toEqual([false]);
  });

  it('survives lost answers and conflicts', async () => {
    const rig = await makeRig({ kinds: false });
    const one = await join(rig, replica('one'));
    // Somebody touches the lease without taking it: the version that we know is outdated then.
    for (let i = 0; i < 5; i++) {
      await rig.cluster.patch('leases/default/operator', { metadata: { labels: { touched: `${i}` } } });
      await rig.clock.advance(2);
    }
    expect(one.turns).toEqual([false]);
    expect(specOf(rig)?.leaseTransitions).toBe(0);
  });

  it('survives an outage that is shorter than the deadline', async () => {
    const rig = await makeRig({ kinds: false });
    const one = await join(rig, replica('one'));
    const outage = rig.cluster.faults.add({ answer: { status: 500 } });
    await rig.clock.advance(7.9);
    expect(one.mayWrite).toBe(true);
    outage.remove();
    await rig.clock.advance(2);
    expect(one.turns).toEqual([false]);
    expect(one.mayWrite).toBe(true);
    expect(one.logger.messages('warn')).toHaveLength(1);
    expect(one.logger.messages('warn')[0]).toContain("Could not renew the lease 'default/operator'");
  });
});

it('is over from the moment when anybody is told so, and not when the timers get to it', async () => {
  const rig = await makeRig({ kinds: false });
  const process = stoppable(rig);
  const one = await join(rig, replica('one'), process);
  expect(one.turns).toEqual([false]);
  process.stop();
  await rig.clock.advance(10);
  expect(one.turns).toEqual([false]);
  expect(one.mayWrite).toBe(false);
  expect(one.turns).toEqual([false, true]);
  process.resume();
  await rig.clock.settle();
  expect(one.turns).toEqual([false, true, false]);
});

it('counts the leadership from before the request, as others may count from then on', async () => {
  const rig = await makeRig({ kinds: false });
  const slowness = rig.cluster.faults.add({ latency: 2 });
  const one = await join(rig, replica('one'));
  await rig.clock.advance(4);
  expect(one.mayWrite).toBe(true);
  slowness.remove();
  rig.cluster.faults.add({ answer: { status: 500 } });
  await rig.clock.advance(7.9);
  expect(one.mayWrite).toBe(true);
  await rig.clock.advance(0.1);
  expect([one.isPaused, one.mayWrite]).toEqual([true, false]);
});

it('does not wait for an answer for so long that the leadership ends', async () => {
  const rig = await makeRig({ kinds: false });
  const { client } = rig.cluster;
  let requests = 0;
  const one = await join(rig, replica('one'), {
    client: {
      stream: (request) => client.stream(request),
      request: (request) => {
        requests += 1;
        return requests === 3 ? new Promise(() => {}) : client.request(request);
      },
    },
  });
  await rig.clock.advance(30);
  expect(one.turns).toEqual([false]);
  expect(one.logger.find('No answer for 5 seconds')).toBeDefined();
});

describe('losing the leadership', () => {
  it('is noticed also by whoever tries to renew, if that wakes up first', async () => {
    const rig = await makeRig({ kinds: false });
    const { clock } = rig;
    const one = await join(rig, replica('one'), {
      clock: {
        now: clock.now,
        utc: clock.utc,
        // Whoever sleeps until the deadline oversleeps.
        sleep: (delay, options) => clock.sleep(delay > 5 ? delay + 1000 : delay, options),
      },
    });
    rig.cluster.faults.add({ answer: { status: 500 } });
    await rig.clock.advance(12);
    expect([one.isPaused, one.mayWrite]).toEqual([true, false]);
  });

  it.each([
    ['refuses', { answer: { status: 500 } }],
    ['hangs', { latency: 1000 }],
  ])('pauses at the deadline if the cluster %s, before anybody else can take over', async (_how, fault) => {
    const rig = await makeRig({ kinds: false });
    const one = await join(rig, replica('one'));
    await rig.clock.advance(4);
    const outage = rig.cluster.faults.add(fault);
    await rig.clock.advance(9.9);
    expect([one.isPaused, one.mayWrite]).toEqual([false, true]);
    await rig.clock.advance(0.1);
    expect([one.isPaused, one.mayWrite]).toEqual([true, false]);
    expect(one.logger.find('Lost the lease')?.level).toBe('warn');
    outage.remove();
    await rig.clock.advance(10);
    expect([one.isPaused, one.mayWrite]).toEqual([false, true]);
  });

  it('pauses at once if the lease is taken by another', async () => {
    const rig = await makeRig({ kinds: false });
    const one = await join(rig, replica('one'));
    await heldBy(rig, 'thief');
    await rig.clock.advance(2);
    expect([one.isPaused, one.mayWrite]).toEqual([true, false]);
    expect(one.logger.find('thief holds it')).toBeDefined();
  });

  it('makes a deleted lease anew', async () => {
    const rig = await makeRig({ kinds: false });
    const one = await join(rig, replica('one'));
    await rig.cluster.delete('leases/default/operator');
    await rig.clock.advance(4);
    expect([one.isPaused, one.mayWrite]).toEqual([false, true]);
    expect(specOf(rig)?.holderIdentity).toBe('one');
  });

  it('pauses while a deleted lease cannot be made anew: another one may be doing that', async () => {
    const rig = await makeRig({ kinds: false });
    const one = await join(rig, replica('one'));
    rig.cluster.faults.add({ match: { path: /leases/ }, answer: { status: 404 } });
    await rig.clock.advance(2);
    expect([one.isPaused, one.mayWrite]).toEqual([true, false]);
    expect(one.logger.find('nobody holds it')).toBeDefined();
  });

  it('comes to the others within the lease and one period', async () => {
    const rig = await makeRig({ kinds: false });
    const one = stoppable(rig);
    await join(rig, replica('one'), one);
    const two = await join(rig, replica('two', { random: Math.random }));
    await rig.clock.advance(11);
    one.stop();
    await rig.clock.advance(15 + 2);
    expect([two.isPaused, two.mayWrite]).toEqual([false, true]);
    one.resume();
  });
});

describe('a leader that was stopped and has slept through its deadline', () => {
  it('may not write from the deadline on, even though nothing of it runs, and wakes up as one of the others', async () => {
    const rig = await makeRig({ kinds: false });
    const process = stoppable(rig);
    const one = await join(rig, replica('one'), process);
    const two = await join(rig, replica('two'));
    await rig.clock.advance(3);
    process.stop();
    let overlaps = 0;
    for (let i = 0; i < 400; i++) {
      await rig.clock.advance(0.1);
      if (one.mayWrite && two.mayWrite) overlaps += 1;
    }
    expect(overlaps).toBe(0);
    expect([one.mayWrite, two.mayWrite]).toEqual([false, true]);
    process.resume();
    await rig.clock.settle();
    expect([one.isPaused, two.isPaused]).toEqual([true, false]);
    await rig.clock.advance(100);
    expect([one.mayWrite, two.mayWrite]).toEqual([false, true]);
  });

  it.each([0, 0.5, 1, 1.5, 2, 2.5, 3])(
    'never writes at the same time as another, stopped at second %d',
    async (moment) => {
      const rig = await makeRig({ kinds: false });
      // The requests take some time: so that it can be stopped in the middle of one.
      rig.cluster.faults.add({ latency: 0.4 });
      const process = stoppable(rig);
      const one = await join(rig, replica('one'), process);
      const two = await join(rig, replica('two'));
      await rig.clock.advance(5 + moment);
      process.stop();
      let overlaps = 0;
      const pass = async (seconds: number): Promise<void> => {
        for (let i = 0; i < seconds * 5; i++) {
          await rig.clock.advance(0.2);
          if (one.mayWrite && two.mayWrite) overlaps += 1;
          if (!one.isPaused && !two.isPaused && one.mayWrite && two.mayWrite) overlaps += 1;
        }
      };
      await pass(25);
      expect(two.mayWrite).toBe(true);
      process.resume();
      await pass(10);
      expect(one.isPaused).toBe(true);
      expect(overlaps).toBe(0);
    },
  );

  it('is not one if it has slept through the answer to its very first request', async () => {
    const rig = await makeRig({ kinds: false });
    rig.cluster.faults.add({ latency: 0.4 });
    const process = stoppable(rig);
    const one = await join(rig, replica('one'), process);
    await rig.clock.advance(0.5);
    process.stop();
    await rig.clock.advance(0.5);
    expect(specOf(rig)?.holderIdentity).toBe('one');
    const two = await join(rig, replica('two'));
    await rig.clock.advance(20);
    expect(two.isPaused).toBe(false);
    process.resume();
    await rig.clock.advance(5);
    expect(one.turns).toEqual([]);
  });

  it('pauses for a moment even if nobody has taken over, so that what it was at is begun anew', async () => {
    const rig = await makeRig({ kinds: false });
    const process = stoppable(rig);
    const one = await join(rig, replica('one'), process);
    process.stop();
    await rig.clock.advance(60);
    expect(one.mayWrite).toBe(false);
    process.resume();
    await rig.clock.advance(1);
    expect(one.turns).toEqual([false, true, false]);
    expect(one.mayWrite).toBe(true);
  });
});

describe('leaving', () => {
  it('releases the lease, so that another one takes it with its next look', async () => {
    const rig = await makeRig({ kinds: false });
    const one = await join(rig, replica('one'));
    const two = await join(rig, replica('two'));
    await rig.clock.advance(3);
    one.abort();
    await rig.clock.settle();
    expect(one.outcome).toBe('resolved');
    expect([one.isPaused, one.mayWrite]).toEqual([true, false]);
    expect(specOf(rig)).toEqual({
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: '2021-01-01T00:00:02.123000Z',
      renewTime: '2021-01-01T00:00:02.123000Z',
      leaseTransitions: 0,
    });
    await rig.clock.advance(2);
    expect(two.isPaused).toBe(false);
    expect(specOf(rig)).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 });
  });

  it('may not write from before the release on', async () => {
    const rig = await makeRig({ kinds: false });
    const one = await join(rig, replica('one'));
    rig.cluster.faults.add({ latency: 2 });
    one.abort();
    await rig.clock.advance(1);
    expect(one.mayWrite).toBe(false);
    expect(specOf(rig)?.holderIdentity).toBe('one');
    await rig.clock.advance(2);
    expect(specOf(rig)?.holderIdentity).toBe('');
  });

  it('releases the lease also if somebody has touched it meanwhile', async () => {
    const rig = await makeRig({ kinds: false });
    const one = await join(rig, replica('one'));
    await rig.cluster.patch('leases/default/operator', { metadata: { labels: { touched: 'yes' } } });
    one.abort();
    await rig.clock.settle();
    expect(specOf(rig)?.holderIdentity).toBe('');
    expect(one.logger.messages('warn')).toEqual([]);
  });

  it('releases also what was acquired at the last moment', async () => {
    const rig = await makeRig({ kinds: false });
    rig.cluster.faults.add({ latency: 1 });
    const one = await join(rig, replica('one'));
    await rig.clock.advance(1.5);
    one.abort();
    await rig.clock.advance(5);
    expect(one.outcome).toBe('resolved');
    expect(specOf(rig)?.holderIdentity).toBe('');
  });

  it('leaves the lease of another alone', async () => {
    const rig = await makeRig({ kinds: false });
    await heldBy(rig, 'other');
    const before = specOf(rig);
    const one = await join(rig, replica('one'));
    one.abort();
    await rig.clock.settle();
    expect(one.outcome).toBe('resolved');
    expect(specOf(rig)).toEqual(before);
  });

  it('takes no longer than 5 seconds, whatever the cluster does', async () => {
    const rig = await makeRig({ kinds: false });
    const one = await join(rig, replica('one'));
    rig.cluster.faults.add({ latency: 1000 });
    one.abort();
    await rig.clock.advance(5);
    expect(one.outcome).toBe('resolved');
    expect(one.logger.find('Could not release the lease')?.level).toBe('warn');
  });
});

describe('several namespaces', () => {
  it('have one leader for all, as an operator pauses as a whole', async () => {
    const rig = await makeRig({ kinds: false });
    const [one, two] = [replica('one'), replica('two')];
    const ones = [await join(rig, one, { namespace: 'a' }), await join(rig, one, { namespace: 'b' })];
    const twos = [await join(rig, two, { namespace: 'b' }), await join(rig, two, { namespace: 'a' })];
    await rig.clock.advance(30);
    expect(ones.map(({ isPaused }) => isPaused)).toEqual([false, false]);
    expect(twos.map(({ isPaused }) => isPaused)).toEqual([true, true]);
    expect(rig.cluster.list('leases')).toHaveLength(1);
  });

  it('are left one by one, and the lease is released with the last of them', async () => {
    const rig = await makeRig({ kinds: false });
    const one = replica('one');
    const first = await join(rig, one, { namespace: 'a' });
    const second = await join(rig, one, { namespace: 'b' });
    first.abort();
    await rig.clock.advance(20);
    expect(first.outcome).toBe('resolved');
    expect(first.mayWrite).toBe(false);
    expect([second.isPaused, second.mayWrite]).toEqual([false, true]);
    second.abort();
    await rig.clock.settle();
    expect(specOf(rig)?.holderIdentity).toBe('');
  });

  it('can be joined again after all of them are left', async () => {
    const rig = await makeRig({ kinds: false });
    const one = replica('one');
    const first = await join(rig, one);
    // The release is slower than what comes after it.
    rig.cluster.faults.add({ match: { method: 'PUT' }, latency: 2, times: 1 });
    first.abort();
    await rig.clock.settle();
    expect(first.outcome).toBeUndefined();
    const again = await join(rig, one);
    await rig.clock.advance(10);
    expect([again.isPaused, again.mayWrite]).toEqual([false, true]);
    expect(again.turns).toEqual([false]);
    expect(again.logger.messages('warn')).toEqual([]);
    expect(specOf(rig)?.holderIdentity).toBe('one');
  });
});

describe('options', () => {
  it.each([
    [{ leaseDuration: 10 }, 'leaseDuration (10) must be longer than renewDeadline (10)'],
    [{ leaseDuration: 15.5 }, 'whole number of seconds'],
    [{ renewDeadline: 2.4 }, 'must be longer than 1.2 × retryPeriod'],
    [{ retryPeriod: 0 }, 'retryPeriod must be positive'],
  ])('%o are refused', (options, message) => {
    expect(() => replica('one', options)).toThrow(message);
  });

  it('are obeyed', async () => {
    const rig = await makeRig({ kinds: false });
    const options = { name: 'short', namespace: 'kube-system', leaseDuration: 5, renewDeadline: 3, retryPeriod: 1 };
    const one = await join(rig, replica('one', options));
    expect(specOf(rig, 'leases/kube-system/short')).toMatchObject({ leaseDurationSeconds: 5 });
    rig.cluster.faults.add({ answer: { status: 500 } });
    await rig.clock.advance(3);
    expect(one.isPaused).toBe(true);
  });

  it('an empty identity is nobody, and is refused', async () => {
    const rig = await makeRig({ kinds: false });
    const nobody = await join(rig, replica(''));
    expect(nobody.outcome).toBe('rejected');
    expect(nobody.error).toMatchObject({ code: 'KOPF_LEASE_IDENTITY' });
  });
});

it('does not care for peerings of the other way', async () => {
  const rig = await makeRig();
  const one = await join(rig, replica('one'));
  const other = await join(rig, kopfPeering({ settings: settings({ peering: { priority: 5 } }), identity: 'other' }));
  await rig.clock.advance(10);
  expect([one.isPaused, other.isPaused]).toEqual([false, false]);
});
