/**
 * How long it takes from a command to a working operator, on the embedded server: until the first handler is called
 * for an object that is already there. As a ratio to a process of Node with nothing in it, since machines differ.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localCluster } from '@kopf-ts/apiserver';
import { median } from './figures.js';
import { root } from './programs.js';

const ROUNDS = 7;
const GOAL_OF_RESTARTS_MS = 1000;

const program = join(root, 'packages/kopf-ts/dist/bin.js');

const CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'foos.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Foo', plural: 'foos', singular: 'foo' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
const OBJECT = { apiVersion: 'example.com/v1', kind: 'Foo', metadata: { name: 'one', namespace: 'default' } };

const handlers = (word: string): string =>
  `import * as kopf from 'kopf-ts';\nkopf.on.event('foos', () => { console.log('${word}'); });\n`;

export default async function run(): Promise<void> {
  build();
  const folder = mkdtempSync(join(tmpdir(), 'kopf-ts-cold-start-'));
  await using cluster = await localCluster({ tls: true });
  try {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(join(root, 'packages/kopf-ts'), join(folder, 'node_modules/kopf-ts'));
    for (const name of ['handlers.ts', 'handlers.mjs']) writeFileSync(join(folder, name), handlers('ready'));
    writeFileSync(join(folder, 'obj.yaml'), `${JSON.stringify(CRD)}\n---\n${JSON.stringify(OBJECT)}\n`);
    await cluster.apply([CRD, OBJECT]);
    const env = { ...process.env, KUBECONFIG: await cluster.kubeconfigFile() };
    const operator = (file: string) => untilSaid([program, 'run', file, '-A'], folder, env, 'ready');

    const node: number[] = [];
    const measured = new Map<string, number[]>([
      ['kopf --version', []],
      ['kopf run handlers.mjs', []],
      ['kopf run handlers.ts', []],
    ]);
    for (let round = 0; round < ROUNDS; round++) {
      node.push(await untilEnded(['-e', '0'], folder, env));
      measured.get('kopf --version')?.push(await untilEnded([program, '--version'], folder, env));
      measured.get('kopf run handlers.mjs')?.push(await operator('handlers.mjs'));
      measured.get('kopf run handlers.ts')?.push(await operator('handlers.ts'));
    }
    console.log(`node -e 0: ${median(node).toFixed(0)} ms`);
    for (const [title, times] of measured) {
      const ratio = median(times) / median(node);
      const what = title.includes('run') ? ' until the first handler is called' : '';
      console.log(`${title}: ${median(times).toFixed(0)} ms${what} = ${ratio.toFixed(1)}× of that`);
    }
    const restarts = await restartTimes(folder, env);
    const verdict = median(restarts) <= GOAL_OF_RESTARTS_MS ? 'ok' : `worse than the goal of ${GOAL_OF_RESTARTS_MS} ms`;
    console.log(`kopf dev, from a change to the first handler called: ${median(restarts).toFixed(0)} ms (${verdict})`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As users get it. */
function build(): void {
  const script = `import { build } from './scripts/tools.mjs';
    const { code, output } = await build({ quiet: true });
    if (code !== 0) console.error(output);
    process.exit(code);`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: root });
}

async function untilEnded(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, args, { cwd, env, stdio: 'ignore' });
  await new Promise((resolve) => child.once('close', resolve));
  return performance.now() - started;
}

async function untilSaid(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv, word: string): Promise<number> {
  const started = performance.now();
  const talking = talk(args, cwd, env);
  await talking.says(word);
  const elapsed = performance.now() - started;
  await talking.end();
  return elapsed;
}

async function restartTimes(cwd: string, env: NodeJS.ProcessEnv): Promise<readonly number[]> {
  const talking = talk([program, 'dev', 'handlers.ts'], cwd, env);
  await talking.says('ready');
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const started = performance.now();
    writeFileSync(join(cwd, 'handlers.ts'), handlers(`again-${round}`));
    await talking.says(`again-${round}`);
    times.push(performance.now() - started);
  }
  await talking.end();
  return times;
}

function talk(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = new Promise((resolve) => child.once('close', resolve));
  let output = '';
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  return {
    async says(word: string): Promise<void> {
      await new Promise<void>((resolve, reject) => {
        const look = (): void => {
          if (output.split('\n').includes(word)) resolve();
        };
        child.stdout.on('data', look);
        child.once('close', () => reject(new Error(`${args.join(' ')} has ended:\n${log}`)));
        look();
      });
    },
    async end(): Promise<void> {
      child.kill('SIGTERM');
      await closed;
    },
  };
}
