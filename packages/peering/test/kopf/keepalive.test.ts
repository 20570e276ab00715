import { type KubeClient, type KubeRequest, settings } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { kopfPeering } from '../../src/index.js';
import { renewalDelay } from '../../src/kopf/membership.js';
import { join, makeRig, peeringObject, type Rig, records } from '../helpers/joining.js';

/** The client of the cluster, and when it was asked to write what. */
function recorded(rig: Rig): { client: KubeClient; writes: { at: number; body: unknown; retries: unknown }[] } {
  const { client } = rig.cluster;
  const writes: { at: number; body: unknown; retries: unknown }[] = [];
  const request = <T>(asked: KubeRequest): Promise<T> => {
    if (asked.method === 'PATCH') writes.push({ at: rig.clock.now(), body: asked.body, retries: asked.retries });
    return client.request<T>(asked);
  };
  return { client: { request, stream: (asked) => client.stream(asked) }, writes };
}

/** Numbers from 0 to 1 that make these whole numbers of 5 to 10. */
function randoms(...numbers: number[]): () => number {
  return () => ((numbers.shift() ?? 5) - 5) / 6 + 0.01;
}

describe('keep-alives', () => {
  it('have the priority, the lifetime and the time, as Kopf writes them', async () => {
    const rig = await makeRig();
    await join(rig, kopfPeering({ settings: settings({ peering: { priority: 7, lifetime: 33 } }), identity: 'me' }));
    expect(JSON.stringify(records(rig))).toBe(
      '{"me":{"priority":7,"lifetime":33,"lastseen":"2020-12-31T23:59:59.123000+00:00"}}',
    );
  });

  it('come some seconds before the end of the lifetime, and the record is removed in the end', async () => {
    const rig = await makeRig();
    const { client, writes } = recorded(rig);
    const random = randoms(7, 5, 9);
    const lifetime = 33;
    const peering = kopfPeering({ settings: settings({ peering: { lifetime } }), identity: 'me', random });
    // The stream takes random numbers, too: it is not to be there.
    rig.cluster.faults.add({ match: { watch: true }, latency: 10_000 });
    const operator = await join(rig, peering, { client });
    await rig.clock.advance(26 + 28);
    operator.abort();
    await rig.clock.advance(0);
    expect(writes.map(({ at }) => at)).toEqual([0, 26, 54, 54]);
    expect(writes.map(({ retries }) => retries)).toEqual(['none', 'none', 'none', 'none']);
    expect(writes.at(-1)?.body).toEqual({ status: { me: null } });
    expect(records(rig)).toEqual({});
    expect(operator.outcome).toBe('resolved');
  });

  it.each([
    [33, 7, 26],
    [33, 5, 28],
    [33, 9, 24],
    [60, 10, 50],
    [10, 10, 1],
    [5, 5, 1],
    [1, 5, 1],
  ])('of a lifetime of %d come after it less %d seconds: %d', (lifetime, early, delay) => {
    expect(renewalDelay(lifetime, randoms(early))).toBe(delay);
  });

  it.each([0, 0.5, 0.999])('come at least 5 and at most 10 seconds before the end, for the random of %d', (number) => {
    const delay = renewalDelay(60, () => number);
    expect(delay).toBeGreaterThanOrEqual(50);
    expect(delay).toBeLessThanOrEqual(55);
  });

  it.each([
    [false, "Keep-alive in 'default' in 'default': ok."],
    [true, undefined],
  ])('are told of in the logs unless in stealth (%s)', async (stealth, message) => {
    const rig = await makeRig();
    const operator = await join(rig, kopfPeering({ settings: settings({ peering: { stealth } }), identity: 'me' }));
    expect(operator.logger.find('Keep-alive in')?.message).toBe(message);
    expect(operator.logger.find(/patching/i)).toBeUndefined();
  });

  it('are told of if there is no object, even in stealth', async () => {
    const rig = await makeRig({ objects: false });
    const mine = settings({ peering: { stealth: true } });
    const operator = await join(rig, kopfPeering({ settings: mine, identity: 'me' }), { namespace: null });
    expect(operator.logger.find('Keep-alive in')).toMatchObject({
      level: 'debug',
      message: "Keep-alive in 'default' cluster-wide: not found.",
    });
  });

  it('are tried again soon after a failure, with one warning, and with a word when all is well', async () => {
    const rig = await makeRig();
    const operator = await join(rig, kopfPeering({ settings: settings(), identity: 'me' }));
    const outage = rig.cluster.faults.add({ match: { method: 'PATCH' }, answer: { status: 503 } });
    await rig.clock.advance(65);
    expect(outage.hits).toBeGreaterThan(3);
    expect(operator.logger.messages('warn')).toHaveLength(1);
    expect(operator.logger.messages('warn')[0]).toContain("Keep-alive in 'default' in 'default' has failed");
    outage.remove();
    await rig.clock.advance(4);
    expect(operator.logger.find("Keep-alive in 'default' in 'default' works again.")).toBeDefined();
    expect(operator.turns).toEqual([false]);
  });

  it('do not hang for ever with a request that does', async () => {
    const rig = await makeRig();
    await join(rig, kopfPeering({ settings: settings(), identity: 'me' }));
    rig.cluster.faults.add({ match: { method: 'PATCH' }, latency: 100_000, times: 1 });
    const before = records(rig).me;
    await rig.clock.advance(75);
    expect(records(rig).me).not.toEqual(before);
  });

  it('are not tried so often if they are forbidden', async () => {
    const rig = await makeRig();
    const refusal = rig.cluster.faults.add({ match: { method: 'PATCH' }, answer: { status: 403 } });
    await join(rig, kopfPeering({ settings: settings(), identity: 'me' }));
    await rig.clock.advance(100);
    expect(refusal.hits).toBe(2);
  });

  it('follow the settings as they are at the time', async () => {
    const rig = await makeRig();
    const mine = settings();
    await join(rig, kopfPeering({ settings: mine, identity: 'me' }));
    mine.peering.priority = 9;
    await rig.clock.advance(60);
    expect(records(rig)).toMatchObject({ me: { priority: 9 } });
  });

  it('go to the status where that has an address of its own', async () => {
    const rig = await makeRig({ kinds: false });
    await rig.cluster.define({
      group: 'kopf.dev',
      version: 'v1',
      plural: 'kopfpeerings',
      kind: 'KopfPeering',
      subresources: ['status'],
    });
    await rig.cluster.create(peeringObject('default'));
    await rig.insights.rescan();
    await join(rig, kopfPeering({ settings: settings(), identity: 'me' }));
    expect(records(rig)).toHaveProperty('me');
  });
});

describe('leaving', () => {
  it('waits for a keep-alive that is under way, so that it does not come after the removal', async () => {
    const rig = await makeRig();
    const { client } = rig.cluster;
    let isSlow = false;
    const operator = await join(rig, kopfPeering({ settings: settings(), identity: 'me', random: () => 0 }), {
      client: {
        stream: (request) => client.stream(request),
        // It is on its way already: aborting does not take it back.
        request: async ({ signal: _, ...request }) => {
          if (request.method === 'PATCH' && isSlow) {
            isSlow = false;
            await rig.clock.sleep(3);
          }
          return await client.request(request);
        },
      },
    });
    isSlow = true;
    await rig.clock.advance(56);
    expect(isSlow).toBe(false);
    operator.abort();
    await rig.clock.advance(5);
    expect(operator.outcome).toBe('resolved');
    expect(records(rig)).toEqual({});
  });

  it('takes no longer than 5 seconds, whatever the cluster does, and only warns', async () => {
    const rig = await makeRig();
    const operator = await join(rig, kopfPeering({ settings: settings(), identity: 'me' }));
    rig.cluster.faults.add({ latency: 100_000 });
    operator.abort();
    await rig.clock.advance(4.9);
    expect(operator.outcome).toBeUndefined();
    await rig.clock.advance(0.2);
    expect(operator.outcome).toBe('resolved');
    expect(operator.logger.find("Couldn't remove self from the peering")?.level).toBe('warn');
  });

  it('is no error if there is nothing to remove ourselves from', async () => {
    const rig = await makeRig();
    const { client, writes } = recorded(rig);
    const operator = await join(rig, kopfPeering({ settings: settings(), identity: 'me' }), { client });
    await rig.cluster.delete('kopfpeerings/default/default');
    await rig.clock.settle();
    const before = writes.length;
    operator.abort();
    await rig.clock.settle();
    expect(writes).toHaveLength(before);
    expect(operator.outcome).toBe('resolved');
    expect(operator.logger.messages('warn')).toEqual([]);
  });

  it('leaves the records of others, whatever their identities', async () => {
    const rig = await makeRig();
    const others = { constructor: { priority: -1 }, '': { priority: -1 } };
    await rig.cluster.patch('kopfpeerings/default/default', { status: others });
    const operator = await join(rig, kopfPeering({ settings: settings(), identity: '__proto__' }));
    expect(Object.keys(records(rig)).sort()).toEqual(['', '__proto__', 'constructor']);
    operator.abort();
    await rig.clock.settle();
    expect(Object.keys(records(rig)).sort()).toEqual(['', 'constructor']);
  });
});
