/** What handlers are loaded from: files and modules, as they are given on the command line. */
import { stat } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import { Failure } from '../failures.js';

export interface Sources {
  /** Absolute paths; each is loaded, also if it is there twice. */
  readonly files: readonly string[];
  /** As they would be imported from a file in the current folder. */
  readonly modules: readonly string[];
  readonly cwd: string;
}

const JAVASCRIPT = new Set(['.js', '.mjs', '.cjs']);
const TYPESCRIPT = new Set(['.ts', '.mts', '.cts']);

/** Finds the files, or says which one is not there. */
export async function findSources(paths: readonly string[], modules: readonly string[], cwd: string): Promise<Sources> {
  const files = paths.map((path) => resolve(cwd, path));
  for (const [index, file] of files.entries()) await check(file, paths[index] ?? file, cwd);
  return { files, modules, cwd };
}

async function check(file: string, given: string, cwd: string): Promise<void> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') {
      throw new Failure(`There is no file "${given}" in ${cwd}. Is the path of the handlers right?`);
    }
    throw new Failure(`The file "${given}" cannot be read: ${error.message}`, { cause: error });
  });
  if (found.isDirectory()) throw new Failure(`"${given}" is a folder. Name the files with handlers in it.`);
  if (!JAVASCRIPT.has(extname(file)) && !TYPESCRIPT.has(extname(file))) {
    const known = [...TYPESCRIPT, ...JAVASCRIPT].join(', ');
    throw new Failure(`"${given}" is neither TypeScript nor JavaScript. Handlers are loaded from files with ${known}.`);
  }
}

/** Whether Node can load them as they are. */
export function arePlain({ files, modules }: Sources): boolean {
  return modules.length === 0 && files.every((file) => JAVASCRIPT.has(extname(file)));
}

/** The folder where the handlers are at home: that of the only or first file, or the current one. */
export function homeOf({ files: [first], cwd }: Sources): string {
  return first === undefined ? cwd : dirname(first);
}

/** In words, for messages. */
export function titleOf({ files, modules, cwd }: Sources): string {
  return [...files.map((file) => shortPath(file, cwd)), ...modules].join(', ');
}

/** As the person would write it: from the current folder, if the file is there. */
export function shortPath(path: string, cwd: string): string {
  const prefix = cwd.endsWith('/') || cwd.endsWith('\\') ? cwd : `${cwd}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}
