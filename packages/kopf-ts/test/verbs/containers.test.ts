import { type LocalCluster, localCluster } from '@kopf-ts/apiserver';
import { kubeClient } from '@kopf-ts/client';
import { systemClock } from '@kopf-ts/reactor';
import { type ManualClock, manualClock, recordingLogger } from '@kopf-ts/testing';
import { type Api, api as apiOver, type KubeClient } from 'kopf-ts';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';

const pod = (name: string, annotations: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'default',
    annotations: { 'simulation.kopf-ts.dev/start-after': '0', ...annotations },
  },
  spec: { containers: [{ name: 'app', image: 'app' }] },
});

describe.each(['in the process', 'over HTTP'])('%s,', (way) => {
  let cluster: LocalCluster;
  let clock: ManualClock;
  let client: KubeClient;
  let api: Api;

  beforeEach(async () => {
    clock = manualClock();
    cluster = await localCluster({ clock, controllers: 'simulated', listen: way === 'over HTTP' });
    onTestFinished(() => cluster.stop());
    client = cluster.client;
    if (way === 'over HTTP') {
      const own = kubeClient({
        connection: { server: cluster.url, token: cluster.token },
        clock: systemClock,
        logger: recordingLogger(),
      });
      onTestFinished(() => own.close());
      client = own;
    }
    api = apiOver(client, { namespace: 'default' });
  });

  const running = async (name: string, annotations?: Record<string, string>): Promise<void> => {
    await cluster.create(pod(name, annotations));
    await cluster.settled();
    await clock.advance(1);
    await cluster.settled();
    expect((await api('pods').get(name))['status']).toMatchObject({ phase: 'Running' });
  };

  it('logs are texts when awaited, and lines in loops', async () => {
    await running('web', { 'simulation.kopf-ts.dev/log': 'one\n\nthree\n' });
    expect(await api('pods').log('web')).toBe('one\n\nthree\n');
    const lines: string[] = [];
    for await (const line of api('pods').log('web', { tailLines: 2 })) lines.push(line);
    expect(lines).toEqual(['', 'three']);
    expect(await api('pods').log('web', { timestamps: true, tailLines: 1 })).toMatch(/^\d{4}-[\d-]+T[\d:.]+Z three\n$/);
  });

  it('logs are followed until the containers end', async () => {
    await running('web', { 'simulation.kopf-ts.dev/log': 'one' });
    const lines: string[] = [];
    for await (const line of api('pods').log('web', { follow: true })) {
      lines.push(line);
      if (line === 'one') cluster.simulation.print('default/web', 'two\nthree');
      if (line === 'three') await api('pods').delete('web', { gracePeriodSeconds: 0 });
    }
    expect(lines).toEqual(['one', 'two', 'three']);
  });

  it('commands have an output, an input and an exit code', async () => {
    await running('db');
    cluster.simulation.behave(
      { name: 'db' },
      {
        exec: ({ command, stdin, container }) =>
          command[0] === 'cat' ? { stdout: stdin, stderr: `${container}: grün`, exitCode: 3 } : undefined,
      },
    );
    const big = 'müßig '.repeat(20_000);
    const pieces: string[] = [];
    const onStdout = (text: string) => void pieces.push(text);
    const result = await api('pods').exec('db', ['cat', '-'], { stdin: big, onStdout });
    expect(result).toEqual({ stdout: big, stderr: 'app: grün', exitCode: 3 });
    expect(pieces.join('')).toBe(big);
    await expect(api('pods').exec('db', ['rm'])).rejects.toThrow(
      /^exec pods\.v1 default\/db: .*for the command "rm", say what it answers by the annotation/,
    );
  });

  it('commands are answered by annotations', async () => {
    const answers = { 'pg_isready -q': { exitCode: 2 }, pg_isready: { stdout: 'accepting\n' } };
    await running('db', { 'simulation.kopf-ts.dev/exec': JSON.stringify(answers) });
    expect(await api('pods').exec('db', ['pg_isready', '-q'])).toEqual({ stdout: '', stderr: '', exitCode: 2 });
    expect(await api('pods').exec('db', ['pg_isready', '-h', 'x'])).toMatchObject({
      stdout: 'accepting\n',
      exitCode: 0,
    });
  });

  it('what is not there or vanishes is an error that says what was asked for', async () => {
    await expect(api('pods').log('none')).rejects.toThrow('log pods.v1 default/none: pods "none" not found');
    await expect(api('pods').exec('none', ['date'])).rejects.toThrow(
      'exec pods.v1 default/none: pods "none" not found',
    );
    await running('db');
    let isCalled: () => void = () => {};
    const called = new Promise<void>((resolve) => {
      isCalled = resolve;
    });
    const exec = () => {
      isCalled();
      return new Promise<undefined>(() => {});
    };
    cluster.simulation.behave({ name: 'db' }, { exec, stopAfter: 0 });
    const executing = api('pods').exec('db', ['sleep', 'infinity']);
    executing.catch(() => {});
    await called;
    await api('pods').delete('db', { gracePeriodSeconds: 0 });
    await expect(executing).rejects.toThrow('exec pods.v1 default/db: container not found ("app")');
    await running('web');
    await expect(api('pods').log('web', { container: 'nope' })).rejects.toThrow('container nope is not valid');
    await expect(api('pods').log('web', { previous: true })).rejects.toThrow('previous terminated container');
  });

  it('what cannot be right is refused before it is sent; and signals end all of it', async () => {
    await running('db');
    await expect(api('pods').exec('db', [])).rejects.toThrow('at least one');
    await expect(api('pods').log('db', { tailLines: -1 })).rejects.toThrow("'tailLines'");
    const control = new AbortController();
    const exec = () => {
      control.abort(new Error('enough'));
      return new Promise<undefined>(() => {});
    };
    cluster.simulation.behave({ name: 'db' }, { exec, log: 'one' });
    await expect(api('pods').exec('db', ['sleep'], { signal: control.signal })).rejects.toThrow('enough');
    const leaving = new AbortController();
    const following = (async () => {
      const log = api('pods').log('db', { follow: true, signal: leaving.signal });
      for await (const line of log) if (line === 'one') leaving.abort(new Error('enough'));
    })();
    await expect(following).rejects.toThrow('enough');
  });
});

it('A client without these methods says which one is missing.', async () => {
  await using cluster = await localCluster({ listen: false });
  const { request, stream } = cluster.client;
  const api = apiOver({ request, stream }, { namespace: 'default' });
  await expect(api('pods').log('web')).rejects.toThrow('has no method text()');
  await expect(api('pods').exec('web', ['date'])).rejects.toThrow('has no method connect()');
});
