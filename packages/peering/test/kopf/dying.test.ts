import { settings } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { kopfPeering } from '../../src/index.js';
import { join, makeRig, record, records, writeRecords } from '../helpers/joining.js';

const me = (overrides = {}) =>
  kopfPeering({ settings: settings({ peering: overrides }), identity: 'me', random: () => 0.5 });

describe('a peer that shows no sign of life', () => {
  it.each([0, 1])(
    'holds us up for its lifetime, then we tell of ourselves and go on (priority %d)',
    async (priority) => {
      const rig = await makeRig();
      const operator = await join(rig, me({ lifetime: 1000 }));
      const before = records(rig).me;
      await writeRecords(rig, { other: record(rig, { priority, lifetime: 10, ago: 0.123 }) });
      await rig.clock.advance(9.999);
      expect(operator.isPaused).toBe(true);
      expect(records(rig).me).toEqual(before);
      await rig.clock.advance(0.001);
      expect(operator.isPaused).toBe(false);
      expect(records(rig).me).not.toEqual(before);
    },
  );

  it('is removed', async () => {
    const rig = await makeRig();
    await join(rig, me());
    await writeRecords(rig, { other: record(rig, { priority: 1, lifetime: 10 }), weak: record(rig, { priority: -1 }) });
    await rig.clock.advance(10);
    expect(Object.keys(records(rig)).sort()).toEqual(['me', 'weak']);
    await rig.clock.advance(60);
    expect(Object.keys(records(rig))).toEqual(['me']);
  });

  it('is not removed if it has come back at the last moment', async () => {
    const rig = await makeRig();
    const operator = await join(rig, me());
    await writeRecords(rig, { other: record(rig, { priority: 1, lifetime: 10 }) });
    const slow = rig.cluster.faults.add({
      match: { method: 'PATCH' },
      after: 1,
      latency: 1,
    });
    await rig.clock.advance(10.5);
    slow.remove();
    await writeRecords(rig, { other: record(rig, { priority: 1, lifetime: 10 }) });
    await rig.clock.advance(2);
    expect(records(rig)).toHaveProperty('other');
    expect(operator.isPaused).toBe(true);
  });

  it('holds us up for longer if it renews its record', async () => {
    const rig = await makeRig();
    const operator = await join(rig, me());
    for (let i = 0; i < 10; i++) {
      await writeRecords(rig, { other: record(rig, { priority: 1, lifetime: 10 }) });
      await rig.clock.advance(9);
    }
    expect(operator.turns).toEqual([false, true]);
    await rig.clock.advance(1);
    expect(operator.isPaused).toBe(false);
  });

  it('is not taken for dead while the cluster does not answer: it may be alive there', async () => {
    const rig = await makeRig();
    const operator = await join(rig, me());
    await writeRecords(rig, { other: record(rig, { priority: 1, lifetime: 10 }) });
    const outage = rig.cluster.faults.add({ answer: { status: 503 } });
    rig.cluster.faults.resetStreams();
    await rig.clock.advance(100);
    expect(operator.isPaused).toBe(true);
    outage.remove();
    await rig.clock.advance(5);
    expect(operator.isPaused).toBe(false);
  });

  it('is not taken for dead if only our stream has died, and its keep-alives did not come through', async () => {
    const rig = await makeRig();
    const operator = await join(rig, me());
    await writeRecords(rig, { other: record(rig, { priority: 1, lifetime: 20 }) });
    rig.cluster.faults.freezeStreams();
    for (let i = 0; i < 6; i++) {
      await rig.clock.advance(10);
      await writeRecords(rig, { other: record(rig, { priority: 1, lifetime: 20 }) });
    }
    expect(operator.turns).toEqual([false, true]);
  });
});

describe('the clocks of others do not matter', () => {
  it.each([-600, -60, 0, 60, 600])('a live peer with a clock off by %d seconds holds us up', async (skew) => {
    const rig = await makeRig();
    const alive = () => writeRecords(rig, { other: record(rig, { priority: 1, ago: -skew }) });
    await alive();
    const operator = await join(rig, me());
    for (let i = 0; i < 5; i++) {
      expect(operator.isPaused).toBe(true);
      await rig.clock.advance(50);
      await alive();
    }
    expect(operator.turns).toEqual([]);
    await rig.clock.advance(60);
    expect(operator.isPaused).toBe(false);
  });

  it('a live peer with a clock that is wrong by hours holds us up from its next keep-alive on', async () => {
    const rig = await makeRig();
    const operator = await join(rig, me());
    await writeRecords(rig, { other: record(rig, { priority: 1, ago: 36000 }) });
    await rig.clock.advance(50);
    await writeRecords(rig, { other: record(rig, { priority: 1, ago: 36000 }) });
    await rig.clock.advance(50);
    expect(operator.turns).toEqual([false, true]);
  });

  it('a peer that was killed hours ago holds us up for no time at all, and is removed', async () => {
    const rig = await makeRig();
    await writeRecords(rig, { other: record(rig, { priority: 1, ago: 7200 }) });
    const operator = await join(rig, me());
    expect(operator.isPaused).toBe(false);
    expect(Object.keys(records(rig))).toEqual(['me']);
  });

  it('a peer that was killed just now holds us up for no longer than its lifetime', async () => {
    const rig = await makeRig();
    await writeRecords(rig, { other: record(rig, { priority: 1, ago: 5 }) });
    const operator = await join(rig, me());
    await rig.clock.advance(59);
    expect(operator.isPaused).toBe(true);
    await rig.clock.advance(1);
    expect(operator.isPaused).toBe(false);
  });
});
