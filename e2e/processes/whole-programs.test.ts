import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { becomesTrue } from '../support/waiting.js';

let folder: string;
let program: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kopf-ts-program-'));
  program = join(folder, 'program.mjs');
  const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
  await build({
    entryPoints: [path('programs/flawed-program.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
    conditions: ['@kopf-ts/source'],
    alias: { 'kopf-ts': path('../../packages/kopf-ts/src/index.ts') },
    // Some of the dependencies are not modules yet.
    banner: {
      js: "import { createRequire as __bundleRequire } from 'node:module'; const require = __bundleRequire(import.meta.url);",
    },
  });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function start(...args: readonly string[]) {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const ended = new Promise<number | string | null>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal)),
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    ended,
    get isEnded() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    get log() {
      return log;
    },
    send: (signal: NodeJS.Signals) => void child.kill(signal),
    async says(text: string) {
      expect(await becomesTrue(() => log.includes(text)), `"${text}" in:\n${log}`).toBe(true);
    },
  };
}

describe('a process with an operator', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('ends with 0 on %s, after the cleanup', async (signal) => {
    const operator = start();
    await operator.says('It begins.');
    operator.send(signal);
    expect(await operator.ended, operator.log).toBe(0);
    expect(operator.log).toMatch(
      new RegExp(
        `^\\[[-\\d]+ [:,\\d]+\\] kopf {16} \\[INFO {4}\\] Signal ${signal} is received. Operator is stopping.$`,
        'm',
      ),
    );
    expect(operator.log).toContain('It ends.');
  });

  it('lives on when there is nothing to do', async () => {
    const operator = start();
    await operator.says('It begins.');
    expect(await becomesTrue(() => operator.isEnded, 2000), operator.log).toBe(false);
    operator.send('SIGTERM');
    expect(await operator.ended, operator.log).toBe(0);
  });

  it('ends at once on the second signal, with its code', async () => {
    const operator = start('never-ends');
    await operator.says('It begins.');
    operator.send('SIGTERM');
    await operator.says('It ends.');
    operator.send('SIGINT');
    expect(await operator.ended, operator.log).toBe(130);
    expect(operator.log).toContain('Signal SIGINT is received again.');
  });

  it('ends even if something else would hold it', async () => {
    const operator = start('holds-the-process');
    await operator.says('It begins.');
    operator.send('SIGTERM');
    expect(await operator.ended, operator.log).toBe(0);
  });

  it('ends with 1 if the startup has failed, and says why', async () => {
    const operator = start('fails-to-start');
    expect(await operator.ended, operator.log).toBe(1);
    // Lines after the first one are indented: nobody can take them for messages of their own.
    expect(operator.log).toContain('    Error: This is never going to work.\n        at ');
    expect(operator.log).not.toContain('It ends.');
  });
});
