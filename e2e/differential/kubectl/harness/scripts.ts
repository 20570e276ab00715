import { readdir, readFile } from 'node:fs/promises';
import { parseScripts, type Script } from './script.js';

const folder = new URL('../scripts/', import.meta.url);

/** All the scripts of the suite, by topic. */
export async function readScripts(): Promise<Script[]> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.kubectl')).sort();
  const read = async (file: string) =>
    parseScripts(file.replace(/\.kubectl$/, ''), await readFile(new URL(file, folder), 'utf8'));
  return (await Promise.all(files.map(read))).flat();
}
