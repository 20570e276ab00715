import type { AnyObject } from '@kopf-ts/core';
import { manualClock } from '@kopf-ts/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { until, type WatchedCluster, watchedCluster } from '../support/embedded.js';
import { tcpRelay } from '../support/relay.js';

// Busy machines are slow; nothing waits for longer than it has to.
vi.setConfig({ testTimeout: 30_000 });

/** The silence is noticed sooner than by default; nothing else differs. */
const overrides = { watching: { inactivityTimeout: 0.5 } };

const versionOf = (object: AnyObject): string | undefined => object.metadata?.resourceVersion;

let watched: WatchedCluster;
beforeEach(async () => {
  watched = await watchedCluster();
});
afterEach(() => watched[Symbol.asyncDispose]());

/** The requests after those that were there at the beginning. */
const since = (count: number) => watched.requests.slice(count);

describe('a stream that has died in silence', () => {
  it('is opened anew from the last version when it is frozen, without a list', async () => {
    const { cluster, create, requests } = watched;
    const watching = watched.watch({ overrides });
    await watching.saw('LISTED');
    const last = await create('one');
    await watching.saw('ADDED one');

    const before = requests.length;
    const frost = cluster.faults.freezeStreams();
    await create('two');
    await until(
      () => requests.length > before,
      () => 'The silence is not noticed.',
    );
    frost.remove();
    await watching.saw('ADDED two');

    expect(since(before)[0]).toMatchObject({ isWatch: true, isList: false, from: versionOf(last) });
    expect(since(before).filter(({ isList }) => isList)).toEqual([]);
    expect(watching.seen).toEqual(['LISTED', 'ADDED one', 'ADDED two']);
    expect(watching.logger.messages('warn')).toEqual([]);
  });

  it('is opened anew over another connection when its own is lost on the way, without a list', async () => {
    await using relay = await tcpRelay(watched.cluster.url);
    const watching = watched.watch({ overrides, url: relay.url });
    await watching.saw('LISTED');
    const last = await watched.create('one');
    await watching.saw('ADDED one');

    const before = watched.requests.length;
    const connections = relay.accepted;
    relay.loseConnections();
    await watched.create('two');
    await watching.saw('ADDED two');

    expect(relay.accepted).toBeGreaterThan(connections);
    expect(since(before)[0]).toMatchObject({ isWatch: true, isList: false, from: versionOf(last) });
    expect(since(before).filter(({ isList }) => isList)).toEqual([]);
    expect(watching.seen).toEqual(['LISTED', 'ADDED one', 'ADDED two']);
  });

  it('is opened anew again and again for as long as it is silent, and misses nothing', async () => {
    const { create, cluster, requests } = watched;
    const watching = watched.watch({ overrides });
    await watching.saw('LISTED');
    const listed = requests.length;
    for (const name of ['a', 'b', 'c']) {
      const frost = cluster.faults.freezeStreams();
      const before = requests.length;
      await create(name);
      await until(
        () => requests.length > before,
        () => 'The silence is not noticed.',
      );
      frost.remove();
      await watching.saw(`ADDED ${name}`);
    }
    expect(watching.seen).toEqual(['LISTED', 'ADDED a', 'ADDED b', 'ADDED c']);
    expect(since(listed).filter(({ isList }) => isList)).toEqual([]);
    // A restored cluster would be as silent.
    expect(watched.versionChecks).toBeGreaterThan(0);
    expect(watched.versionChecks).toBeLessThanOrEqual(since(listed).length);
  });
});

describe('bookmarks', () => {
  /** By the clock of the cluster, which the watchers do not have: bookmarks come when the test wants. */
  async function withBookmarks() {
    await watched[Symbol.asyncDispose]();
    const clock = manualClock();
    watched = await watchedCluster({ clock });
    return clock;
  }

  it('move the version from which the stream goes on', async () => {
    const clock = await withBookmarks();
    const watching = watched.watch({ overrides: { watching: { inactivityTimeout: 2 } } });
    await watching.saw('LISTED');
    const foreign = await watched.cluster.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'foreign', namespace: 'default' },
    });
    const lastEventAt = () => watching.phases.at(-1)?.lastEventAt;
    const listedAt = lastEventAt();
    await clock.advance(61);
    await until(
      () => lastEventAt() !== listedAt,
      () => 'There is no bookmark.',
    );
    const before = watched.requests.length;
    watched.cluster.faults.resetStreams();
    await until(
      () => watched.requests.length > before,
      () => 'The stream does not come back.',
    );
    expect(since(before)[0]).toMatchObject({ isList: false });
    expect(Number(since(before)[0]?.from)).toBeGreaterThanOrEqual(Number(versionOf(foreign)));
  });

  it('are not needed: without any, the stream goes on from the last event, without a list', async () => {
    const { cluster, create, requests } = watched;
    const watching = watched.watch({ overrides });
    await watching.saw('LISTED');
    cluster.faults.dropBookmarks();
    const last = await create('one');
    await watching.saw('ADDED one');
    const before = requests.length;
    await until(
      () => requests.length >= before + 2,
      () => 'The silence is not noticed.',
    );
    await create('two');
    await watching.saw('ADDED two');
    expect(since(before).filter(({ isList }) => isList)).toEqual([]);
    expect(since(before)[0]?.from).toBe(versionOf(last));
    expect(watching.seen).toEqual(['LISTED', 'ADDED one', 'ADDED two']);
  });

  it('are not needed even for the beginning: a streamed list without its end is taken in pages', async () => {
    const { cluster, create, requests } = watched;
    await create('one');
    cluster.faults.dropBookmarks();
    const watching = watched.watch({ overrides });
    await watching.saw('LISTED');
    await create('two');
    await watching.saw('ADDED two');
    expect(requests.filter(({ isList, isWatch }) => isList && !isWatch)).toHaveLength(1);
    expect(watching.sinceListed()).toEqual(['ADDED two']);
  });
});
