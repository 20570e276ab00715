import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleLogger } from '../../src/logging/default-logger.js';

describe('a stream that fails', () => {
  it.each(['EPIPE', 'EBADF', 'ENOSPC'])('with %s loses the lines, and nothing else', async (code) => {
    const stream = new Writable({
      autoDestroy: false,
      write: (_chunk, _encoding, done) => done(Object.assign(new Error(`write ${code}`), { code })),
    });
    const logger = consoleLogger({ stream });
    const seen: unknown[] = [];
    for (let line = 0; line < 20; line++) {
      logger.info(`line ${line}`);
      // Whoever else cares is still told; but nobody has to.
      if (line === 0 && code !== 'EBADF') stream.on('error', (error) => seen.push(error));
      await setImmediate();
    }
    expect(seen).toMatchObject(code === 'EBADF' ? [] : [{ code }]);
  });

  it('by being destroyed loses the lines', async () => {
    const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
    const logger = consoleLogger({ stream });
    stream.destroy();
    logger.info('hello');
    await setImmediate();
    expect(stream.destroyed).toBe(true);
  });

  it('by throwing loses the lines until it works again', () => {
    let text = '';
    let isBroken = true;
    const write = (line: string): void => {
      if (isBroken) throw new Error('no way');
      text += line;
    };
    const logger = consoleLogger({ format: 'plain', stream: { write } });
    logger.info('lost');
    isBroken = false;
    logger.info('seen');
    expect(text).toBe('seen\n');
  });

  it('is listened to once, however many lines and loggers there are', () => {
    const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
    for (let line = 0; line < 20; line++) consoleLogger({ stream }).info('hello');
    expect(stream.listenerCount('error')).toBe(1);
  });
});

describe('a process lives on', () => {
  let folder: string;
  let program: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kopf-ts-lost-'));
    program = join(folder, 'program.mjs');
    await build({
      entryPoints: [fileURLToPath(new URL('./lost-program.ts', import.meta.url))],
      outfile: program,
      bundle: true,
      platform: 'node',
      format: 'esm',
      conditions: ['@kopf-ts/source'],
    });
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each([
    ['if nobody reads its logs any more', 'pipe'],
    ['if its logs are closed', 'closed'],
    ['if nobody reads anything that it prints', 'both'],
  ])('%s', async (_what, scenario) => {
    const report = join(folder, scenario);
    const child = spawn(process.execPath, [program, scenario, report], { env: { PATH: process.env['PATH'] } });
    const ended = once(child, 'exit');
    child.stderr.destroy();
    if (scenario === 'both') child.stdout.destroy();
    child.stdin.on('error', () => {}).write('go\n');
    const [code] = await ended;
    expect({ code, report: await readFile(report, 'utf8').catch(() => 'dead') }).toEqual({ code: 0, report: 'alive' });
  });
});
