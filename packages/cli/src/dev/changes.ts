/** Noticing that files change: by their folders, since editors tend to replace files rather than to write them. */
import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock, Seconds } from '@kopf-ts/core';
import { condition } from '@kopf-ts/core/engine';

export interface Changes {
  /** From now on, these files are watched. With `anything`, so is all other code in the same folders. */
  watch(files: readonly string[], options?: { readonly anything?: boolean }): void;
  /** Waits until some of the files change and then rest for a moment; gives those that have changed. */
  next(signal: AbortSignal): Promise<ReadonlySet<string>>;
  close(): void;
}

/** What can be imported; and not what editors keep beside it. */
const CODE = /^[^.].*\.(?:[cm]?[jt]sx?|json)$/;

/** Editors and version control change several files one after another. */
const REST: Seconds = 0.05;

export function watchChanges(clock: Clock): Changes {
  const folders = new Map<string, FSWatcher>();
  const happening = condition();
  let files: ReadonlySet<string> = new Set();
  let isAnythingMeant = false;
  let changed = new Set<string>();

  const notice = (path: string): void => {
    const isMeant = files.has(path) || (isAnythingMeant && CODE.test(basename(path)));
    if (!isMeant) return;
    changed.add(path);
    happening.notify();
  };
  const watchFolder = (folder: string): void => {
    if (folders.has(folder)) return;
    try {
      const watcher = watch(folder, (_type, name) => notice(name === null ? folder : join(folder, name)));
      // E.g. when the folder is removed. There is nothing to watch then.
      watcher.on('error', () => watcher.close());
      folders.set(folder, watcher);
    } catch {
      // The same, but earlier.
    }
  };

  return {
    watch(newFiles, { anything = false } = {}) {
      files = new Set(newFiles);
      isAnythingMeant = anything;
      const wanted = new Set(newFiles.map((file) => dirname(file)));
      for (const folder of wanted) watchFolder(folder);
      for (const [folder, watcher] of folders) {
        if (wanted.has(folder)) continue;
        watcher.close();
        folders.delete(folder);
      }
    },
    async next(signal) {
      await happening.until(() => changed.size > 0, signal);
      await clock.sleep(REST, { signal });
      const all = changed;
      changed = new Set();
      return all;
    },
    close() {
      for (const watcher of folders.values()) watcher.close();
      folders.clear();
    },
  };
}
