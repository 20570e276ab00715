import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pythonPackages } from './python.js';

/** The Kopf whose formats we keep to. */
export const kopfVersion = '1.44.6';

export type PythonKopf =
  | {
      readonly kind: 'installed';
      ask(request: object): Promise<unknown>;
      /** `kopf` with these arguments. Whoever starts it ends it. */
      start(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess;
    }
  | { readonly kind: 'unavailable'; readonly reason: string };

/** Kopf itself. */
export async function pythonKopf(): Promise<PythonKopf> {
  const found = await pythonPackages('Kopf', { kopf: kopfVersion });
  if (found.kind === 'unavailable') return found;
  return {
    kind: 'installed',
    ask: (request) => ask(found.env, request),
    start: (args, env) => spawn('python3', ['-m', 'kopf', ...args], { env: { ...found.env, ...env }, stdio: 'pipe' }),
  };
}

async function ask(env: NodeJS.ProcessEnv, request: object): Promise<unknown> {
  const script = fileURLToPath(new URL('kopf_storages.py', import.meta.url));
  const running = promisify(execFile)('python3', [script], { env, maxBuffer: 2 ** 24 });
  running.child.stdin?.end(JSON.stringify(request));
  return JSON.parse((await running).stdout);
}
