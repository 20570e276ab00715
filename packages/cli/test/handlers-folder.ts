/** Folders with files of handlers, for the length of a test. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createRegistry, getDefaultRegistry, type Registry, setDefaultRegistry } from '@kopf-ts/core';
import { onTestFinished } from 'vitest';

/** Writes the files into a new folder; gives its path. */
export async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'kopf-ts-cli-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return folder;
}

/** A default registry of the test's own. */
export function ownRegistry(): Registry {
  const previous = getDefaultRegistry();
  const registry = createRegistry();
  setDefaultRegistry(registry);
  onTestFinished(() => setDefaultRegistry(previous));
  return registry;
}

const NOTES = '__notesOfHandlers';

/** What handlers' files have noted while they were loaded, by `note(…)` below. */
export function ownNotes(): unknown[] {
  const notes: unknown[] = [];
  const holder = globalThis as Record<string, unknown>;
  holder[NOTES] = notes;
  onTestFinished(() => void delete holder[NOTES]);
  return notes;
}

/** The code that notes the value of an expression. */
export function note(expression: string): string {
  return `globalThis.${NOTES}.push(${expression});\n`;
}

/** The code that declares a handler: there are no packages to import in these folders. */
export const DECLARE = `globalThis[Symbol.for('kopf-ts.defaults')].registry.on.create('kopfexamples', () => {});\n`;
