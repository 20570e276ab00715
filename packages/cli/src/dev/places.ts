/** Where the cluster of a folder is found: at the same port and by the same kubeconfig today and tomorrow. */
import { createHash } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** Below the ports that systems give to outgoing connections, and below those of NodePorts. */
const FIRST_PORT = 20_000;
const PORTS = 10_000;

/** The port of that folder. Others may have the same one; that is seen when it is in use. */
export function portOf(folder: string): number {
  return FIRST_PORT + (createHash('sha256').update(folder).digest().readUInt32BE() % PORTS);
}

/** By the name of the folder, for people, and by the port: whoever has the port has the file. */
export function kubeconfigPath(
  folder: string,
  port: number | string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const cache = env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache');
  const name = basename(folder).replaceAll(/[^\w.-]+/g, '-') || 'root';
  return join(cache, 'kopf-ts', 'dev', `${name}-${port}.yaml`);
}

/** Only its owner can read it; and nobody can read half of it. Returns the way to remove it. */
export async function placeKubeconfig(path: string, content: string): Promise<() => Promise<void>> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = `${path}.${process.pid}.new`;
  await rm(unfinished, { force: true });
  await writeFile(unfinished, content, { mode: 0o600, flag: 'wx' });
  await rename(unfinished, path);
  return () => rm(path, { force: true });
}
