/** Where the cluster of a folder is found: at the same port and by the same kubeconfig today and tomorrow. */
import { createHash } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** Below the ports that systems give to outgoing connections, and below those of NodePorts. */
const FIRST_PORT = 20_000;
const PORTS = 10_000;

/** The port of that folder. Others may have the same one; that is seen when it is in use. */
export function portOf(folder: string): number {
  return FIRST_PORT + (createHash('sha256').update(folder).digest().readUInt32BE() % PORTS);
}

const CONSOLE_PORT = 8082;
/** For the consoles of other folders: below those of the clusters. */
const FIRST_CONSOLE_PORT = FIRST_PORT - PORTS;
const NEIGHBOURS = 20;

export interface ConsolePlace {
  readonly url: string;
  /** Others may have it from now on. */
  release(): void;
}

/**
 * Where the console is: at its usual port; or at one of that folder, if another console or something else is there. It stays there
 * while operators come and go. The socket of the operator opens later than that, and closes in between: so the port is
 * held by a socket of another protocol, which nobody talks to.
 */
export async function consolePlace(folder: string, usualPort = CONSOLE_PORT): Promise<ConsolePlace> {
  const own = portOf(folder) - FIRST_PORT;
  const others = Array.from({ length: NEIGHBOURS }, (_, step) => FIRST_CONSOLE_PORT + ((own + step) % PORTS));
  for (const port of [usualPort, ...others]) {
    const holder = await held(port);
    if (holder === undefined) continue;
    if (await isFree(port)) return { url: `http://127.0.0.1:${port}`, release: () => void holder.close() };
    holder.close();
  }
  return { url: `http://127.0.0.1:${usualPort}`, release() {} };
}

function held(port: number): Promise<Socket | undefined> {
  const socket = createSocket('udp4');
  return new Promise((resolve) => {
    socket.once('error', () => {
      socket.close();
      resolve(undefined);
    });
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(socket.unref()));
  });
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => void server.close(() => resolve(true)));
  });
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
