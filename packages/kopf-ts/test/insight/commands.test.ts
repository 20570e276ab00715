import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordingLogger } from '@kopf-ts/testing';
import { TemporaryError } from 'kopf-ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { explainForCli, pauseForCli, resumeForCli, retryForCli } from '../../src/cli/objects-command.js';
import { type Asked, asked, KIND } from './asked.js';

async function freeAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

/** An operator with tokens, and a person with a kubeconfig. */
async function place() {
  const folder = mkdtempSync(join(tmpdir(), 'kopf-ts-commands-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const tokenFile = join(folder, 'tokens');
  writeFileSync(tokenFile, 'doer write\nlooker read\n');
  const admin = await freeAddress();
  const calls: string[] = [];
  const own: Asked = await asked(
    ({ on }) =>
      void on.create(KIND, { id: 'fn' }, () => {
        calls.push('fn');
        throw new TemporaryError('not yet', { delay: 600 });
      }),
    { admin: { endpoint: admin, tokenFile } },
  );
  await own.runner.ready;
  await own.create('one');
  const parts = {
    client: own.cluster.client,
    clock: own.cluster.clock,
    logger: recordingLogger(),
    namespace: 'default' as string | undefined,
  };
  const object = { kind: 'KopfExample', name: 'one' };
  return { own, calls, admin, tokenFile, folder, parts, object };
}

describe('On the command line,', () => {
  it('it is told why by the object alone, in the namespace of the kubeconfig', async () => {
    const { parts, object } = await place();
    const { title, findings, operator } = await explainForCli(object, parts);
    expect([title, operator]).toEqual(['KopfExample default/one', undefined]);
    expect(findings.map(({ reason }) => reason)).toEqual(['retrying']);
    expect((await explainForCli({ ...object, name: 'two' }, parts)).findings[0]?.reason).toBe('missing');
    await expect(explainForCli({ ...object, kind: 'nothings' }, parts)).rejects.toThrow('There is no kind "nothings"');
  });

  it('it is told why by the operator, with the token from a file or from a Secret', async () => {
    const { parts, object, admin, tokenFile, own } = await place();
    const told = await explainForCli({ ...object, admin, tokenFile }, parts);
    expect(told.operator).toBeDefined();
    expect(told.timeline.length).toBeGreaterThan(1);
    const token = Buffer.from('looker read').toString('base64');
    const metadata = { name: 'admin-token', namespace: 'default' };
    await own.cluster.create({ apiVersion: 'v1', kind: 'Secret', metadata, data: { token } });
    const way = { ...object, admin, tokenSecret: 'default/admin-token' };
    expect((await explainForCli(way, parts)).findings[0]?.reason).toBe('retrying');
    await expect(retryForCli(way, parts)).rejects.toThrow('refuses (403): the token is for reading only.');
    await expect(explainForCli({ ...object, admin }, parts)).rejects.toThrow('refuses (401): a token is needed.');
  });

  it('objects are retried by the operator, and paused and resumed by anybody who may patch them', async () => {
    const { parts, object, admin, tokenFile, own, calls } = await place();
    expect(await retryForCli({ ...object, admin, tokenFile }, parts)).toBe(true);
    await own.settled();
    expect(calls).toEqual(['fn', 'fn']);
    const until = await pauseForCli({ ...object, seconds: 60 }, parts);
    expect(until).toEqual(new Date(own.cluster.clock.utc().getTime() + 60_000));
    await own.settled();
    expect((await explainForCli(object, parts)).findings[0]?.reason).toBe('paused');
    expect(await resumeForCli(object, parts)).toBe(true);
    expect(await resumeForCli(object, parts)).toBe(false);
    const events = own.cluster.list('events') as { reason: string; message: string }[];
    const [paused] = events.filter(({ reason }) => reason === 'Paused');
    expect(paused?.message).toMatch(/^Handlers are paused until 2020-01-01T00:01:00Z by .+@.+\.$/);
  });
});
