import { describe, expect, it } from 'vitest';
import { orchestrate, resource } from './harness.js';

const ONES = resource('ones');
const TWOS = resource('twos');
const NODES = resource('nodes', { group: '', namespaced: false });

describe('what is watched', () => {
  it('is nothing until both the resources and the namespaces are known', async () => {
    const { insights, running, clock, serve } = await orchestrate();
    await serve([ONES]);
    expect(running()).toEqual([]);
    insights.revise({ namespaces: new Set(['ns1']) });
    await clock.settle();
    expect(running()).toEqual(['ones.v1.g1@ns1']);
  });

  it('is every resource in every namespace', async () => {
    const { running, serve } = await orchestrate();
    await serve([ONES, TWOS], ['ns1', 'ns2']);
    expect(running()).toEqual(['ones.v1.g1@ns1', 'ones.v1.g1@ns2', 'twos.v1.g1@ns1', 'twos.v1.g1@ns2']);
  });

  it('is every resource once, cluster-wide', async () => {
    const { running, serve, watchers } = await orchestrate();
    await serve([ONES, NODES], [null]);
    expect(running()).toEqual(['nodes.v1@none', 'ones.v1.g1@none']);
    expect(watchers.map(({ at }) => at.target.namespace)).toEqual([null, null]);
    expect(watchers[0]?.at.target.resource).toBe(ONES);
  });

  it('is a cluster-scoped resource once, also if there are several namespaces', async () => {
    const { running, serve } = await orchestrate();
    await serve([NODES, ONES], ['ns1', 'ns2']);
    expect(running()).toEqual(['nodes.v1@none', 'ones.v1.g1@ns1', 'ones.v1.g1@ns2']);
  });

  it('is not even a cluster-scoped resource while no namespace is served', async () => {
    const { running, serve } = await orchestrate();
    await serve([NODES], []);
    expect(running()).toEqual([]);
    await serve([NODES], ['ns1']);
    expect(running()).toEqual(['nodes.v1@none']);
  });

  it('is followed by what comes later, without disturbing the rest', async () => {
    const { story, serve } = await orchestrate();
    await serve([ONES], ['ns1']);
    await serve([ONES], ['ns1', 'ns2']);
    await serve([ONES, TWOS], ['ns1', 'ns2']);
    expect(story).toEqual(['+ones.v1.g1@ns1', '+ones.v1.g1@ns2', '+twos.v1.g1@ns1', '+twos.v1.g1@ns2']);
  });

  it('is left by what is gone, before anything new is started', async () => {
    const { story, serve } = await orchestrate();
    await serve([ONES], ['ns1', 'ns2']);
    story.length = 0;
    await serve([TWOS], ['ns2']);
    expect(story).toEqual(['-ones.v1.g1@ns1', '-ones.v1.g1@ns2', '+twos.v1.g1@ns2']);
  });

  it('goes on cluster-wide, even if there is nothing else served', async () => {
    const { running, serve } = await orchestrate();
    await serve([NODES, ONES], ['ns1']);
    await serve([NODES, ONES], []);
    expect(running()).toEqual(['nodes.v1@none']);
  });

  it('goes on if the whole cluster ceases to be a namespace', async () => {
    const { running, serve } = await orchestrate();
    await serve([ONES], [null]);
    await serve([ONES], []);
    expect(running()).toEqual(['ones.v1.g1@none']);
  });

  it('is watched anew if the description has changed, after the old watcher has ended', async () => {
    const { story, serve, watchers } = await orchestrate();
    await serve([ONES], ['ns1']);
    const changed = resource('ones', { subresources: ['status'] });
    await serve([changed], ['ns1']);
    expect(story).toEqual(['+ones.v1.g1@ns1', '-ones.v1.g1@ns1', '+ones.v1.g1@ns1']);
    expect(watchers[1]?.at.target.resource).toBe(changed);
  });

  it('comes and goes many times', async () => {
    const { story, serve, running } = await orchestrate();
    for (let round = 0; round < 20; round += 1) {
      await serve([ONES], ['ns1']);
      expect(running()).toEqual(['ones.v1.g1@ns1']);
      await serve([], ['ns1']);
      expect(running()).toEqual([]);
    }
    expect(story).toHaveLength(40);
  });
});

describe('being at work', () => {
  it('begins when everything known from the beginning is watched', async () => {
    const { service, serve, clock, running } = await orchestrate();
    let seen: string[] | undefined;
    void service.working(new AbortController().signal).then(() => {
      seen = running();
    });
    await clock.settle();
    expect(seen).toBeUndefined();
    await serve([ONES], ['ns1']);
    expect(seen).toEqual(['ones.v1.g1@ns1']);
  });

  it('is not waited for any more if nobody wants it', async () => {
    const { service } = await orchestrate();
    const controller = new AbortController();
    const waiting = service.working(controller.signal);
    controller.abort(new Error('no need'));
    await expect(waiting).rejects.toThrow('no need');
  });
});

describe('a watcher that fails', () => {
  it.each([
    ['with an error', new Error('boom'), 'boom'],
    ['with something that is no error', 'boom', 'boom'],
  ])('%s is told of, and restarted', async (_title, error, text) => {
    const { watchers, serve, logger, clock, running } = await orchestrate();
    await serve([ONES], ['ns1']);
    watchers[0]?.fail(error);
    await clock.settle();
    expect(logger.messages('error')).toEqual([`Watcher for ones.v1.g1@ns1 has failed: ${text}`]);
    expect(running()).toEqual([]);
    await clock.advance(0.5);
    expect(running()).toEqual(['ones.v1.g1@ns1']);
  });

  it('by ending in good order is restarted all the same', async () => {
    const { watchers, serve, logger, clock, running } = await orchestrate();
    await serve([NODES], ['ns1']);
    watchers[0]?.end();
    await clock.settle();
    expect(logger.messages('error')).toEqual([expect.stringContaining('Watcher for nodes.v1@none has failed: ')]);
    await clock.advance(0.5);
    expect(running()).toEqual(['nodes.v1@none']);
  });

  it('before it begins is restarted, too', async () => {
    const { serve, clock, running, logger } = await orchestrate({ crashes: 2 });
    await serve([ONES], ['ns1']);
    expect(running()).toEqual([]);
    expect(logger.messages('error')).toEqual(['Watcher for ones.v1.g1@ns1 has failed: crashed at once']);
    await clock.advance(1.5);
    expect(running()).toEqual(['ones.v1.g1@ns1']);
  });

  it('again and again is restarted for ever, later and later, and told of once', async () => {
    const { watchers, serve, logger, clock } = await orchestrate();
    await serve([ONES], ['ns1']);
    const starts: number[] = [];
    for (let round = 0; round < 12; round += 1) {
      watchers.at(-1)?.fail(new Error('boom'));
      const count = watchers.length;
      const failedAt = clock.now();
      while (watchers.length === count) await clock.advance(0.25);
      starts.push(clock.now() - failedAt);
    }
    expect(starts).toEqual([0.5, 1, 2, 4, 8, 16, 30, 30, 30, 30, 30, 30]);
    expect(logger.messages('error')).toHaveLength(1);
    watchers.at(-1)?.fail(new Error('another'));
    await clock.settle();
    expect(logger.messages('error')).toHaveLength(2);
  });

  it('after a long time of working is restarted soon, and told of again', async () => {
    const { watchers, serve, logger, clock } = await orchestrate();
    await serve([ONES], ['ns1']);
    for (let round = 1; round <= 5; round += 1) {
      await clock.advance(61);
      watchers.at(-1)?.fail(new Error('boom'));
      await clock.advance(0.5);
      expect(watchers).toHaveLength(round + 1);
    }
    expect(logger.messages('error')).toHaveLength(5);
  });

  it('does not disturb the others', async () => {
    const { watchers, serve, clock, story } = await orchestrate();
    await serve([ONES, TWOS], ['ns1']);
    watchers[0]?.fail(new Error('boom'));
    await clock.advance(10);
    expect(story).toEqual(['+ones.v1.g1@ns1', '+twos.v1.g1@ns1', '-ones.v1.g1@ns1', '+ones.v1.g1@ns1']);
  });

  it('is not restarted if it is gone meanwhile', async () => {
    const { watchers, serve, clock, running } = await orchestrate();
    await serve([ONES], ['ns1']);
    watchers[0]?.fail(new Error('boom'));
    await serve([], ['ns1']);
    await clock.advance(60);
    expect(running()).toEqual([]);
    expect(watchers).toHaveLength(1);
  });
});

describe('the health', () => {
  it('has each stream by its name and phase, until it is gone', async () => {
    const { watchers, serve, health, watches } = await orchestrate();
    await serve([ONES, NODES], ['ns1']);
    watches(watchers[0]);
    expect(health.streams().map(({ name, phase }) => [name, phase])).toEqual([
      ['ones.v1.g1 in namespace ns1', 'watching'],
      ['nodes.v1 cluster-wide', 'starting'],
    ]);
    await serve([NODES], ['ns1']);
    expect(health.streams().map(({ name }) => name)).toEqual(['nodes.v1 cluster-wide']);
  });

  it('knows of the failed ones', async () => {
    const { watchers, serve, health, clock, watches } = await orchestrate();
    await serve([ONES], ['ns1']);
    watchers[0]?.fail(new Error('boom'));
    await clock.advance(1);
    expect(health.streams()).toMatchObject([{ phase: 'down', error: 'boom' }]);
    watches(watchers[1]);
    expect(health.streams()).toMatchObject([{ phase: 'watching', error: undefined }]);
  });
});

describe('the exit', () => {
  it('stops all at once, and waits for them', async () => {
    const { serve, stop, running, isOver, error, health } = await orchestrate({ withPeering: true });
    await serve([ONES, TWOS], ['ns1', 'ns2']);
    expect(running()).toHaveLength(6);
    await stop();
    expect(running()).toEqual([]);
    expect(isOver()).toBe(true);
    expect(error()).toBeUndefined();
    expect(health.streams()).toEqual([]);
  });

  it('waits for those who are stuck, and names them every 10 seconds', async () => {
    const { serve, stop, isOver, logger, clock, watchers } = await orchestrate({ stubborn: ['ones.v1.g1@ns2'] });
    await serve([ONES], ['ns1', 'ns2']);
    await stop();
    await clock.advance(9.9);
    expect([isOver(), logger.messages('warn')]).toEqual([false, []]);
    await clock.advance(10.1);
    expect(logger.messages('warn')).toEqual([
      'Still not stopped after 10 seconds: Watcher for ones.v1.g1@ns2',
      'Still not stopped after 20 seconds: Watcher for ones.v1.g1@ns2',
    ]);
    watchers.find(({ name }) => name.endsWith('ns2'))?.end();
    await clock.settle();
    expect(isOver()).toBe(true);
  });

  it('tells of errors that happen on the way out', async () => {
    const { serve, stop, isOver, logger, clock, watchers } = await orchestrate({ stubborn: ['ones.v1.g1@ns1'] });
    await serve([ONES], ['ns1']);
    await stop();
    watchers[0]?.fail(new Error('cannot drain'));
    await clock.settle();
    expect(isOver()).toBe(true);
    expect(logger.messages('warn')).toEqual(['Watcher for ones.v1.g1@ns1 has failed while stopping: cannot drain']);
  });

  it('does not take long in the middle of a restart', async () => {
    const { serve, stop, isOver, watchers, clock } = await orchestrate();
    await serve([ONES], ['ns1']);
    watchers[0]?.fail(new Error('boom'));
    await clock.settle();
    await stop();
    expect(isOver()).toBe(true);
  });
});

describe('a watcher that is gone but does not end', () => {
  it('holds up the others only for a while, and its own successor until it ends', async () => {
    const { serve, clock, running, watchers, logger } = await orchestrate({ stubborn: ['ones.v1.g1@ns1'] });
    await serve([ONES], ['ns1']);
    const changed = resource('ones', { subresources: ['status'] });
    await serve([changed, TWOS], ['ns1']);
    expect(running()).toEqual(['ones.v1.g1@ns1']);
    await clock.advance(10);
    expect(logger.messages('warn')).toEqual(['Still not stopped after 10 seconds: Watcher for ones.v1.g1@ns1']);
    expect(running()).toEqual(['ones.v1.g1@ns1', 'twos.v1.g1@ns1']);
    expect(watchers.filter(({ name }) => name.startsWith('ones'))).toHaveLength(1);
    watchers[0]?.end();
    await clock.settle();
    expect(watchers.filter(({ name }) => name.startsWith('ones')).map(({ at }) => at.target.resource)).toEqual([
      ONES,
      changed,
    ]);
  });
});
