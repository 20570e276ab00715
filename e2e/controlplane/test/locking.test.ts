import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { withLock } from '../lock.js';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kopf-ts-lock-'));
  file = join(folder, 'deep', 'a.lock');
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

it('lets one in at a time, and tells the others whom they wait for', async () => {
  let inside = 0;
  let most = 0;
  const holders: unknown[] = [];
  const visit = () =>
    withLock(
      file,
      async () => {
        inside += 1;
        most = Math.max(most, inside);
        await new Promise(setImmediate);
        inside -= 1;
      },
      { pollMs: 1, onWaiting: (holder) => holders.push(holder) },
    );
  await Promise.all([visit(), visit(), visit()]);
  expect(most).toBe(1);
  expect(holders).toContain(process.pid);
  expect(await readdir(join(file, '..'))).toEqual([]);
});

it('is free again after a failure', async () => {
  await expect(withLock(file, () => Promise.reject(new Error('failed inside')))).rejects.toThrow('failed inside');
  expect(existsSync(file)).toBe(false);
  expect(await withLock(file, async () => 'inside')).toBe('inside');
});

it('is taken over from a process that is dead', async () => {
  const { pid } = spawnSync(process.execPath, ['--version']);
  await withLock(file, async () => {});
  await writeFile(file, String(pid));
  const waited: unknown[] = [];
  expect(await withLock(file, async () => 'inside', { onWaiting: (holder) => waited.push(holder) })).toBe('inside');
  expect(waited).toEqual([]);
});
