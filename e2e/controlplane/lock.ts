import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** A lock is a file with the id of its holder, so that the lock of a dead process can be told from a live one. */
export interface LockOptions {
  /** Called once, when somebody else holds the lock. */
  readonly onWaiting?: (holder: number | undefined) => void;
  readonly pollMs?: number;
}

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
  // Linked and not written in place: whoever sees the lock has to see the holder in it.
  const own = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  await writeFile(own, String(process.pid));
  try {
    for (let attempt = 1; !(await linked(own, file)); attempt += 1) {
      const holder = await holderOf(file);
      if (holder !== undefined && !isAlive(holder)) {
        await rm(file, { force: true });
        continue;
      }
      if (attempt === 1) onWaiting?.(holder);
      await pause(pollMs);
    }
  } finally {
    await rm(own, { force: true });
  }
}

async function linked(own: string, file: string): Promise<boolean> {
  try {
    await link(own, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Nobody, if the lock has been released in between. */
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
