import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { kubeClient, loginWithKubeconfig } from '@kopf-ts/client';
import type { AnyObject, ConnectionInfo, KubeClient } from '@kopf-ts/core';
import { recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { realClock } from '../support/client.js';
import { eventually } from '../support/operators/operators.js';
import type { RunningProgram } from '../support/operators/programs.js';
import { built, CRD, foo, project } from './projects.js';

built();

const handlers = (version: string): string => `import * as kopf from 'kopf-ts';
import { title } from './helper.js';

kopf.on.startup(({ logger }) => { logger.info('begin ${version} ' + process.pid); });
kopf.on.event('foos', ({ spec, logger, type }) => { logger.info(\`\${title} ${version}: \${type} \${spec.field}\`); });
kopf.on.create('foos', function created({ logger }) { logger.info('created by ${version}'); });
kopf.on.update('foos', function updated({ logger }) { logger.info('updated by ${version}'); });
`;
const HELPER = 'export const title: string = "seen by";\n';
const FILES = { 'handlers.ts': handlers('v1'), 'helper.ts': HELPER, 'crd.yaml': CRD, 'obj.yaml': foo('one', 'first') };

/** What an operator needs, and what it does with its kind. */
const rbac = (verbs: string): string => `
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: robot}
rules:
  - {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [list, watch]}
  - {apiGroups: [""], resources: [namespaces], verbs: [list, watch]}
  - {apiGroups: [""], resources: [events], verbs: [create]}
  - {apiGroups: [example.com], resources: [foos], verbs: [${verbs}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: robot}
subjects: [{kind: ServiceAccount, name: robot, namespace: default}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: robot}
`;
const PATH = '/apis/example.com/v1/namespaces/default/foos';

/** The kubeconfig that is printed, and a client with it. */
async function connected(dev: RunningProgram): Promise<{ client: KubeClient; kubeconfig: string }> {
  await dev.says('  export KUBECONFIG=');
  const kubeconfig = /export KUBECONFIG=(.*)/.exec(dev.said.join('\n'))?.[1] ?? '';
  const connection = (await loginWithKubeconfig({ path: kubeconfig })) as ConnectionInfo;
  const client = kubeClient({ connection, clock: realClock, logger: recordingLogger() });
  onTestFinished(() => client.close());
  return { client, kubeconfig };
}

async function change(client: KubeClient, field: string): Promise<AnyObject> {
  const contentType = 'application/merge-patch+json';
  return await client.request({ method: 'PATCH', path: `${PATH}/one`, body: { spec: { field } }, contentType });
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

function pidOf(dev: RunningProgram, version: string): number {
  return Number(new RegExp(`begin ${version} (\\d+)`).exec(dev.log)?.[1]);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('kopf dev', () => {
  it('starts a cluster and an operator, applies what is beside the handlers, and ends by Ctrl-C', async () => {
    const { kopf } = await project(FILES);
    const dev = kopf(['dev', 'handlers.ts']);
    const { client, kubeconfig } = await connected(dev);
    await dev.says('Applied to it: crd.yaml, obj.yaml.');
    await dev.says('  kubectl get foos --all-namespaces');
    await dev.logs('[default/one] created by v1');
    await change(client, 'second');
    await dev.logs('[default/one] updated by v1');
    const pid = pidOf(dev, 'v1');
    expect(isRunning(pid)).toBe(true);
    dev.kill('SIGINT');
    expect(await dev.ended).toBe(0);
    expect(isRunning(pid)).toBe(false);
    expect(existsSync(kubeconfig)).toBe(false);
  });

  it('has a console, which stays where it is when the operator restarts; or has none', async () => {
    const { kopf, write } = await project(FILES);
    const dev = kopf(['dev', 'handlers.ts']);
    await dev.says('See in a browser what the operator does: http://127.0.0.1:');
    const url = /what the operator does: (http:\S+)/.exec(dev.said.join('\n'))?.[1] ?? '';
    await dev.logs('[default/one] created by v1');
    const known = async (): Promise<string> => await (await fetch(`${url}/api/objects`)).text();
    expect(await (await fetch(url)).text()).toContain('<title>kopf console</title>');
    expect(await known()).toContain('"foos.example.com"');
    await write('handlers.ts', handlers('v2'));
    await dev.logs('begin v2');
    await eventually(async () => expect(await known()).toContain('"foos.example.com"'));
    dev.kill('SIGINT');
    expect(await dev.ended).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
    const without = kopf(['dev', 'handlers.ts', '--no-console']);
    await without.logs('[default/one] created by v2');
    expect(without.said.join('\n')).not.toContain('in a browser');
  });

  it('restarts the operator when its files change, one after another, and the cluster keeps its objects', async () => {
    const { kopf, write } = await project(FILES);
    const dev = kopf(['dev', 'handlers.ts']);
    const { client } = await connected(dev);
    await dev.logs("Handler 'created' succeeded.");
    const before = await change(client, 'second');
    await dev.logs('updated by v1');

    await write('handlers.ts', handlers('v2'));
    await dev.logs('seen by v2: null second');
    expect(isRunning(pidOf(dev, 'v1'))).toBe(false);
    const after = await change(client, 'third');
    await dev.logs('updated by v2');
    expect(after.metadata?.uid).toBe(before.metadata?.uid);

    await write('helper.ts', HELPER.replace('seen by', 'noticed by'));
    await dev.logs('noticed by v2: null third');

    // Each change was handled once, and nothing was handled again.
    expect(dev.log).not.toContain('created by v2');
    expect(count(dev.log, 'updated by v1')).toBe(1);
    expect(count(dev.log, 'updated by v2')).toBe(1);
    expect(dev.log).not.toContain('seen by v1: MODIFIED third');
    expect(dev.log).not.toContain('The operator has ended');
  });

  it('waits for broken files to be fixed, while the operator goes on', async () => {
    const { kopf, write } = await project(FILES);
    const dev = kopf(['dev', 'handlers.ts']);
    const { client } = await connected(dev);
    await dev.logs("Handler 'created' succeeded.");
    await write('helper.ts', 'const one two;\n');
    await dev.logs('Error: helper.ts:1:11: Expected ";" but found "two".\n    1 | const one two;\n');
    await change(client, 'second');
    await dev.logs('updated by v1');
    await write('handlers.ts', handlers('v2'));
    await write('helper.ts', `${HELPER}export * from './new.js';\n`);
    await dev.logs('Error: helper.ts:2:15: Could not resolve "./new.js".');
    await write('new.ts', 'export const news = 1;\n');
    await dev.logs('seen by v2: null second');
    await change(client, 'third');
    await dev.logs('updated by v2');
  });

  it('starts the operator again after it has failed, when a file changes', async () => {
    const { kopf, write } = await project({ ...FILES, 'handlers.ts': `${handlers('v1')}throw new Error('Oh no.');\n` });
    const dev = kopf(['dev', 'handlers.ts']);
    await dev.logs('Error: handlers.ts:8: Error: Oh no.\n');
    await dev.logs('The operator has ended (1). It restarts when its files change.');
    await write('handlers.ts', handlers('v2'));
    await dev.logs('created by v2');
    dev.kill('SIGTERM');
    expect(await dev.ended).toBe(0);
  });

  it('applies what it is given, and again when that changes', async () => {
    const { kopf, write } = await project({
      'src/handlers.ts': handlers('v1'),
      'src/helper.ts': HELPER,
      'deploy/definition.yaml': CRD,
      'deploy/objects/some.json': JSON.stringify({
        apiVersion: 'example.com/v1',
        kind: 'Foo',
        metadata: { name: 'two' },
      }),
      'one.yaml': foo('one', 'first'),
    });
    const args = ['dev', 'src/handlers.ts', '--apply=one.yaml', '-a', 'deploy', '-n', 'default'];
    const dev = kopf(args);
    await dev.logs('[default/one] created by v1');
    await dev.logs('[default/two] created by v1');
    await write('one.yaml', foo('one', 'second'));
    await dev.logs('Applied: Foo default/one.');
    await dev.logs('[default/one] updated by v1');
    expect(count(dev.log, 'begin v1')).toBe(1);
  });

  it('gives its operator only the permissions of its account, if told so', async () => {
    const { kopf, write } = await project({ ...FILES, 'rbac.yaml': rbac('list, watch') });
    const dev = kopf(['dev', 'handlers.ts', '--as=default/robot']);
    await dev.says('The operator is system:serviceaccount:default:robot: it may do only what roles allow.');
    await dev.says('Applied to it: crd.yaml, obj.yaml, rbac.yaml.');
    await dev.logs(
      'User "system:serviceaccount:default:robot" cannot patch resource "foos" in API group "example.com"',
    );
    await write('rbac.yaml', rbac('list, watch, patch'));
    await dev.logs("Handler 'created' succeeded.");
  });

  it('warns of an account that is not there', async () => {
    const { kopf } = await project(FILES);
    const dev = kopf(['dev', 'handlers.ts', '--as=default/nobody']);
    await dev.logs('There is no service account default/nobody in the cluster.');
    await dev.logs('User "system:serviceaccount:default:nobody" cannot list');
  });

  it('is the only cluster of its operator, whatever the handlers would log in to', async () => {
    const login = `kopf.on.login(() => ({ server: 'https://production.example.com' }));\n`;
    const { kopf } = await project({ ...FILES, 'handlers.ts': handlers('v1') + login });
    const dev = kopf(['dev', 'handlers.ts'], { env: { KUBECONFIG: '/nowhere', KUBERNETES_SERVICE_HOST: '127.0.0.1' } });
    await dev.logs('created by v1');
  });

  it('does not leave its operator behind, if it is killed', async () => {
    const { kopf } = await project(FILES);
    const dev = kopf(['dev', 'handlers.ts']);
    await dev.logs('created by v1');
    const pid = pidOf(dev, 'v1');
    dev.kill('SIGKILL');
    await eventually(() => expect(isRunning(pid)).toBe(false));
  });
});

describe('kopf dev in the same folder', () => {
  it('has the same port and the same kubeconfig each time; and another one beside it has others', async () => {
    const { kopf } = await project(FILES);
    const first = kopf(['dev', 'handlers.ts']);
    const { kubeconfig } = await connected(first);
    const beside = kopf(['dev', 'handlers.ts']);
    expect((await connected(beside)).kubeconfig).not.toBe(kubeconfig);
    await beside.says('Port ');
    expect(beside.said.join('\n')).toMatch(/^Port 2\d{4}, which it usually has in this folder, is in use/m);
    expect(first.said.join('\n')).not.toContain('is in use');
    first.kill('SIGKILL');
    await first.ended;
    const second = await connected(kopf(['dev', 'handlers.ts']));
    expect(second.kubeconfig).toBe(kubeconfig);
    await second.client.request({ method: 'GET', path: PATH });
  });

  it('goes on with its data, if it keeps them: all that was answered before it was killed is there', async () => {
    const { kopf } = await project(FILES);
    const args = ['dev', 'handlers.ts', '--data=kept'];
    const first = kopf(args);
    const { client, kubeconfig } = await connected(first);
    await first.says('The cluster is at https://');
    expect(first.said.join('\n')).toContain('; its data are kept in kept.');
    await first.logs("Handler 'created' succeeded.");
    const one = await client.request<AnyObject>({ method: 'GET', path: `${PATH}/one` });

    const answered = new Map<string, string | undefined>();
    const path = '/api/v1/namespaces/default/configmaps';
    const flood = Array.from({ length: 8 }, async (_, lane) => {
      for (let number = 0; ; number++) {
        const name = `flood-${lane}-${number}`;
        const body = { metadata: { name }, data: { text: 'x'.repeat(number * 10) } };
        const made = await client.request<AnyObject>({ method: 'POST', path, body, retries: 'none' });
        answered.set(name, made.metadata?.resourceVersion);
        if (number % 3 !== 0) continue;
        await client.request({ method: 'DELETE', path: `${path}/${name}`, retries: 'none' });
        answered.set(name, 'deleted');
      }
    });
    const ended = Promise.allSettled(flood);
    await eventually(() => expect(answered.size).toBeGreaterThan(300));
    first.kill('SIGKILL');
    await first.ended;
    await ended;

    const second = kopf(args);
    expect((await connected(second)).kubeconfig).toBe(kubeconfig);
    await second.logs('seen by v1: null first');
    // By yesterday's client, with yesterday's certificates and tokens.
    const { items } = await client.request<{ items: readonly AnyObject[] }>({ method: 'GET', path });
    const kept = new Map(items.map(({ metadata }) => [metadata?.name, metadata?.resourceVersion]));
    const lost = [...answered].filter(
      ([name, version]) => kept.get(name) !== (version === 'deleted' ? undefined : version),
    );
    // Requests without an answer may have been done; so one of each lane may be further than it was told.
    for (const [name, version] of lost)
      expect([name, version, kept.has(name)]).toEqual([name, expect.any(String), false]);
    expect(lost.length).toBeLessThanOrEqual(8);
    expect(lost.every(([name]) => Number(name.split('-')[2]) % 3 === 0)).toBe(true);
    const again = await client.request<AnyObject>({ method: 'GET', path: `${PATH}/one` });
    expect(again.metadata?.uid).toBe(one.metadata?.uid);
    // What was handled is handled.
    expect(second.log).not.toContain('created by v1');

    const third = kopf(args);
    expect(await third.ended).toBe(1);
    expect(third.log).toMatch(
      /^Error: The data in .*kept are in use by process \d+\. Stop that one, or choose another folder\.\n$/,
    );
  });

  it('has colours if they are wanted', async () => {
    const { kopf } = await project(FILES);
    const dev = kopf(['dev', 'handlers.ts', '--as=default/nobody'], { env: { FORCE_COLOR: '1', NO_COLOR: '' } });
    await dev.logs('There is no service account default/nobody');
    expect(dev.log).toContain('\u001B[33m[');
    expect(dev.said.join('\n')).toContain('  \u001B[36mexport KUBECONFIG=');
    const plain = kopf(['dev', 'handlers.ts', '--as=default/nobody']);
    await plain.logs('There is no service account default/nobody');
    expect(plain.log + plain.said.join('\n')).not.toContain('\u001B');
  });
});

describe('kopf dev ends with 1 and says why', () => {
  it('if its port is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { kopf } = await project(FILES);
    const dev = kopf(['dev', 'handlers.ts', `--port=${port}`]);
    expect(await dev.ended).toBe(1);
    expect(dev.log).toBe(`Error: Port ${port} is in use. Choose another with --port, or omit it to use a free port.\n`);
  });

  it.each([
    [
      { 'obj.yaml': foo('one', 'first'), 'crd.yaml': '' },
      'Error: obj.yaml: Foo default/one cannot be applied: There is no kind',
    ],
    [{ 'obj.yaml': 'kind: [' }, 'Error: obj.yaml:1: '],
  ])('if the objects make no sense: %j', async (files, message) => {
    const { kopf } = await project({ ...FILES, ...files });
    const dev = kopf(['dev', 'handlers.ts']);
    expect(await dev.ended).toBe(1);
    expect(dev.log).toContain(message);
    expect(dev.log).not.toContain('    at ');
  });
});
