/** Bundles → modules that are loaded. Where there is nowhere to write, they are loaded from memory. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Bundle } from './bundle.js';
import { explainLoadFailure } from './problems.js';

/** Loads the bundle: what is declared in its files is declared then. */
export async function importBundle(bundle: Bundle, cwd: string): Promise<void> {
  process.setSourceMapsEnabled(true);
  const place = await placeFor(bundle);
  try {
    await import(place.address);
  } catch (error) {
    throw explainLoadFailure(error, bundle.inputs, cwd);
  } finally {
    await place.remove();
  }
}

interface Place {
  readonly address: string;
  remove(): Promise<void>;
}

/** Where there is some place even on read-only file systems, as containers should have them. */
const SHARED_MEMORY = '/dev/shm';

async function placeFor({ code, folder, name }: Bundle): Promise<Place> {
  const file = `.kopf-${name}-${process.pid}-${nextNumber()}.mjs`;
  const folders = folder === undefined ? [tmpdir(), SHARED_MEMORY] : [folder];
  for (const place of folders) {
    try {
      return folder === undefined ? await temporary(place, file, code) : await written(join(place, file), code);
    } catch {
      // There may be another one.
    }
  }
  // Then from memory. Node maps no stack traces there; but at least, it has a name.
  const named = `${code}\n//# sourceURL=${pathToFileURL(join(folder ?? tmpdir(), file)).href}\n`;
  return { address: `data:text/javascript;base64,${Buffer.from(named).toString('base64')}`, remove: async () => {} };
}

async function temporary(place: string, file: string, code: string): Promise<Place> {
  const folder = await mkdtemp(join(place, 'kopf-'));
  const { address } = await written(join(folder, file), code);
  return { address, remove: () => rm(folder, { recursive: true, force: true }) };
}

async function written(path: string, code: string): Promise<Place> {
  await writeFile(path, code, { flag: 'wx' });
  return { address: pathToFileURL(path).href, remove: () => rm(path, { force: true }) };
}

let lastNumber = 0;

/** Modules are remembered by their names for as long as the process lives. */
function nextNumber(): number {
  lastNumber += 1;
  return lastNumber;
}
