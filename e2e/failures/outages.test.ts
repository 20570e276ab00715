import type { FaultHandle, FaultMatch, FaultRule } from '@kopf-ts/apiserver';
import type { HttpKubeClient } from '@kopf-ts/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clientOf } from '../support/client.js';
import { newNamespace } from '../support/objects.js';
import { newTestKind, type TestKind } from '../support/operators/kinds.js';
import { eventually, startOperator } from '../support/operators/operators.js';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';
import { type FaultyCluster, newLine, newProbes, type Probes, pathOf, SHORT_TIMES } from './faulty-cluster.js';

/** Servers that do not answer at all are noticed sooner as well. */
const overrides = { ...SHORT_TIMES, networking: { ...SHORT_TIMES.networking, headersTimeout: 2 } };

describeOnRealCluster('an operator, while the server refuses to serve its kind', () => {
  let direct: HttpKubeClient;
  let things: TestKind;
  let namespace: string;
  let line: FaultyCluster;
  let probes: Probes;
  let ofThings: FaultMatch;
  /** Names of the objects, in the order of their creation handlers. */
  let created: string[];
  let logins: number;

  beforeAll(async () => {
    direct = clientOf(realCluster());
    things = await newTestKind(direct);
  });
  afterAll(() => direct?.close());
  beforeEach(async () => {
    line = await newLine(realCluster());
    probes = await newProbes();
    namespace = await newNamespace(direct);
    ofThings = { path: pathOf(things.plural) };
    [created, logins] = [[], 0];
  });

  const start = () =>
    startOperator(
      line,
      ({ on }) => {
        on.login({ id: 'counter' }, () => {
          logins += 1;
        });
        on.create(things.selector, function made({ name }) {
          created.push(name);
        });
      },
      { namespaces: [namespace], liveness: probes.liveness, overrides },
    );
  const create = (name: string) => things.create(namespace, name, { spec: { size: 1 } });
  const isHandled = (name: string, withinSeconds = 10) =>
    eventually(() => expect(created).toContain(name), withinSeconds);
  const isAllGreen = () =>
    eventually(async () => {
      expect(await probes.isReady()).toMatchObject({ isGreen: true });
      expect(await probes.isAlive()).toMatchObject({ isGreen: true });
    });
  /** Red soon: much sooner than the liveness could be. */
  const isUnready = async (...mentions: readonly (string | RegExp)[]) => {
    const { text } = await eventually(async () => {
      const probe = await probes.isReady();
      expect(probe).toMatchObject({ isGreen: false });
      return probe;
    });
    for (const mention of mentions) expect(text).toMatch(mention);
  };
  /** Begins the outage for the running streams too; the server would end them by itself some seconds later. */
  const begin = (outage: () => FaultHandle): FaultHandle => {
    const handle = outage();
    line.faults.resetStreams(ofThings);
    return handle;
  };

  it('tells so at once, is to be restarted only if it lasts, and goes on as soon as it can', async () => {
    const operator = await start();
    await create('before');
    await isHandled('before');
    await isAllGreen();

    const outage = begin(() => line.faults.add({ match: ofThings, answer: { status: 503 } }));
    await isUnready(
      `things.v1.${things.group} in namespace ${namespace}`,
      '"state":"down"',
      '"error":"the server is currently unable to handle the request"',
    );
    expect(await probes.isAlive()).toMatchObject({ isGreen: true });
    await create('meanwhile');
    await eventually(async () => {
      const earlier = await secondsOfDowntime(probes);
      const { isGreen, text } = await probes.isAlive();
      const later = await secondsOfDowntime(probes);
      // What is shown is rounded.
      if (isGreen) expect(earlier).toBeLessThanOrEqual(SHORT_TIMES.watching.unhealthyAfter + 0.1);
      else expect(later).toBeGreaterThanOrEqual(SHORT_TIMES.watching.unhealthyAfter - 0.1);
      expect(isGreen).toBe(false);
      expect(text).toMatch(/the stream for things[^"]* is down: the server is currently unable/);
    });
    // All retries of a request and more.
    await eventually(() => expect(outage.hits).toBeGreaterThan(5));

    outage.remove();
    await isHandled('meanwhile', 15);
    await create('after');
    await isHandled('after');
    await isAllGreen();
    expect(created).toEqual(['before', 'meanwhile', 'after']);
    expect(operator.logger.messages('warn').filter((text) => text.includes('is down'))).toHaveLength(1);
    expect(operator.logger.messages('info').filter((text) => text.includes('works again'))).toHaveLength(1);
  });

  const errorEvent = (code: number, reason: string) =>
    `${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', status: 'Failure', message: `${reason}.`, reason, code } })}\n`;

  describe('goes on after a while of', () => {
    it.each<[title: string, rule: Omit<FaultRule, 'match'>]>([
      ['HTTP 403', { answer: { status: 403 } }],
      ['HTTP 500', { answer: { status: 500 } }],
      ['HTTP 410', { answer: { status: 410 } }],
      ['garbage', { answer: { status: 200, body: '<html>This is not what you want.</html>' } }],
      ['errors 500 inside of streams', { answer: { status: 200, body: errorEvent(500, 'InternalError') } }],
      ['errors 410 inside of streams', { answer: { status: 200, body: errorEvent(410, 'Expired') } }],
      ['halves of lines', { answer: { status: 200, body: '{"type":"ADDED","object":{"metadata":{"na' } }],
      ['errors 504 inside of streams', { answer: { status: 200, body: errorEvent(504, 'Timeout') } }],
      ['broken connections', { reset: true }],
      ['silence instead of answers', { latency: 600 }],
    ])('%s', async (_title, rule) => {
      await start();
      await isAllGreen();
      const outage = begin(() => line.faults.add({ match: ofThings, ...rule }));
      await isUnready('"state":"down"', '"error":"');
      await eventually(() => expect(outage.hits).toBeGreaterThanOrEqual(3));
      await create('meanwhile');
      outage.remove();
      await isHandled('meanwhile');
      await create('after');
      await isHandled('after');
      await isAllGreen();
      expect(created).toEqual(['meanwhile', 'after']);
    });
  });

  describe('does not give up when its only token is refused for some time', () => {
    it.each<[where: string, match: () => FaultMatch]>([
      ['for its kind', () => ofThings],
      ['for everything', () => ({})],
    ])('%s', async (_where, match) => {
      const operator = await start();
      await create('before');
      await isHandled('before');
      await isAllGreen();

      const loginsBefore = logins;
      const outage = begin(() => line.faults.add({ match: match(), answer: { status: 401 } }));
      await isUnready(/credentials|401/i);
      await create('meanwhile');
      await eventually(() => expect(outage.hits).toBeGreaterThanOrEqual(3));
      await eventually(() => expect(logins).toBeGreaterThanOrEqual(loginsBefore + 2));
      expect(await probes.isReady()).toMatchObject({ isGreen: false });

      outage.remove();
      await isHandled('meanwhile', 20);
      await create('after');
      await isHandled('after');
      await isAllGreen();
      expect(created).toEqual(['before', 'meanwhile', 'after']);
      expect(operator.logger.messages('warn').filter((text) => text.includes('returned the same ones'))).toHaveLength(
        1,
      );
    });
  });
});

/** For how long the stream is down, as it is told. */
async function secondsOfDowntime(probes: Probes): Promise<number> {
  const { text } = await probes.isReady();
  const { streams } = JSON.parse(text) as { streams: { state: string; secondsInState: number }[] };
  return streams.find(({ state }) => state === 'down')?.secondsInState ?? Number.NaN;
}
