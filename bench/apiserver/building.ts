/** The server as a file of plain JavaScript, and programs that use it in other processes. */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

export interface BuiltServer {
  /**
   * Runs the function in a new process, with the URL of the built server as its first argument. Nothing of what is
   * around the function is there; functions and plain data can be given to it as further arguments.
   */
  start(program: (server: string, ...args: never[]) => Promise<void>, options?: StartOptions): ChildProcess;
}

interface StartOptions {
  readonly args?: readonly unknown[];
  /** Of Node itself. */
  readonly execArgv?: readonly string[];
}

export async function withBuiltServer(use: (built: BuiltServer) => Promise<void>): Promise<void> {
  // The benchmarks are run from a folder beside themselves.
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const home = join(root, 'packages/apiserver');
  // Beside the package's own node_modules, where its dependencies are found.
  const folder = mkdtempSync(join(home, 'node_modules', '.bench-'));
  const children: ChildProcess[] = [];
  try {
    const server = join(folder, 'server.mjs');
    await bundle(root, join(home, 'src/index.ts'), server);
    await use({
      start(program, { args = [], execArgv = [] } = {}) {
        const script = join(folder, `program-${children.length}.mjs`);
        const sources = [JSON.stringify(pathToFileURL(server).href), ...args.map(sourceOf)];
        writeFileSync(script, `await (${program.toString()})(${sources.join(', ')});`);
        const child = fork(script, [], { execArgv: [...execArgv] });
        children.push(child);
        return child;
      },
    });
  } finally {
    for (const child of children) child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The next message of the process. Rejects if it ends without one. */
export function messageOf<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as T));
    child.once('exit', (code, signal) => reject(new Error(`The process has ended with ${code ?? signal}.`)));
  });
}

function sourceOf(value: unknown): string {
  return typeof value === 'function' ? value.toString() : JSON.stringify(value);
}

/** As the build does it, with core inside, since that is not published here. Third parties stay outside. */
async function bundle(root: string, entry: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
    external: ['node-forge', 'rfc6902', 'yaml'],
    alias: {
      '@kopf-ts/core/engine': join(root, 'packages/core/src/engine.ts'),
      '@kopf-ts/core': join(root, 'packages/core/src/index.ts'),
    },
  });
}
