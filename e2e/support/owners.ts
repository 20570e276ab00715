import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** A Node process that owns other processes, so that it can be killed to see what becomes of them. */
export interface Owner<T> {
  /** The JSON in its first line of output. */
  readonly told: T;
  kill(signal: NodeJS.Signals): void;
}

/** Runs a TypeScript file with some arguments, until its first line of output. */
export async function startOwner<T>(script: URL, ...args: readonly string[]): Promise<Owner<T>> {
  const folder = await mkdtemp(join(tmpdir(), 'kopf-ts-owner-'));
  try {
    const outfile = join(folder, 'owner.cjs');
    await build({
      entryPoints: [fileURLToPath(script)],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      logLevel: 'silent',
      // The bundle lies elsewhere, and what is beside the sources is still needed.
      define: { 'import.meta.url': JSON.stringify(new URL('../controlplane/index.ts', import.meta.url).href) },
    });
    const child = spawn(process.execPath, [outfile, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
    const line = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', resolve);
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`The owner has ended with ${code} before telling anything.`)));
    });
    return { told: JSON.parse(line) as T, kill: (signal) => child.kill(signal) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Zombies do not run: it is up to the system when it forgets them. */
export function isRunning(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('Z');
  } catch {
    return false;
  }
}
