import { toggle } from '@kopf-ts/core/engine';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ofWatchers, until, type WatchedCluster, watchedCluster } from '../support/embedded.js';
import { type TcpRelay, tcpRelay } from '../support/relay.js';

// Busy machines are slow; nothing waits for longer than it has to.
vi.setConfig({ testTimeout: 30_000 });

let watched: WatchedCluster;
let relay: TcpRelay;
beforeEach(async () => {
  watched = await watchedCluster();
  relay = await tcpRelay(watched.cluster.url);
});
afterEach(async () => {
  await watched[Symbol.asyncDispose]();
  await relay[Symbol.asyncDispose]();
});

/** No answer ever comes to those who want to list or to watch. */
const hangHandshakes = () => watched.cluster.faults.add({ match: ofWatchers, latency: 3600 });

const isDisconnected = (): Promise<void> =>
  until(
    () => relay.open === 0,
    () => `There are ${relay.open} connections open.`,
    // Much sooner than any of the timeouts would be.
    2,
  );

describe.each([
  ['streamed list', undefined],
  ['paged list', false],
] as const)('while the headers of a %s are waited for,', (_title, streamingLists) => {
  it('pausing breaks the request at once; then, the stream begins anew', async () => {
    const hanging = hangHandshakes();
    const paused = toggle(false);
    const watching = watched.watch({ url: relay.url, paused, capabilities: { streamingLists } });
    await until(
      () => hanging.hits === 1,
      () => 'There is no request.',
    );
    expect(relay.open).toBe(1);
    paused.turn(true);
    await isDisconnected();
    expect(watching.phases.at(-1)?.phase).toBe('paused');
    expect(hanging.hits).toBe(1);

    // This comes later than the leaving: so the server knows of that by now.
    await fetch(`${watched.cluster.url}/version`);
    hanging.remove();
    await watched.create('one');
    paused.turn(false);
    await watching.saw('LISTED');
    expect(watching.seen).toEqual(['- one', 'LISTED']);
    await watched.create('two');
    await watching.saw('ADDED two');
    // The abandoned request is not served, although it was let through at last.
    expect(watched.cluster.faults.endStreams()).toBe(1);
  });

  it('ending breaks the request at once', async () => {
    const hanging = hangHandshakes();
    const watching = watched.watch({ url: relay.url, capabilities: { streamingLists } });
    await until(
      () => hanging.hits === 1,
      () => 'There is no request.',
    );
    const ending = watching.end();
    await isDisconnected();
    await ending;
    expect(watching.seen).toEqual([]);
  });
});

it('pausing breaks a resumed watch whose headers are waited for', async () => {
  const paused = toggle(false);
  const watching = watched.watch({ url: relay.url, paused });
  await watching.saw('LISTED');
  const hanging = hangHandshakes();
  watched.cluster.faults.resetStreams();
  await until(
    () => hanging.hits === 1,
    () => 'There is no request.',
  );
  paused.turn(true);
  await isDisconnected();
  expect(hanging.hits).toBe(1);
});

it('pausing breaks a quiet stream; what has vanished meanwhile is told of afterwards', async () => {
  await watched.create('one');
  const paused = toggle(false);
  const watching = watched.watch({ url: relay.url, paused });
  await watching.saw('LISTED');
  paused.turn(true);
  await isDisconnected();
  await watched.remove('one');
  await watched.create('two');
  paused.turn(false);
  await watching.saw('LISTED', 2);
  expect(watching.sinceListed()).toEqual(['- two', 'DELETED one (vanished)', 'LISTED']);
});

it('a server that accepts connections and never answers is known to be down, and is left for another attempt', async () => {
  const overrides = { watching: { reconnectBackoff: 0.01 }, networking: { headersTimeout: 0.3 } };
  const watching = watched.watch({ url: relay.url, overrides });
  await watching.saw('LISTED');
  const hanging = hangHandshakes();
  watched.cluster.faults.resetStreams();
  await until(
    () => hanging.hits >= 3,
    () => 'There are too few attempts.',
  );
  expect(watching.phases.at(-1)).toMatchObject({ phase: 'down', error: { name: 'KubeTimeoutError' } });
  expect(relay.open).toBeLessThanOrEqual(2);
  hanging.remove();
  await watched.create('after');
  await watching.saw('ADDED after');
  expect(watching.phases.at(-1)?.phase).toBe('watching');
});
