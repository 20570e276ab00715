import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let folder: string;
let program: string;

// What becomes of an error that nobody has caught, only a real process can show.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kopf-ts-stray-'));
  program = join(folder, 'program.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('./stray-program.ts', import.meta.url))],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@kopf-ts/source'],
  });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly lines: readonly object[];
  readonly stderr: string;
}

/** Runs the program to its own end: nothing but the operators can keep it alive. */
function run(scenario: string, ...flags: readonly string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...flags, program, scenario], { env: { PATH: process.env.PATH } });
    const output = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (text: string) => {
        output[stream] += text;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => {
      const lines = output.stdout.split('\n').filter(Boolean);
      resolve({ code, lines: lines.map((line) => JSON.parse(line)), stderr: output.stderr });
    });
  });
}

describe('in a real process', () => {
  it('each way to leave an error behind leads to the handler', async () => {
    const { code, lines, stderr } = await run('log');
    const errors = lines.flatMap((line) => ('error' in line ? [String(line.error).split('. ')[0]] : [])).sort();
    const of = (id: string): string => `Handler '${id}' of KopfExample default/obj1 has failed`;
    expect(errors).toEqual(
      [
        `${of('a floating call')} in a promise that nobody awaits: late`,
        `${of('a floating rejection')} in a promise that nobody awaits: now`,
        `${of('a rejection with a text')} in a promise that nobody awaits: text`,
        `${of('a promise rejected by a timer')} in a promise that nobody awaits: promised`,
        `${of('a timer')} in a timer or a callback: timer`,
        `${of('an immediate')} in a timer or a callback: immediate`,
        `${of('a tick')} in a timer or a callback: tick`,
      ].sort(),
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('the operator of the handler stops in order, the others go on, and nothing keeps the process', async () => {
    const { code, lines, stderr } = await run('exit');
    expect(lines).toEqual([
      { error: expect.stringContaining("Handler 'guilty' of KopfExample default/obj1 has failed in a promise") },
      { cleanup: true },
      { done: 'StrayError', cause: 'late' },
      { cleanup: true },
      { listeners: 0 },
    ]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  });

  it.each(['foreignRejection', 'foreignException'])('what is of no operator ends the process: %s', async (scenario) => {
    const { code, lines, stderr } = await run(scenario);
    expect({ code, lines }).toEqual({ code: 1, lines: [] });
    expect(stderr).toContain('Error: of nobody');
    expect(stderr).toContain(`Node.js ${process.version}`);
  });

  it.each([
    ['strict', { code: 1, cleanups: 0 }, /Error: of nobody/],
    ['warn', { code: 0, cleanups: 2 }, /of nobody/],
    ['warn-with-error-code', { code: 1, cleanups: 2 }, /of nobody/],
    ['none', { code: 0, cleanups: 2 }, /^$/],
  ])('what is of no operator is treated as Node is told to: %s', async (mode, expected, complaint) => {
    const { code, lines, stderr } = await run('foreignRejection', `--unhandled-rejections=${mode}`);
    expect({ code, cleanups: lines.length }).toEqual(expected);
    expect(stderr).toMatch(complaint);
  });

  it('what is of no operator is left to others who listen', async () => {
    const { code, lines } = await run('listenedByOthers');
    expect(lines).toContainEqual({ other: 'rejection of nobody' });
    expect(lines).toContainEqual({ other: 'exception of nobody' });
    expect(lines).toContainEqual({ error: expect.stringContaining("Handler 'ours' of KopfExample default/obj1") });
    expect(lines.at(-1)).toEqual({ cleanup: true });
    expect(code).toBe(0);
  });
});
