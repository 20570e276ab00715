import type { FaultHandle, Faults } from '@kopf-ts/apiserver';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ofWatchers, until, type WatchedCluster, type Watching, watchedCluster } from '../support/embedded.js';

// Busy machines are slow; nothing waits for longer than it has to.
vi.setConfig({ testTimeout: 30_000 });

/** The pauses are shorter than by default; nothing else differs. */
const overrides = { watching: { reconnectBackoff: 0.01 } };

let watched: WatchedCluster;
beforeEach(async () => {
  watched = await watchedCluster();
});
afterEach(() => watched[Symbol.asyncDispose]());

const failing = (faults: Faults, answer: Parameters<Faults['add']>[0]['answer']): FaultHandle =>
  faults.add({ match: ofWatchers, ...(answer === undefined ? { reset: true } : { answer }) });

/** What goes wrong for all requests of the watcher, until it is over. */
const outages: readonly (readonly [title: string, begin: (faults: Faults) => FaultHandle])[] = [
  ['HTTP 500', (faults) => failing(faults, { status: 500 })],
  ['HTTP 503', (faults) => failing(faults, { status: 503 })],
  ['HTTP 504', (faults) => failing(faults, { status: 504 })],
  ['HTTP 403', (faults) => failing(faults, { status: 403 })],
  ['HTTP 401', (faults) => failing(faults, { status: 401 })],
  ['HTTP 404', (faults) => failing(faults, { status: 404 })],
  ['HTTP 429', (faults) => failing(faults, { status: 429 })],
  ['an answer that is no JSON', (faults) => failing(faults, { status: 200, body: '<html>Bad gateway</html>' })],
  ['a half of a line', (faults) => failing(faults, { status: 200, body: '{"type":"ADDED","obj' })],
  ['an answer of nothing', (faults) => failing(faults, { status: 200, body: '' })],
  ['an ERROR 500 in the stream', (faults) => failing(faults, { status: 200, body: errorEvent(500, 'InternalError') })],
  ['an ERROR 504 in the stream', (faults) => failing(faults, { status: 200, body: errorEvent(504, 'Timeout') })],
  ['an ERROR of nothing in the stream', (faults) => failing(faults, { status: 200, body: '{"type":"ERROR"}\n' })],
  ['broken connections', (faults) => failing(faults, undefined)],
];

function errorEvent(code: number, reason: string): string {
  const object = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: 'oops', reason, code };
  return `${JSON.stringify({ type: 'ERROR', object })}\n`;
}

const attempts = (fault: FaultHandle, count: number): Promise<void> =>
  until(
    () => fault.hits >= count,
    () => `There were only ${fault.hits} attempts.`,
  );

const isToldOnce = (watching: Watching): void => {
  expect(watching.logger.messages('warn').filter((line) => line.includes('is down'))).toHaveLength(1);
  expect(watching.logger.messages('info').filter((line) => line.includes('works again'))).toHaveLength(1);
  expect(watching.phases.at(-1)).toMatchObject({ phase: 'watching', error: undefined });
};

describe('an outage of the server during the watching is outlived:', () => {
  it.each(outages)('%s', async (_title, begin) => {
    const { cluster, create } = watched;
    const watching = watched.watch({ overrides });
    await watching.saw('LISTED');
    const outage = begin(cluster.faults);
    cluster.faults.resetStreams();
    await attempts(outage, 5);
    await until(
      () => watching.phases.at(-1)?.phase === 'down',
      () => `It is not known that the stream is down: ${watching.phases.at(-1)?.phase}.`,
    );
    await create('meanwhile');
    outage.remove();
    const isThere = () => watching.sinceListed().some((line) => line.endsWith(' meanwhile'));
    await until(isThere, () => 'The stream has not recovered.');
    await create('after');
    await watching.saw('ADDED after');
    expect(watching.seen.filter((line) => line.endsWith(' after'))).toHaveLength(1);
    isToldOnce(watching);
  });
});

describe('an outage of the server at the beginning is outlived:', () => {
  it.each(outages)('%s', async (_title, begin) => {
    const { cluster, create } = watched;
    await create('one');
    const outage = begin(cluster.faults);
    const watching = watched.watch({ overrides });
    await attempts(outage, 5);
    outage.remove();
    await watching.saw('LISTED');
    await create('after');
    await watching.saw('ADDED after');
    expect(watching.sinceListed()).toEqual(['ADDED after']);
    expect(watching.seen).toContain('- one');
    isToldOnce(watching);
  });
});

describe('streams that fail only after some lines are outlived:', () => {
  it.each([
    ['they are reset', { resetAfter: 0 }],
    ['they end', { endAfter: 0 }],
  ])('%s', async (_title, stream) => {
    const { cluster, create } = watched;
    const watching = watched.watch({ overrides });
    await watching.saw('LISTED');
    const fault = cluster.faults.add({ match: { ...ofWatchers, watch: true }, stream });
    cluster.faults.resetStreams();
    for (const name of ['a', 'b', 'c']) await create(name);
    await attempts(fault, 4);
    fault.remove();
    await watching.saw('ADDED c');
    const names = watching.sinceListed().filter((line) => line !== 'LISTED');
    expect([...new Set(names)]).toEqual(['ADDED a', 'ADDED b', 'ADDED c']);
  });
});

it('streams that bring garbage again and again are outlived: a list or two bring what it hides', async () => {
  const { cluster, create, requests } = watched;
  const watching = watched.watch({ overrides });
  await watching.saw('LISTED');
  const listed = requests.length;
  const fault = cluster.faults.add({ match: { ...ofWatchers, watch: true }, stream: { garbage: '}{' } });
  cluster.faults.resetStreams();
  for (const name of ['a', 'b', 'c']) await create(name);
  await attempts(fault, 4);
  fault.remove();
  const names = () => watching.sinceListed().flatMap((line) => /^(?:-|ADDED) (.+)/.exec(line)?.[1] ?? []);
  await until(
    () => names().includes('c'),
    () => `Not all is seen: ${JSON.stringify(watching.seen)}.`,
  );
  await create('after');
  await watching.saw('ADDED after');
  expect([...new Set(names())]).toEqual(['a', 'b', 'c', 'after']);
  expect(watching.seen.filter((line) => line.startsWith('DELETED'))).toEqual([]);
  // If it cannot be streamed because of the garbage, it is asked for once more, in pages.
  const lists = requests.slice(listed).filter(({ isList }) => isList);
  expect(lists.filter(({ isWatch }) => isWatch).length).toBeLessThanOrEqual(1);
  expect(lists.filter(({ isWatch }) => !isWatch).length).toBeLessThanOrEqual(2);
});

it('garbage in the middle of a stream loses nothing, and needs no list', async () => {
  const { cluster, create, requests } = watched;
  const watching = watched.watch({ overrides });
  await watching.saw('LISTED');
  const listed = requests.length;
  for (const name of ['a', 'b', 'c']) {
    const before = requests.length;
    expect(cluster.faults.garbleStreams()).toBe(1);
    await until(
      () => requests.length > before,
      () => 'The garbage is not noticed.',
    );
    await create(name);
    await watching.saw(`ADDED ${name}`);
  }
  expect(watching.seen).toEqual(['LISTED', 'ADDED a', 'ADDED b', 'ADDED c']);
  expect(requests.slice(listed).filter(({ isList }) => isList)).toEqual([]);
});

it('refused connections are outlived, and need no list', async () => {
  const { cluster, create, requests } = watched;
  const watching = watched.watch({ overrides });
  await watching.saw('LISTED');
  const listed = requests.length;
  const refusal = cluster.faults.refuseConnections();
  cluster.faults.cutConnections();
  await create('meanwhile');
  const failures = () => watching.logger.messages('debug').filter((line) => line.includes('is down'));
  await until(
    () => failures().length >= 4,
    () => 'There were too few attempts.',
  );
  refusal.remove();
  await watching.saw('ADDED meanwhile');
  expect(requests.slice(listed).filter(({ isList }) => isList)).toEqual([]);
  isToldOnce(watching);
});

it('a restart of the server that keeps its data is outlived, and needs no list', async () => {
  const { cluster, create, requests } = watched;
  const watching = watched.watch({ overrides });
  await watching.saw('LISTED');
  await create('before');
  await watching.saw('ADDED before');
  const listed = requests.length;
  const restarting = cluster.faults.restart({ downFor: 0.3 });
  await create('meanwhile');
  await restarting;
  await watching.saw('ADDED meanwhile');
  await create('after');
  await watching.saw('ADDED after');
  expect(watching.seen).toEqual(['LISTED', 'ADDED before', 'ADDED meanwhile', 'ADDED after']);
  expect(requests.slice(listed).filter(({ isList }) => isList)).toEqual([]);
});

it('Retry-After is obeyed, and then the stream goes on from its version', async () => {
  const { cluster, create, requests } = watched;
  const watching = watched.watch({ overrides });
  await watching.saw('LISTED');
  const busy = cluster.faults.add({ match: ofWatchers, answer: { status: 429, retryAfter: 1 }, times: 2 });
  const before = requests.length;
  const startedAt = performance.now();
  cluster.faults.resetStreams();
  await create('meanwhile');
  await watching.saw('ADDED meanwhile');
  const seconds = (performance.now() - startedAt) / 1000;
  expect(busy.hits).toBe(2);
  expect(seconds).toBeGreaterThanOrEqual(2);
  expect(requests).toHaveLength(before + 3);
  expect(requests.slice(before).filter(({ isList }) => isList)).toEqual([]);
});

it('a kind that is gone, and comes back, is watched again, each time', async () => {
  const { define, undefine, create } = watched;
  const watching = watched.watch({ overrides });
  await watching.saw('LISTED');
  const names = ['a', 'b', 'c'];
  const isSeen = (name: string) => () => watching.seen.some((line) => line.endsWith(` ${name}`));
  for (const name of names) {
    await create(name);
    await until(isSeen(name), () => 'The kind is not watched.');
    await undefine();
    await watching.saw(`DELETED ${name}`);
    await until(
      () => watching.phases.at(-1)?.phase === 'down',
      () => 'It is not known that the kind is gone.',
    );
    await define();
  }
  await create('last');
  await until(isSeen('last'), () => 'The kind is not watched.');
  const told = (name: string) => watching.seen.filter((line) => line.endsWith(` ${name}`)).length;
  expect(names.map(told)).toEqual([2, 2, 2]);
  expect(told('last')).toBe(1);
});
