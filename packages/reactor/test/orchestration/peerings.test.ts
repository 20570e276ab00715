import type { Fact, Observer } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { orchestrate, resource } from './harness.js';

const ONES = resource('ones');
const TWOS = resource('twos');

describe('peerings', () => {
  it('are one per namespace, whatever the resources', async () => {
    const { serve, peers } = await orchestrate({ withPeering: true });
    await serve([ONES, TWOS], ['ns1', 'ns2']);
    expect(peers.map(({ at }) => at.namespace)).toEqual(['ns1', 'ns2']);
  });

  it('are only one for the whole cluster', async () => {
    const { serve, peers } = await orchestrate({ withPeering: true });
    await serve([ONES, TWOS], [null]);
    expect(peers.map(({ at }) => at.namespace)).toEqual([null]);
  });

  it('are not for those who want to be alone', async () => {
    const { serve, peers, paused, running } = await orchestrate({
      withPeering: true,
      settings: { peering: { standalone: true } },
    });
    await serve([ONES], ['ns1']);
    expect(peers).toEqual([]);
    expect(paused.isOn).toBe(false);
    expect(running()).toEqual(['ones.v1.g1@ns1']);
  });

  it('get to know the cluster, in which there may be no kinds for them yet', async () => {
    const { serve, peers, insights } = await orchestrate({ withPeering: true });
    await serve([ONES], ['ns1']);
    expect(peers[0]?.at.insights).toBe(insights);
  });

  it('hold back everything until all of them have said who is to work', async () => {
    const { serve, peers, paused, watchers } = await orchestrate({ withPeering: true });
    expect(paused.isOn).toBe(false);
    await serve([ONES], ['ns1', 'ns2']);
    expect(watchers.map(({ at }) => at.paused.isOn)).toEqual([true, true]);
    peers[0]?.at.paused.turn(false);
    expect(paused.isOn).toBe(true);
    peers[1]?.at.paused.turn(false);
    expect(watchers.map(({ at }) => at.paused.isOn)).toEqual([false, false]);
  });

  it('are complained about if they say nothing', async () => {
    const { serve, peers, clock, logger } = await orchestrate({ withPeering: true });
    await serve([ONES], ['ns1', 'ns2']);
    peers[0]?.at.paused.turn(true);
    await clock.advance(100);
    expect(logger.messages('warn')).toEqual([
      expect.stringContaining('Peering in namespace ns2 has not called paused.turn() yet'),
    ]);
  });

  it('are begun before the watchers, so that nothing slips through', async () => {
    const { serve, story } = await orchestrate({ withPeering: true });
    await serve([ONES], ['ns1']);
    expect(story).toEqual(['+peers@ns1', '+ones.v1.g1@ns1']);
  });

  it('pause and resume everything later, too', async () => {
    const { serve, peers, paused } = await orchestrate({ withPeering: true });
    await serve([ONES], ['ns1', 'ns2']);
    for (const { at } of peers) at.paused.turn(false);
    peers[1]?.at.paused.turn(true);
    expect(paused.isOn).toBe(true);
    expect(peers[1]?.at.paused.isOn).toBe(true);
    peers[1]?.at.paused.turn(false);
    expect(paused.isOn).toBe(false);
  });

  it('go with their namespaces, and neither pause nor forbid anything any more', async () => {
    const { serve, peers, paused, writeGuards, running } = await orchestrate({ withPeering: true });
    await serve([ONES], ['ns1', 'ns2']);
    peers[0]?.at.paused.turn(false);
    peers[1]?.at.guardWrites(() => false);
    expect([paused.isOn, writeGuards.mayWrite()]).toEqual([true, false]);
    await serve([ONES], ['ns1']);
    expect(running()).toEqual(['ones.v1.g1@ns1', 'peers@ns1']);
    expect([paused.isOn, writeGuards.mayWrite(), paused.size]).toEqual([false, true, 1]);
  });

  it('can be heard no more when they are gone', async () => {
    const { serve, peers, paused, writeGuards } = await orchestrate({ withPeering: true });
    await serve([ONES], ['ns1']);
    await serve([ONES], []);
    peers[0]?.at.paused.turn(true);
    peers[0]?.at.guardWrites(() => false);
    expect([paused.isOn, writeGuards.mayWrite()]).toEqual([false, true]);
  });

  it('tell observers when they go, and nothing after that', async () => {
    const told: Fact[] = [];
    const observer: Observer = { wants: ['peering.ruled', 'peering.left'], observe: (fact) => void told.push(fact) };
    const { serve, peers } = await orchestrate({ withPeering: true, observers: [observer] });
    await serve([ONES], ['ns1', 'ns2']);
    peers[1]?.at.paused.turn(true);
    await serve([ONES], ['ns1']);
    peers[1]?.at.paused.turn(false);
    expect(told).toMatchObject([
      { kind: 'peering.ruled', namespace: 'ns2', isPaused: true },
      { kind: 'peering.left', namespace: 'ns2' },
    ]);
  });

  it('of the whole cluster go on, even if it ceases to be a namespace', async () => {
    const { serve, running } = await orchestrate({ withPeering: true });
    await serve([ONES], [null]);
    await serve([ONES], []);
    expect(running()).toEqual(['ones.v1.g1@none', 'peers@none']);
  });

  it('have write guards, of which the last one counts', async () => {
    const { serve, peers, writeGuards } = await orchestrate({ withPeering: true });
    await serve([ONES], ['ns1']);
    expect(writeGuards.mayWrite()).toBe(true);
    peers[0]?.at.guardWrites(() => false);
    expect(writeGuards.mayWrite()).toBe(false);
    peers[0]?.at.guardWrites(() => true);
    expect(writeGuards.mayWrite()).toBe(true);
  });

  it('leave on exit, and still forbid what comes too late', async () => {
    const { serve, stop, peers, writeGuards } = await orchestrate({ withPeering: true });
    await serve([ONES], ['ns1']);
    peers[0]?.at.guardWrites(() => false);
    await stop();
    expect(peers.map(({ isStopped }) => isStopped)).toEqual([true]);
    expect(writeGuards.mayWrite()).toBe(false);
  });

  it('leave on exit only after the watchers, but do not wait for those who are stuck', async () => {
    const { serve, stop, isOver, peers, watchers, clock } = await orchestrate({
      withPeering: true,
      stubborn: ['ones.v1.g1@ns1'],
    });
    await serve([ONES], ['ns1']);
    await stop();
    await clock.advance(9.9);
    expect(peers.map(({ isStopped }) => isStopped)).toEqual([false]);
    await clock.advance(0.1);
    expect(peers.map(({ isStopped }) => isStopped)).toEqual([true]);
    expect(isOver()).toBe(false);
    watchers[0]?.end();
    await clock.settle();
    expect(isOver()).toBe(true);
  });
});

describe('a peering that insists on its kind', () => {
  it('keeps the operator paused until the kind is there', async () => {
    const { serve, paused, insights, clock } = await orchestrate({
      withPeering: true,
      peering: {
        async join({ insights: known, paused: toggle, signal }) {
          for await (const _ of known.revisions(signal)) toggle.turn(known.find('kopf.dev/kopfpeerings') === undefined);
        },
      },
    });
    await serve([ONES], ['ns1']);
    expect(paused.isOn).toBe(true);
    insights.revise({ all: [ONES, resource('kopfpeerings', { group: 'kopf.dev' })] });
    await clock.settle();
    expect(paused.isOn).toBe(false);
    insights.revise({ all: [ONES] });
    await clock.settle();
    expect(paused.isOn).toBe(true);
  });
});

describe('a peering that fails', () => {
  it.each([[true], [false]])('is restarted, and its last word is in force meanwhile: paused=%j', async (isPaused) => {
    const { serve, peers, paused, writeGuards, clock, logger, running } = await orchestrate({ withPeering: true });
    await serve([ONES], ['ns1']);
    peers[0]?.at.paused.turn(isPaused);
    peers[0]?.at.guardWrites(() => false);
    peers[0]?.fail(new Error('boom'));
    await clock.settle();
    expect(logger.messages('error')).toEqual(['Peering in namespace ns1 has failed: boom']);
    expect(running()).toEqual(['ones.v1.g1@ns1']);
    expect([paused.isOn, writeGuards.mayWrite()]).toEqual([isPaused, false]);
    await clock.advance(0.5);
    expect(running()).toEqual(['ones.v1.g1@ns1', 'peers@ns1']);
    expect([paused.isOn, paused.size, writeGuards.mayWrite()]).toEqual([isPaused, 1, false]);
    peers[1]?.at.guardWrites(() => true);
    expect(writeGuards.mayWrite()).toBe(true);
  });

  it('is seen in the readiness until it works again', async () => {
    const { serve, peers, clock, health } = await orchestrate({ withPeering: true });
    const isReady = (): boolean => health.readiness().isReady;
    await serve([], ['ns1']);
    expect(isReady()).toBe(false);
    peers[0]?.at.paused.turn(false);
    expect(isReady()).toBe(true);
    peers[0]?.fail(new Error('boom'));
    await clock.advance(1);
    expect(isReady()).toBe(false);
    expect(health.readiness().report).toMatchObject({
      conditions: [{ name: 'peering in namespace ns1', met: false, why: 'boom' }],
    });
    peers[1]?.at.paused.turn(true);
    expect(isReady()).toBe(true);
  });
});
