import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** A lock is a file with the id of its holder, so that the lock of a dead process can be told from a live one. */
export interface LockOptions {
  /** Called once, when somebody else holds the lock. */
  readonly onWaiting?: (holder: number | undefined) => void;
  readonly pollMs?: number;
}

/** How long a file may have no readable holder: the time between making it and writing to it, generously. */
const unreadableMs = 5_000;

/**
 * Runs the action while no other process on this machine runs one under the same lock.
 *
 * Two waiters can both take over the lock of a dead process and run together. That is rare, and must be harmless:
 * whatever is done under the lock makes its results appear by renaming.
 */
export async function withLock<T>(file: string, action: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  await mkdir(dirname(file), { recursive: true });
  await acquire(file, options);
  try {
    return await action();
  } finally {
    await rm(file, { force: true });
  }
}

async function acquire(file: string, { onWaiting, pollMs = 500 }: LockOptions): Promise<void> {
  let told = false;
  for (;;) {
    try {
      await writeFile(file, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (await isAbandoned(file)) {
      await rm(file, { force: true });
      continue;
    }
    if (!told) onWaiting?.(await holderOf(file));
    told = true;
    await pause(pollMs);
  }
}

async function isAbandoned(file: string): Promise<boolean> {
  const holder = await holderOf(file);
  if (holder !== undefined) return !isAlive(holder);
  const made = await stat(file).catch(() => undefined);
  return made !== undefined && Date.now() - made.mtimeMs > unreadableMs;
}

async function holderOf(file: string): Promise<number | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

/** Somebody else's process is alive, too, though it may not be signalled. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
