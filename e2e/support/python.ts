import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withLock } from '../controlplane/lock.js';

/** The environment in which `python3` finds the packages; or why there is none. */
export type PythonPackages =
  | { readonly kind: 'installed'; readonly env: NodeJS.ProcessEnv }
  | { readonly kind: 'unavailable'; readonly reason: string };

/** Packages of one purpose and their versions, in a folder of the user's cache; installed there once, by pip. */
export async function pythonPackages(
  name: string,
  versions: Readonly<Record<string, string>>,
): Promise<PythonPackages> {
  const home = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'kopf-ts', 'python');
  const packages = Object.entries(versions).map(([each, version]) => `${each}==${version}`);
  try {
    const { stdout } = await run('python3', ['-c', 'import sys; print(sys.implementation.cache_tag)']);
    const folder = join(home, [...Object.entries(versions).flat(), stdout.trim()].join('-'));
    await withLock(`${folder}.lock`, async () => {
      if (!existsSync(folder)) await install(home, folder, packages);
    });
    return { kind: 'installed', env: { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' } };
  } catch (error) {
    const [line = ''] = String(error instanceof Error ? error.message : error).split('\n');
    return { kind: 'unavailable', reason: `${name} cannot be installed: ${line}` };
  }
}

async function install(home: string, folder: string, packages: readonly string[]): Promise<void> {
  await mkdir(home, { recursive: true });
  const unfinished = await mkdtemp(join(home, 'unfinished-'));
  try {
    const args = ['--quiet', '--disable-pip-version-check', '--target', unfinished, ...packages];
    await run('python3', ['-m', 'pip', 'install', ...args], { env: { ...process.env, PIP_USER: '0' } });
    await rename(unfinished, folder);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

const run = promisify(execFile);
