/** A file to which every change is written before anybody hears of it, and which is written anew before it gets too long. */
import {
  closeSync,
  fdatasync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Journal, Revision, StoreReader } from '../contracts/store.js';
import { internalError } from '../http/status-errors.js';
import { beginningLine, putLine, removalLine } from './journal-lines.js';
import type { JournalSizes } from './journal-reading.js';

export interface JournalOptions {
  readonly path: string;
  /** What comes after the good bytes of the file goes away. */
  readonly sizes: JournalSizes;
  /** Where the objects are, when the file is written anew. */
  readonly store: StoreReader;
  /** Files of fewer bytes are not written anew. */
  readonly enough?: number;
}

export interface OpenJournal extends Journal {
  /** Waits while the file is being written anew. */
  settled(): Promise<void>;
  /** No changes from now on. */
  close(): Promise<void>;
}

const MEGABYTE = 1024 * 1024;
const ENOUGH = 16 * MEGABYTE;
/** What is done without a pause when the file is written anew, in bytes. */
const PORTION = MEGABYTE;

const anew = (path: string): string => `${path}.new`;

/** Makes a file with nothing but its beginning. */
export function createJournal(path: string, version: number): void {
  const file = openSync(anew(path), 'w', 0o600);
  try {
    writeAll(file, beginningLine(version, 0), 0);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(anew(path), path);
}

/**
 * Changes are written at once, one by one: when this returns, the system has the change, whatever becomes of the process.
 * The system is asked to bring it to the disk only when the file is written anew, and in the end.
 */
export function openJournal({ path, sizes, store, enough = ENOUGH }: JournalOptions): OpenJournal {
  let file = openSync(path, 'r+');
  let size = sizes.good;
  /** From this size on, the file is written anew. */
  let limit = Math.max(enough, 2 * sizes.beginning);
  let isClosed = false;
  /** Behind a piece of a line that cannot be taken back, nothing can be written. */
  let isBroken = false;
  let rewriting: Promise<void> | undefined;
  ftruncateSync(file, size);

  const append = (line: string): void => {
    if (isClosed) throw internalError('the cluster is stopped');
    if (isBroken) throw internalError(`${path} cannot be written any more`);
    try {
      size += writeAll(file, line, size);
    } catch (error) {
      takeBack();
      throw internalError(`the change cannot be kept: ${(error as Error).message}`);
    }
    if (size > limit) rewriting ??= rewriteOrNot();
  };

  const takeBack = (): void => {
    try {
      ftruncateSync(file, size);
    } catch {
      isBroken = true;
    }
  };

  const rewriteOrNot = async (): Promise<void> => {
    try {
      await rewrite();
    } catch {
      // The old file is as good as it was; at another time, there may be more room.
      limit = 2 * size;
      rmSync(anew(path), { force: true, recursive: true });
    } finally {
      rewriting = undefined;
    }
  };

  /** All objects as they are now, and then the changes that come meanwhile, as they are in the old file. */
  const rewrite = async (): Promise<void> => {
    // The change that was written a moment ago is not in the store yet.
    await setImmediate();
    let copied = size;
    const { version, objects } = contentsOf(store);
    const next = openSync(anew(path), 'w+', 0o600);
    let length = 0;
    const add = (part: string | Buffer): void => {
      length += writeAll(next, part, length);
    };
    const copy = (): void => {
      const part = readPart(file, copied, Math.min(PORTION, size - copied));
      add(part);
      copied += part.length;
    };
    const pause = async (): Promise<void> => {
      await setImmediate();
      if (isClosed) throw new Error('There is no time for this any more.');
    };
    try {
      add(beginningLine(version, objects.length));
      for (const portion of portionsOf(objects)) {
        add(portion);
        await pause();
      }
      const beginning = length;
      for (; size - copied > PORTION; await pause()) copy();
      await promisify(fdatasync)(next);
      await pause();
      while (copied < size) copy();
      renameSync(anew(path), path);
      limit = Math.max(enough, 2 * beginning);
    } catch (error) {
      closeSync(next);
      throw error;
    }
    closeSync(file);
    [file, size] = [next, length];
  };

  return {
    put: (revision) => append(putLine(revision)),
    remove: (last) => append(removalLine(last)),
    settled: async () => await rewriting,
    async close() {
      if (isClosed) return;
      isClosed = true;
      await rewriting;
      fsyncSync(file);
      closeSync(file);
    },
  };
}

function contentsOf(store: StoreReader): { readonly version: number; readonly objects: readonly Revision[] } {
  return { version: store.version, objects: [...store.collections()].flatMap((collection) => store.list(collection)) };
}

function* portionsOf(objects: readonly Revision[]): Generator<string> {
  let portion = '';
  for (const object of objects) {
    portion += putLine(object);
    if (portion.length < PORTION) continue;
    yield portion;
    portion = '';
  }
  yield portion;
}

/** The system may take less than it is given at once. */
function writeAll(file: number, data: string | Buffer, position: number): number {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(file, bytes, done, bytes.length - done, position + done);
  }
  return bytes.length;
}

function readPart(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, position));
}
