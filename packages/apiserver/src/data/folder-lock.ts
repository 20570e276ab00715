/** One folder, one process. */
import { randomUUID } from 'node:crypto';
import { link, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KopfError } from '@kopf-ts/core';

/** The process that holds a lock. */
interface Holder {
  readonly pid: number;
  /** When it was started, as far as the system tells: numbers of processes are used again. */
  readonly started: string;
}

const LOCK = /^lock-(\d+)$/;

/** Files of this module, by their names. */
export const isLock = (name: string): boolean => name.startsWith('lock-');

/**
 * Takes the folder for this process; gives the way to release it. What a killed process has left behind is no lock.
 *
 * Locks are numbered, and a lock is only ever followed by the next number: of two processes that find the same dead lock,
 * one makes its successor, and the other one finds that alive.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const own = join(folder, `lock-of-${process.pid}-${randomUUID()}`);
  for (;;) {
    const last = Math.max(0, ...(await numbersIn(folder)));
    const holder = last === 0 ? undefined : await holderOf(join(folder, `lock-${last}`));
    if (holder !== undefined && (await isAlive(holder))) throw inUse(folder, holder.pid);
    const path = join(folder, `lock-${last + 1}`);
    await writeFile(own, JSON.stringify({ pid: process.pid, started: await startOf(process.pid) }));
    try {
      // Unlike a new file that is written then, a link is there with its content at once.
      await link(own, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw error;
    } finally {
      await rm(own, { force: true });
    }
    for (const number of await numbersIn(folder)) {
      if (number <= last) await rm(join(folder, `lock-${number}`), { force: true });
    }
    // It stays where it is, so that the numbers go on.
    return () => writeFile(path, '');
  }
}

async function numbersIn(folder: string): Promise<readonly number[]> {
  const names = await readdir(folder);
  return names.flatMap((name) => LOCK.exec(name)?.[1] ?? []).map(Number);
}

/** Nobody, if it is released or unreadable. */
async function holderOf(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

async function isAlive({ pid, started }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // It may be somebody else's.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const now = await startOf(pid);
  return now === '' || started === '' || now === started;
}

const GONE = 'gone';

/** On Linux: in ticks since the start of the system. Elsewhere, it is not known. */
async function startOf(pid: number): Promise<string> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'latin1');
    // The name of the program comes before, in parentheses, and may have spaces in it.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // Killed, but nobody has asked how it has ended.
    return fields[0] === 'Z' || fields[0] === 'X' ? GONE : (fields[19] ?? '');
  } catch {
    return '';
  }
}

function inUse(folder: string, pid: number): KopfError {
  const who = pid === process.pid ? 'another cluster of this process' : `process ${pid}`;
  return new KopfError(`The data in ${folder} are in use by ${who}. Stop that one, or choose another folder.`, {
    code: 'KOPF_DATA_IN_USE',
  });
}
