import { createServer } from 'node:net';
import { insight, settings, TemporaryError } from 'kopf-ts';
import { describe, expect, it } from 'vitest';
import { asked, KIND } from './asked.js';

async function freeAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

const object = { resource: `${KIND}.kopf.dev`, namespace: 'default', name: 'one' };
const standalone = { peering: { standalone: true } };

describe('An operator with an admin endpoint', () => {
  it('can be asked why, and told to retry, to pause and to resume', async () => {
    const url = await freeAddress();
    const calls: string[] = [];
    const place = await asked(
      ({ on }) =>
        void on.create(KIND, { id: 'fn' }, () => {
          calls.push('fn');
          throw new TemporaryError('not yet', { delay: 600 });
        }),
      { admin: url },
    );
    await place.runner.ready;
    await place.create('one');
    const why = insight.explain({ object, ...(await insight.askWhy({ url }, object)) });
    expect(why.findings[0]).toMatchObject({ reason: 'retrying', handler: 'fn' });
    const act = (action: 'pause' | 'resume' | 'retry') => insight.askAction({ url }, { action, ...object, by: 'me' });
    expect(await act('retry')).toEqual({ isChanged: true });
    await place.settled();
    expect(calls).toEqual(['fn', 'fn']);
    await act('pause');
    await place.settled();
    expect(await place.texts('paused')).toHaveLength(1);
    // There is nothing to hurry up in a pause.
    expect(await act('retry')).toEqual({ isChanged: false });
    await place.settled();
    expect(calls).toEqual(['fn', 'fn']);
    expect(await act('resume')).toEqual({ isChanged: true });
    await place.settled();
    expect(await place.texts('paused')).toEqual([]);
    const events = place.cluster.list('events') as { reason: string; message: string }[];
    const reasons = events.map(({ reason }) => reason).filter((reason) => reason !== 'Logging');
    expect(reasons.toSorted()).toEqual(['Paused', 'Resumed', 'Retried']);
  });

  it('can be set so by a startup handler; and keeps no journal if it is not', async () => {
    const url = await freeAddress();
    const { runner, create } = await asked(({ on }) => {
      on.startup(({ settings: own }) => {
        own.insight.admin = url;
      });
      on.create(KIND, { id: 'fn' }, () => {});
    });
    await runner.ready;
    await create('one');
    expect((await insight.askWhy({ url }, object)).journal?.entries.length).toBeGreaterThan(1);
    await runner.stop();
    await expect(insight.askWhy({ url }, object)).rejects.toThrow('No response from the operator');
  });

  it('refuses to listen for everybody without tokens', async () => {
    const own = settings({ ...standalone, insight: { admin: 'http://0.0.0.0:8083' } });
    await expect(asked(() => {}, { settings: own })).rejects.toThrow('could be asked by everybody around');
  });

  it('refuses requests that are too large, or in the wrong way', async () => {
    const url = await freeAddress();
    const { runner } = await asked(({ on }) => void on.create(KIND, { id: 'fn' }, () => {}), { admin: url });
    await runner.ready;
    const headers = { 'content-type': 'application/json' };
    const large = await fetch(`${url}/api/actions`, { method: 'POST', headers, body: `"${'x'.repeat(70_000)}"` });
    expect(large.status).toBe(413);
    expect((await fetch(`${url}/api/actions`)).status).toBe(405);
    expect((await fetch(`${url}/api/why`)).status).toBe(400);
    expect((await fetch(`${url}/api/objects?resource=a/b/c/d`)).status).toBe(400);
    const foreign = await fetch(`${url}/api/objects`, { headers: { origin: 'http://evil.example' } });
    expect(foreign.status).toBe(403);
  });
});
