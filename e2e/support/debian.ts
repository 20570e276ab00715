/** Programs from packages of Debian, in the cache of the tests: nothing is installed. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withLock } from '../controlplane/lock.js';

const run = promisify(execFile);

export interface DebianPackages {
  /** Of the folder in the cache. */
  readonly title: string;
  readonly names: readonly string[];
  /** Whether the packages that these need, and that the machine does not have, are needed here, too. */
  readonly hasDependencies?: boolean;
}

/** The folder with the contents of the packages, as if it was the root. Throws where there is no apt, or no way to the packages. */
export async function unpackedFromDebian(packages: DebianPackages): Promise<string> {
  const home = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'kopf-ts', packages.title);
  const folder = join(home, 'package');
  await mkdir(home, { recursive: true });
  await withLock(`${folder}.lock`, async () => {
    if (existsSync(folder)) return;
    const unfinished = await mkdtemp(join(home, 'unfinished-'));
    try {
      await download(packages, unfinished);
      const contents = join(unfinished, 'contents');
      for (const deb of await readdir(unfinished)) {
        if (deb.endsWith('.deb')) await run('dpkg', ['-x', join(unfinished, deb), contents]);
      }
      await rename(contents, folder);
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  });
  return folder;
}

async function download({ names, hasDependencies = false }: DebianPackages, folder: string): Promise<void> {
  const get = async (): Promise<void> => {
    if (!hasDependencies) return void (await run('apt-get', ['download', ...names], { cwd: folder }));
    await mkdir(join(folder, 'partial'), { recursive: true });
    const place = ['-o', `Dir::Cache::Archives=${folder}`, '-o', 'Debug::NoLocking=1'];
    const options = ['--download-only', '--no-install-recommends', '--yes', '--quiet', ...place];
    await run('apt-get', ['install', ...options, ...names], { maxBuffer: 10_000_000 });
  };
  try {
    await get();
  } catch {
    // On a new machine, apt knows of nothing yet.
    await run('apt-get', ['update']);
    await get();
  }
}
