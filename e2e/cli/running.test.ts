import { once } from 'node:events';
import { chmod, readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePorts } from '../controlplane/ports.js';
import { eventually } from '../support/operators/operators.js';
import { built, clusterWithFoos, foo, project } from './projects.js';

built();

const HANDLERS = `import * as kopf from 'kopf-ts';
import { suffix } from './helper.js';

kopf.on.startup(function begin({ logger }) {
  logger.info('It begins.');
});

kopf.on.create('foos', function created({ spec, logger }): void {
  logger.info(\`created with \${spec.field}\${suffix}\`);
  if (spec.field === 'bad') throw new kopf.PermanentError('It is bad.');
  if (spec.field === 'broken') (null as unknown as { method(): void }).method();
});

kopf.on.cleanup(async function finish({ logger }) {
  logger.info('It ends.');
  if (process.env.NEVER_ENDS) await new Promise(() => {});
});
`;
const FILES = { 'handlers.ts': HANDLERS, 'helper.ts': 'export const suffix: string = "!";\n' };

describe('kopf run', () => {
  it('runs handlers in TypeScript, until SIGTERM', async () => {
    const { cluster, env } = await clusterWithFoos();
    const { kopf, folder } = await project(FILES);
    const operator = kopf(['run', 'handlers.ts', '-A'], { env });
    await operator.logs('It begins.');
    await cluster.apply(foo('one', 'value'));
    await operator.logs(/^\[[-\d]+ [:,\d]+\] kopf\.objects {9}\[INFO {4}\] \[default\/one\] created with value!$/m);
    await operator.logs("Handler 'created' succeeded.");
    operator.kill('SIGTERM');
    expect(await operator.ended).toBe(0);
    expect(operator.log).toContain('Signal SIGTERM is received. Operator is stopping.');
    expect(operator.log).toContain('It ends.');
    expect(operator.log).not.toContain('\u001B[');
    expect(await readdir(folder)).toEqual(['handlers.ts', 'helper.ts', 'node_modules']);
  });

  it('shows the lines of the sources in the stacks of errors', async () => {
    const { cluster, env } = await clusterWithFoos();
    const { kopf, folder } = await project(FILES);
    await cluster.apply(foo('one', 'broken'));
    const operator = kopf(['run', 'handlers.ts', '-A'], { env });
    await operator.logs(`created (${join(folder, 'handlers.ts')}:11:`);
  });

  it('tells where handlers are declared', async () => {
    const { env } = await clusterWithFoos();
    const declarations = `import * as kopf from 'kopf-ts';
kopf.timer('foos', function ticking() {});
kopf.daemon('foos', { retries: 0 }, function serving() {});
kopf.on.create('foos', { retries: 0 }, function creating() {});
`;
    const { kopf } = await project({ 'shop/handlers.ts': declarations });
    const operator = kopf(['run', 'shop/handlers.ts', '-A'], { env });
    await operator.logs("Timer 'ticking' (shop/handlers.ts:2) has no interval");
    await operator.logs("Daemon 'serving' (shop/handlers.ts:3) has retries: 0");
    await operator.logs("Handler 'creating' (shop/handlers.ts:4) has retries: 0");
  });

  it('ends at once on the second signal', async () => {
    const { env } = await clusterWithFoos();
    const { kopf } = await project(FILES);
    const operator = kopf(['run', 'handlers.ts', '-A'], { env: { ...env, NEVER_ENDS: '1' } });
    await operator.logs('It begins.');
    operator.kill('SIGINT');
    await operator.logs('It ends.');
    operator.kill('SIGINT');
    expect(await operator.ended).toBe(130);
  });

  it('goes to the cluster that is chosen, and of its replicas, the holder of the lease works', async () => {
    const { cluster, env } = await clusterWithFoos();
    const { kopf } = await project(FILES);
    const path = env['KUBECONFIG'] ?? '';
    const [, context = ''] = /current-context: "?([^"\n]+)"?/.exec(await readFile(path, 'utf8')) ?? [];
    const args = ['run', 'handlers.ts', '-A', `--kubeconfig=${path}`, `--context=${context}`, '--lease=foos-operator'];
    const elsewhere = { KUBECONFIG: '/nowhere/at/all', POD_NAMESPACE: 'default' };
    const first = kopf(args, { env: elsewhere });
    await cluster.apply(foo('one', 'value'));
    await first.logs('[default/one] created with value!');
    expect(cluster.get('leases/default/foos-operator')).toMatchObject({ spec: { leaseDurationSeconds: 15 } });

    const second = kopf(args, { env: elsewhere });
    await second.logs('It begins.');
    await cluster.apply(foo('two', 'value'));
    await first.logs('[default/two] created with value!');
    first.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    await cluster.apply(foo('three', 'value'));
    await second.logs('[default/three] created with value!');
    expect(second.log).not.toContain('[default/two] created');
  });

  it('counts its requests also to the cluster that is chosen', async () => {
    const { env } = await clusterWithFoos();
    const { kopf } = await project(FILES);
    const [port] = await freePorts(1);
    const metrics = `http://127.0.0.1:${port}/metrics`;
    const operator = kopf(['run', 'handlers.ts', '-A', `--kubeconfig=${env['KUBECONFIG']}`, `--metrics=${metrics}`]);
    await operator.logs('It begins.');
    await eventually(async () => {
      const text = await (await fetch(metrics)).text();
      expect(text).toMatch(/^kopf_api_requests_total{verb="get",resource="\/apis",code="200"} [1-9]/m);
    });
  });

  it('tells what to install for traces', async () => {
    const { env } = await clusterWithFoos();
    const { kopf } = await project(FILES);
    const operator = kopf(['run', 'handlers.ts', '-A', '--otel'], { env });
    expect(await operator.ended).toBe(1);
    expect(operator.log).toContain('npm install @opentelemetry/api');
    expect(operator.log).not.toContain('    at ');
  });

  it.each([
    ['--context=nowhere', 'There is no context "nowhere" in the kubeconfig'],
    ['--kubeconfig=/nowhere/at/all', '/nowhere/at/all'],
  ])('tells at once if there is no such thing: %s', async (option, message) => {
    const { env } = await clusterWithFoos();
    const { kopf } = await project(FILES);
    const operator = kopf(['run', 'handlers.ts', '-A', option], { env });
    expect(await operator.ended).toBe(1);
    expect(operator.log).toContain(message);
  });

  it('obeys the variables of the environment', async () => {
    const { cluster, env } = await clusterWithFoos();
    const { kopf } = await project(FILES);
    await cluster.apply(foo('one', 'value'));
    const variables = { KOPF_RUN_NAMESPACES: 'default', KOPF_RUN_LOG_FORMAT: 'plain', KOPF_RUN_STANDALONE: 'yes' };
    const operator = kopf(['run', 'handlers.ts'], { env: { ...env, ...variables } });
    await operator.logs(/^\[default\/one\] created with value!$/m);
  });

  it('logs in JSON line by line, and neither credentials nor secrets', async () => {
    const { cluster, env } = await clusterWithFoos();
    const { kopf } = await project({
      'handlers.ts': `import * as kopf from 'kopf-ts';
        kopf.on.update('secrets', function changed({ logger }) { logger.warn('The secret is changed.'); });`,
    });
    const operator = kopf(['run', 'handlers.ts', '-n', 'default', '--log-format=json', '--debug'], { env });
    const data = (text: string) => ({ password: Buffer.from(text).toString('base64') });
    const metadata = { name: 'one', namespace: 'default' };
    await cluster.create({ apiVersion: 'v1', kind: 'Secret', metadata, data: data('opensesame') });
    await operator.logs('"name": "one"');
    await cluster.patch('secrets/default/one', { data: data('shazam') });
    await operator.logs('The secret is changed.');
    operator.kill('SIGTERM');
    expect(await operator.ended).toBe(0);
    const lines = operator.log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toContainEqual(
      expect.objectContaining({
        message: 'The secret is changed.',
        severity: 'warn',
        object: expect.objectContaining({ kind: 'Secret', name: 'one', namespace: 'default' }),
      }),
    );
    expect(operator.log).not.toContain(cluster.token);
    for (const text of ['opensesame', 'shazam']) {
      expect(operator.log).not.toContain(text);
      expect(operator.log).not.toContain(data(text).password);
    }
  });

  it('runs plain JavaScript, twice if told so, and modules of packages', async () => {
    const { cluster, env } = await clusterWithFoos();
    const { kopf, folder } = await project({
      'one.mjs': `import * as kopf from 'kopf-ts';
        globalThis.count = (globalThis.count ?? 0) + 1;
        const id = 'js' + globalThis.count;
        console.log(import.meta.url);
        kopf.on.create('foos', { id }, ({ logger }) => { logger.info('called: ' + id); });`,
    });
    await cluster.apply(foo('one', 'value'));
    const plain = kopf(['run', 'one.mjs', 'one.mjs', '-A'], { env });
    await plain.logs('called: js1');
    await plain.logs('called: js2');
    expect(plain.said[0]).toBe(`file://${folder}/one.mjs`);
    plain.kill('SIGTERM');
    await plain.ended;
    await cluster.apply(foo('two', 'value'));
    const module = kopf(['run', '-m', './one.mjs', '-A'], { env });
    await module.logs('[default/two] called: js1');
  });

  it('works where nothing is installed, by its own copy', async () => {
    const { cluster, env } = await clusterWithFoos();
    const { kopf } = await project({ ...FILES, 'plain.mjs': `import 'kopf-ts';\n` }, { installed: false });
    await cluster.apply(foo('one', 'value'));
    const operator = kopf(['run', 'handlers.ts', '-A'], { env });
    await operator.logs('created with value!');
    const plain = kopf(['run', 'plain.mjs', '-A'], { env });
    expect(await plain.ended).toBe(1);
    expect(plain.log).toContain('There are no handlers in plain.mjs.');
  });

  it('works in folders that cannot be written to', async () => {
    const { cluster, env } = await clusterWithFoos();
    const { kopf, folder } = await project(FILES);
    const isRoot = process.getuid?.() === 0;
    await chmod(folder, 0o555);
    onTestFinished(() => chmod(folder, 0o755));
    if (isRoot) await chmod(env['KUBECONFIG'] as string, 0o644);
    if (isRoot) await chmod(join(env['KUBECONFIG'] as string, '..'), 0o755);
    await cluster.apply(foo('one', 'broken'));
    const operator = kopf(['run', 'handlers.ts', '-A'], { env, ...(isRoot ? { uid: 65534 } : {}) });
    await operator.logs(`created (${join(folder, 'handlers.ts')}:11:`);
  });
});

describe('kopf run ends with 1 and says why', () => {
  it('if JavaScript is broken', async () => {
    const { kopf } = await project({ 'handlers.js': `import 'kopf-ts';\nlet one two;\n` });
    const command = kopf(['run', 'handlers.js', '-A']);
    expect(await command.ended).toBe(1);
    expect(command.log).toBe(
      'Error: handlers.js:2:9: Expected ";" but found "two".\n    2 | let one two;\n      |         ^^^\n',
    );
  });

  it('if a file fails while it is loaded; the stack is for those who debug', async () => {
    const { kopf, folder } = await project({
      'handlers.ts': `import * as kopf from 'kopf-ts';\n\nkopf.on.create('a/b/c/d', () => {});\n`,
    });
    const command = kopf(['run', 'handlers.ts', '-A', '-v']);
    expect(await command.ended).toBe(1);
    expect(command.log).toMatch(/^Error: handlers\.ts:3: on\.create\('a\/b\/c\/d'\): Too many parts .*\n$/);
    const debugged = kopf(['run', 'handlers.ts', '-A', '-d']);
    expect(await debugged.ended).toBe(1);
    expect(debugged.log).toContain(`${join(folder, 'handlers.ts')}:3:`);
    expect(debugged.log).toContain('    at ');
  });

  it('if the port of the probes is in use', async () => {
    const { env } = await clusterWithFoos();
    const { kopf } = await project(FILES);
    const server = createServer().listen(0);
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const command = kopf(['run', 'handlers.ts', '-A', `--liveness=http://:${port}/healthz`], { env });
    expect(await command.ended).toBe(1);
    expect(command.log).toContain(`http://:${port}/healthz cannot be served: the port is in use`);
    expect(command.log).not.toContain('    at ');
  });

  it('if there is nothing to log in with', async () => {
    const { kopf, folder } = await project(FILES);
    const command = kopf(['run', 'handlers.ts', '-A'], { env: { HOME: folder } });
    expect(await command.ended).toBe(1);
    expect(command.log).toContain('There is nothing to log in to the cluster with.');
    expect(command.log).not.toContain('    at ');
  });

  it('if there is no cluster', async () => {
    const { cluster, env } = await clusterWithFoos();
    const { kopf } = await project(FILES);
    const kubeconfig = cluster.kubeconfig().replace(/server: .*/, 'server: https://127.0.0.1:9');
    const other = await project({ config: kubeconfig });
    const command = kopf(['run', 'handlers.ts', '-A'], { env: { ...env, KUBECONFIG: join(other.folder, 'config') } });
    expect(await command.ended).toBe(1);
    expect(command.log).toMatch(/ERROR.*No answer from the cluster for 30 seconds: .*127\.0\.0\.1:9.* KUBECONFIG/);
    expect(command.log).not.toContain('    at ');
  });
});
