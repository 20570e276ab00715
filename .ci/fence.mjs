/** What all the fences share: where the workspace is, how its sources are read, how they report. */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('..', import.meta.url));

/** All files under a folder, as paths from that folder with forward slashes, sorted; none if there is no folder. */
export function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

/** The packages of a workspace: their folder names, paths and manifests. */
export function packagesOf(root) {
  const folder = join(root, 'packages');
  return readdirSync(folder)
    .sort()
    .map((name) => ({ name, path: join(folder, name) }))
    .filter(({ path }) => existsSync(join(path, 'package.json')))
    .map(({ name, path }) => ({ name, path, manifest: JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) }));
}

/** Where a position is, for people: `file:line`. */
export function place(file, text, position) {
  return `${file}:${text.slice(0, position).split('\n').length}`;
}

/**
 * The command-line side of a fence: `node .ci/<fence>.mjs [root]` lists what is wrong and fails if anything is.
 * Does nothing when the module is only imported, as the tests do.
 *
 * @param {string} url `import.meta.url` of the fence
 * @param {string} promise what holds when the fence is silent
 * @param {(root: string) => readonly string[]} violations
 */
export function guard(url, promise, violations) {
  if (argv[1] === undefined || fileURLToPath(url) !== realpathSync(argv[1])) return;
  const found = violations(argv[2] ?? home);
  for (const violation of found) console.error(`✗ ${violation}`);
  if (found.length === 0) console.log(`✓ ${promise}`);
  else process.exitCode = 1;
}
