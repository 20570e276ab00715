import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type WatchedCluster, watchedCluster } from '../support/embedded.js';

// Busy machines are slow; nothing waits for longer than it has to.
vi.setConfig({ testTimeout: 30_000 });

const overrides = { watching: { inactivityTimeout: 30, reconnectBackoff: 0.01 } };

let watched: WatchedCluster;
beforeEach(async () => {
  watched = await watchedCluster();
});
afterEach(() => watched[Symbol.asyncDispose]());

describe.each([
  ['streamed', undefined],
  ['paged', false],
] as const)('with %s lists', (_title, streamingLists) => {
  const capabilities = () => ({ streamingLists });

  it('an expired version (as an ERROR in the stream) is left behind by listing anew', async () => {
    const { cluster, create, remove, requests } = watched;
    for (const name of ['lost', 'kept']) await create(name);
    const watching = watched.watch({ overrides, capabilities: capabilities() });
    await watching.saw('LISTED');

    const refusal = cluster.faults.refuseConnections();
    cluster.faults.cutConnections();
    await remove('lost');
    await create('found');
    cluster.faults.compact();
    refusal.remove();
    await watching.saw('LISTED', 2);

    expect(watching.sinceListed().sort()).toEqual(['- found', '- kept', 'DELETED lost (vanished)', 'LISTED']);
    expect(requests.filter(({ isList }) => isList)).toHaveLength(2);
    await create('after');
    await watching.saw('ADDED after');
  });

  it('an expired version (as HTTP 410) is left behind by listing anew', async () => {
    const { cluster, create, remove } = watched;
    for (const name of ['lost', 'kept']) await create(name);
    const watching = watched.watch({ overrides, capabilities: capabilities() });
    await watching.saw('LISTED');

    const hasVersion = (url: string): boolean => /[?&]resourceVersion=\d/.test(url);
    const match = { watch: true, where: ({ url }: { url: string }) => hasVersion(url) };
    const gone = cluster.faults.add({ match, answer: { status: 410 }, times: 1 });
    const refusal = cluster.faults.refuseConnections();
    cluster.faults.cutConnections();
    await remove('lost');
    await create('found');
    refusal.remove();
    await watching.saw('LISTED', 2);

    expect(gone.hits).toBe(1);
    expect(watching.sinceListed().sort()).toEqual(['- found', '- kept', 'DELETED lost (vanished)', 'LISTED']);
  });
});

it('tells of a vanished object once, and of its namesake as of another one', async () => {
  const { cluster, create, remove } = watched;
  await create('one');
  const watching = watched.watch({ overrides });
  await watching.saw('LISTED');
  const refusal = cluster.faults.refuseConnections();
  cluster.faults.cutConnections();
  await remove('one');
  await create('one');
  cluster.faults.compact();
  refusal.remove();
  await watching.saw('LISTED', 2);
  expect(watching.sinceListed()).toEqual(['DELETED one (vanished)', '- one', 'LISTED']);

  await remove('one');
  await watching.saw('DELETED one');
  expect(watching.seen.filter((line) => line.startsWith('DELETED'))).toEqual(['DELETED one (vanished)', 'DELETED one']);
});
