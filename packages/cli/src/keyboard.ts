/** The Enter key, for commands that run for long. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/**
 * Calls the function for each Enter in the terminal; gives the way to stop, or `undefined` where there is no terminal.
 *
 * A process in the background that reads from its terminal is stopped by the system. So it reads only in the foreground,
 * and looks again when it is continued: that is when `bg` and `fg` move it.
 */
export function onEnter(listener: () => void): (() => void) | undefined {
  const { stdin } = process;
  if (!stdin.isTTY) return undefined;
  let isStopped = false;
  const read = (): void => listener();
  const look = (): void => {
    // Not to be read as long as this is not known.
    stdin.off('data', read).pause();
    void isInForeground().then((isHere) => {
      // What was paused is not read because of a listener alone. And it is no reason for the process to live.
      if (isHere && !isStopped) stdin.on('data', read).resume().unref();
    });
  };
  const stop = (): void => {
    isStopped = true;
    process.off('SIGCONT', look);
    stdin.off('data', read).pause();
  };
  // E.g. when the terminal is closed. There is nothing to read then.
  stdin.on('error', stop);
  process.on('SIGCONT', look);
  look();
  return stop;
}

/** Does the terminal listen to the group of this process? */
async function isInForeground(): Promise<boolean> {
  if (process.platform === 'win32') return true;
  try {
    const [own, foreground] = process.platform === 'linux' ? await groupsOnLinux() : await groupsByPs();
    return own !== undefined && own === foreground;
  } catch {
    return false;
  }
}

async function groupsOnLinux(): Promise<readonly (string | undefined)[]> {
  const text = await readFile('/proc/self/stat', 'latin1');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return [fields[2], fields[5]];
}

async function groupsByPs(): Promise<readonly (string | undefined)[]> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)]);
  return stdout.trim().split(/\s+/);
}
