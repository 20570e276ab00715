import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { loadAnew } from '../../src/index.js';

const told: unknown[] = [];
Object.assign(globalThis, { tellKopfTest: (value: unknown) => told.push(value) });

it('loads files as if for the first time, each time, with all files that they import', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kopf-anew-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'helper.ts'), 'let count: number = 0; export const next = (): number => ++count;');
  await writeFile(
    join(folder, 'handlers.ts'),
    "import { next } from './helper.js'; (globalThis as any).tellKopfTest(next());",
  );
  for (let turn = 0; turn < 3; turn++) await loadAnew(['handlers.ts'], { cwd: folder, resolve: () => undefined });
  expect(told).toEqual([1, 1, 1]);
});

it('says which file is not there', async () => {
  await expect(loadAnew(['no-such-file.ts'], { cwd: tmpdir(), resolve: () => undefined })).rejects.toThrow(
    'There is no file "no-such-file.ts"',
  );
});
