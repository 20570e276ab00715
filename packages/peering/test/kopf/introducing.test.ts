import { settings } from '@kopf-ts/core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { kopfPeering } from '../../src/index.js';
import { definePeerings, join, makeRig, peeringObject, records } from '../helpers/joining.js';

const resolver = vi.hoisted(() => ({ answers: [] as ((identity: string) => void)[] }));
vi.mock('../../src/identity/identity.js', () => ({
  detectIdentity: () => new Promise<string>((resolve) => resolver.answers.push(resolve)),
}));

describe('an operator that is not told who it is', () => {
  afterEach(() => {
    for (const answer of resolver.answers.splice(0)) answer('nobody');
  });

  it('works without finding that out, if there is nobody to tell it', async () => {
    const rig = await makeRig({ kinds: false });
    const operator = await join(rig, kopfPeering({ settings: settings() }));
    expect(operator.turns).toEqual([false]);
    expect(resolver.answers).toHaveLength(0);
  });

  it('finds it out once, when there is a peering', async () => {
    const rig = await makeRig({ kinds: false });
    const operator = await join(rig, kopfPeering({ settings: settings() }));
    await definePeerings(rig.cluster);
    await definePeerings(rig.cluster, 'zalando.org');
    await rig.cluster.create(peeringObject('default'));
    await rig.insights.rescan();
    await rig.clock.settle();
    expect(resolver.answers).toHaveLength(1);
    resolver.answers[0]?.('someone');
    await rig.clock.settle();
    expect(records(rig, 'kopfpeerings.kopf.dev/default/default')).toHaveProperty('someone');
    expect(operator.isPaused).toBe(false);
  });

  it('joins nothing if it has to leave while it is still finding out', async () => {
    const rig = await makeRig();
    const operator = await join(rig, kopfPeering({ settings: settings() }));
    operator.abort();
    resolver.answers[0]?.('someone');
    await rig.clock.settle();
    expect(records(rig)).toEqual({});
    expect(operator.outcome).toBe('resolved');
    expect(rig.clock.sleepers).toBe(0);
  });
});
