/** Loading handlers: they declare themselves as their files are imported. */
import { pathToFileURL } from 'node:url';
import { getDefaultRegistry } from '@kopf-ts/core';
import { type BundleOptions, bundle } from './bundle.js';
import { importBundle } from './importing.js';
import { explainLoadFailure } from './problems.js';
import { arePlain, type Sources } from './sources.js';

/** Loads the files, then the modules, each group in its order. Fails in one line that says where and why. */
export async function load(sources: Sources, options: BundleOptions): Promise<void> {
  if (arePlain(sources) && (await loadPlain(sources))) return;
  await importBundle(await bundle(sources, options), sources.cwd);
}

/** How many handlers are declared by now. */
export function countHandlers(): number {
  const families = Object.values(getDefaultRegistry().handlers) as { readonly size: number }[];
  return families.reduce((total, { size }) => total + size, 0);
}

/**
 * JavaScript needs no translation: Node loads it as it is. It gives up where a bundle would do better, or would say
 * better what is wrong: if a file has imports that Node does not find, or is not JavaScript of today.
 */
async function loadPlain({ files, cwd }: Sources): Promise<boolean> {
  process.setSourceMapsEnabled(true);
  const before = countHandlers();
  for (const [index, file] of files.entries()) {
    const address = pathToFileURL(file);
    if (files.indexOf(file) < index) address.searchParams.set('load', String(index));
    try {
      await import(address.href);
    } catch (error) {
      // What is declared already would be declared twice.
      if (isForBundling(error) && countHandlers() === before) return false;
      throw explainLoadFailure(error, files, cwd);
    }
  }
  return true;
}

const FOR_BUNDLING = new Set(['ERR_MODULE_NOT_FOUND', 'ERR_UNKNOWN_FILE_EXTENSION', 'ERR_UNSUPPORTED_DIR_IMPORT']);

function isForBundling(error: unknown): boolean {
  return error instanceof SyntaxError || FOR_BUNDLING.has(String((error as { code?: unknown })?.code));
}
