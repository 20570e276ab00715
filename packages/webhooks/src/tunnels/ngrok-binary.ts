/** Tunnels of ngrok by its program, which tells its address in its log. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { isMapping, type Seconds } from '@kopf-ts/core';
import { abortable, alarm, describeError } from '@kopf-ts/core/engine';
import { type OpenTunnel, type TunnelRequest, tunnelError, withoutToken } from './tunnel.js';

const OPENING_TIMEOUT: Seconds = 30;
/** How long the program may take to end by itself. */
const ENDING_GRACE: Seconds = 5;

export async function openByBinary(binary: string, request: TunnelRequest): Promise<OpenTunnel> {
  const { target, token, region, signal, clock } = request;
  const args = [
    'http',
    target,
    '--log=stdout',
    '--log-format=json',
    ...(region === undefined ? [] : ['--region', region]),
  ];
  const child = spawn(binary, args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    // Not as an argument: those are seen by everybody on the machine.
    env: { ...process.env, ...(token === undefined ? {} : { NGROK_AUTHTOKEN: token }) },
  });
  let complaint = '';
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`it cannot be started: ${describeError(error)}`));
    child.once('close', (code, killer) => resolve(`it has ended with ${killer ?? `code ${code}`}`));
  });
  const broken = ended.then((how): never => {
    throw tunnelError(`The program "${binary}" has not kept the tunnel open: ${how}${complaint && `: ${complaint}`}.`);
  });
  // It is expected to end when closed, and nobody may be waiting then.
  broken.catch(() => {});
  const close = async (): Promise<void> => {
    if (isRunning(child)) child.kill('SIGTERM');
    const cancel = alarm(clock, ENDING_GRACE, () => child.kill('SIGKILL'));
    await ended;
    cancel();
  };
  let cancel = (): void => {};
  try {
    const opened = new Promise<string>((resolve, reject) => {
      const why = `The program "${binary}" has not told the address of the tunnel within ${OPENING_TIMEOUT} seconds`;
      cancel = alarm(clock, OPENING_TIMEOUT, () => reject(tunnelError(`${why}${complaint && `: ${complaint}`}.`)));
      const lines = createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY });
      lines.on('line', (line) => {
        const { url, err } = parseLine(line);
        if (typeof err === 'string' && err !== '' && err !== '<nil>') complaint = withoutToken(err, token);
        if (typeof url === 'string' && url.startsWith('https://')) resolve(url);
      });
    });
    return { url: await abortable(Promise.race([opened, broken]), signal), broken, close };
  } catch (error) {
    await close();
    throw error;
  } finally {
    cancel();
  }
}

/** Of old versions, there are two tunnels; and there are lines about other things. */
function parseLine(line: string): { readonly url?: unknown; readonly err?: unknown } {
  try {
    const entry: unknown = JSON.parse(line);
    if (!isMapping(entry)) return {};
    return { err: entry['err'], ...(entry['msg'] === 'started tunnel' ? { url: entry['url'] } : {}) };
  } catch {
    return {};
  }
}

function isRunning({ exitCode, signalCode, pid }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}
