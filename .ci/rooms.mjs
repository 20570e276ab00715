/**
 * A newcomer finds a file by its name: a folder of sources has no more files than fit into one look, and no two files
 * of one package share a name. Every folder may have an `index.ts`; tests and data are free.
 */
import { join, posix } from 'node:path';
import { filesUnder, guard, packagesOf } from './fence.mjs';

const most = 12;

/** @returns {string[]} one sentence per crowded folder, and one per name that is taken twice */
export function roomViolations(root) {
  return packagesOf(root).flatMap(({ name, path }) => {
    const files = filesUnder(join(path, 'src')).map((file) => `packages/${name}/src/${file}`);
    return [...crowded(files), ...namesakes(files)];
  });
}

function crowded(files) {
  return [...grouped(files, posix.dirname)]
    .filter(([, inside]) => inside.length > most)
    .map(([folder, inside]) => `${folder} has ${inside.length} loose files: more than ${most} need rooms`);
}

function namesakes(files) {
  const sources = files.filter((file) => file.endsWith('.ts') && posix.basename(file) !== 'index.ts');
  return [...grouped(sources, (file) => posix.basename(file))]
    .filter(([, inside]) => inside.length > 1)
    .map(([name, inside]) => `'${name}' is the name of ${inside.length} files: ${inside.join(', ')}`);
}

/** `Map.groupBy`, which the oldest Node we support does not have. */
function grouped(files, keyOf) {
  const groups = new Map();
  for (const file of files) groups.set(keyOf(file), [...(groups.get(keyOf(file)) ?? []), file]);
  return groups;
}

guard(import.meta.url, 'No folder of sources is crowded, and each name is the name of one file.', roomViolations);
