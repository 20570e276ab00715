/** Tunnels of Cloudflare: they need no account, only the program `cloudflared`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Exposure } from './tunnel.js';

export async function cloudflared(port: number, signal: AbortSignal): Promise<Exposure> {
  const child = spawn('cloudflared', ['tunnel', '--url', `http://127.0.0.1:${port}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const stop = (): void => void child.kill();
  signal.addEventListener('abort', stop, { once: true });
  const close = async (): Promise<void> => {
    signal.removeEventListener('abort', stop);
    stop();
    await exited;
  };
  try {
    // Rejects if the program cannot even be started.
    await once(child, 'spawn');
    for await (const line of createInterface(child.stderr)) {
      const url = /https:\/\/[-\w]+\.trycloudflare\.com/.exec(line)?.[0];
      if (url === undefined) continue;
      child.stderr.resume();
      return { url, close };
    }
    throw new Error('cloudflared has ended without telling an address.');
  } catch (error) {
    signal.removeEventListener('abort', stop);
    stop();
    throw error;
  }
}
