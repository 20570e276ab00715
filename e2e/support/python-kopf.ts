import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withLock } from '../controlplane/lock.js';

/** The Kopf whose formats we keep to. */
const version = '1.44.6';

export type PythonKopf =
  | {
      readonly kind: 'installed';
      ask(request: object): Promise<unknown>;
      /** `kopf` with these arguments. Whoever starts it ends it. */
      start(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess;
    }
  | { readonly kind: 'unavailable'; readonly reason: string };

/** Kopf itself, in a folder of the user's cache; installed there once, by pip. */
export async function pythonKopf(): Promise<PythonKopf> {
  const home = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'kopf-ts', 'python');
  try {
    const { stdout } = await run('python3', ['-c', 'import sys; print(sys.implementation.cache_tag)']);
    const folder = join(home, `kopf-${version}-${stdout.trim()}`);
    await withLock(`${folder}.lock`, async () => {
      if (!existsSync(folder)) await install(home, folder);
    });
    return {
      kind: 'installed',
      ask: (request) => ask(folder, request),
      start: (args, env) =>
        spawn('python3', ['-m', 'kopf', ...args], { env: { ...environment(folder), ...env }, stdio: 'pipe' }),
    };
  } catch (error) {
    const [line = ''] = String(error instanceof Error ? error.message : error).split('\n');
    return { kind: 'unavailable', reason: `Kopf cannot be installed: ${line}` };
  }
}

async function install(home: string, folder: string): Promise<void> {
  await mkdir(home, { recursive: true });
  const unfinished = await mkdtemp(join(home, 'unfinished-'));
  try {
    const args = ['--quiet', '--disable-pip-version-check', '--target', unfinished, `kopf==${version}`];
    await run('python3', ['-m', 'pip', 'install', ...args], { env: { ...process.env, PIP_USER: '0' } });
    await rename(unfinished, folder);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

async function ask(folder: string, request: object): Promise<unknown> {
  const script = fileURLToPath(new URL('kopf_storages.py', import.meta.url));
  const running = run('python3', [script], {
    env: environment(folder),
    maxBuffer: 2 ** 24,
  });
  running.child.stdin?.end(JSON.stringify(request));
  return JSON.parse((await running).stdout);
}

function environment(folder: string): NodeJS.ProcessEnv {
  return { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' };
}

const run = promisify(execFile);
