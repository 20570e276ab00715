/** A folder in which a cluster keeps everything that has to outlive its process. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { KopfError } from '@kopf-ts/core';
import type { Identity } from '../contracts/authentication.js';
import type { Store } from '../contracts/store.js';
import type { HistoryLimits } from '../store/history.js';
import { makeStore } from '../store/object-store.js';
import { isLock, lockFolder } from './folder-lock.js';
import { loadIdentity } from './identity-file.js';
import { createJournal, type OpenJournal, openJournal } from './journal.js';
import { readJournal } from './journal-reading.js';

export interface DataFolder {
  readonly identity: Identity;
  /** With what was kept; it keeps what comes. */
  readonly store: Store;
  close(): Promise<void>;
}

const JOURNAL = 'objects.journal';
const IDENTITY = 'identity.json';

/** Makes the folder if there is none. Nobody else can have it as long as it is open. */
export async function openDataFolder(given: string, limits?: HistoryLimits): Promise<DataFolder> {
  const folder = resolve(given);
  await prepare(folder);
  const unlock = await lockFolder(folder);
  try {
    const identity = await loadIdentity(join(folder, IDENTITY));
    const path = join(folder, JOURNAL);
    let journal: OpenJournal | undefined;
    const store = makeStore(limits, {
      put: (revision) => journal?.put(revision),
      remove: (last) => journal?.remove(last),
    });
    if (!existsSync(path)) createJournal(path, store.version);
    const sizes = await readJournal(path, store);
    journal = openJournal({ path, sizes, store });
    return {
      identity,
      store,
      async close() {
        await journal?.close();
        await unlock();
      },
    };
  } catch (error) {
    await unlock();
    throw error;
  }
}

/** There are keys in it, so it is for its owner only, and not for repositories. */
async function prepare(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const names = await readdir(folder);
  if (names.includes(JOURNAL) || names.includes(IDENTITY)) return;
  const [stranger] = names.filter((name) => !name.startsWith('.') && !isLock(name) && !name.endsWith('.new'));
  if (stranger !== undefined) {
    throw new KopfError(
      `${folder} is not a folder with data of a cluster: there is ${stranger} in it. Choose a new or an empty folder.`,
      { code: 'KOPF_DATA_ELSEWHERE' },
    );
  }
  await writeFile(join(folder, '.gitignore'), '*\n');
}
