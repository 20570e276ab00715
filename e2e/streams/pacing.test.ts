import type { FaultRule } from '@kopf-ts/apiserver';
import { connectionLimiter } from '@kopf-ts/core/engine';
import { describe, expect, it, vi } from 'vitest';
import { realClock } from '../support/client.js';
import { ofWatchers, until, watchedCluster } from '../support/embedded.js';

// Busy machines are slow; nothing waits for longer than it has to.
vi.setConfig({ testTimeout: 30_000 });

const isResumed = ({ url }: { readonly url: string }): boolean => /[?&]resourceVersion=\d/.test(url);

describe('a stream that fails all the time makes no more than an attempt a second in the long run, even if told not to pause:', () => {
  const faults: readonly (readonly [string, FaultRule])[] = [
    ['HTTP 503', { match: ofWatchers, answer: { status: 503 } }],
    ['broken connections', { match: ofWatchers, reset: true }],
    ['streams that end at once', { match: { ...ofWatchers, watch: true }, answer: { status: 200, body: '' } }],
    ['streams that bring garbage only', { match: ofWatchers, answer: { status: 200, body: 'oops' } }],
    // Each of the streamed lists succeeds, and each watch after it is refused.
    ['versions that are always expired', { match: { watch: true, where: isResumed }, answer: { status: 410 } }],
  ];

  it.concurrent.each(faults)('%s', async (title, fault) => {
    await using watched = await watchedCluster();
    const { cluster, create, requests } = watched;
    const capabilities = title.startsWith('versions') ? { streamingLists: false } : {};
    const watching = watched.watch({ overrides: { watching: { reconnectBackoff: 0 } }, capabilities });
    await watching.saw('LISTED');
    const before = requests.length;
    const outage = cluster.faults.add(fault);
    const startedAt = realClock.now();
    cluster.faults.resetStreams();
    // Ten of them may go at once; the others, one by one.
    await until(
      () => requests.length >= before + 13,
      () => `There were only ${requests.length - before} attempts.`,
    );
    expect(realClock.now() - startedAt).toBeGreaterThan(2);
    outage.remove();
    await create('after');
    await until(
      () => watching.seen.some((line) => line.endsWith(' after')),
      () => 'The stream has not recovered.',
    );
  });
});

it('all streams together come back no sooner than the limit of the process permits', async () => {
  await using watched = await watchedCluster();
  const count = 20;
  const limiter = connectionLimiter(realClock, { perSecond: 20, burst: 5 });
  const streams = Array.from({ length: count }, () => watched.watch({ limiter }));
  for (const stream of streams) await stream.saw('LISTED');

  const before = watched.requests.length;
  const startedAt = realClock.now();
  watched.cluster.faults.cutConnections();
  await until(
    () => watched.requests.length >= before + count,
    () => `Only ${watched.requests.length - before} streams are back.`,
  );
  expect(realClock.now() - startedAt).toBeGreaterThanOrEqual((count - 5) / 20 - 0.1);
  await watched.create('after');
  for (const stream of streams) await stream.saw('ADDED after');
  expect(watched.requests.slice(before).filter(({ isList }) => isList)).toEqual([]);
});
