/**
 * What package.json promises is what the build made, and the other way round.
 *
 * Every target of `exports` and `bin` exists; every built file is such a target, or is reached from one (commands are
 * in `bin/`, so that they can be linked before anything is built, and lead to the built files);
 * and each entry leads to the source, the types and the code of the same module, in the order in which
 * resolvers have to see them. Needs a build.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';
import { filesUnder, guard, packagesOf } from './fence.mjs';

/** The conditions of an entry. Resolvers take the first that fits, so the order is a part of the promise. */
const conditions = ['@kopf-ts/source', 'types', 'default'];

/** @returns {string[]} one sentence per broken promise */
export function exportsViolations(root) {
  return packagesOf(root).flatMap((pkg) => {
    const problems = [...entryProblems(pkg), ...missingFiles(pkg), ...unpublished(pkg), ...strayFiles(pkg)];
    return problems.map((problem) => `packages/${pkg.name}: ${problem}`);
  });
}

function entryProblems({ manifest }) {
  if (manifest.exports === undefined) return ["package.json has no 'exports'"];
  return Object.entries(manifest.exports).flatMap(([entry, target]) => {
    if (typeof target === 'string') return [];
    const keys = Object.keys(target);
    if (keys.join() !== conditions.join()) {
      return [`'${entry}' has the conditions ${keys.join(', ')}; expected ${conditions.join(', ')}, in this order`];
    }
    const [source, types, code] = conditions.map((condition) => target[condition]);
    const module = /^\.\/dist\/(.+)\.js$/.exec(code)?.[1];
    if (module === undefined) return [`'${entry}' leads to ${code}, which is no module in ./dist`];
    const agree = source === `./src/${module}.ts` && types === `./dist/${module}.d.ts`;
    return agree ? [] : [`'${entry}' mixes modules: ${source}, ${types}, ${code}`];
  });
}

function missingFiles({ path, manifest }) {
  return targets(manifest)
    .filter((target) => !existsSync(join(path, target)))
    .map((target) => `package.json leads to ${target}, and there is no such file`);
}

/** A target that exists here but is not in the tarball exists only here. */
function unpublished({ manifest }) {
  const published = [...(manifest.files ?? []), 'package.json', 'README.md', 'LICENSE'];
  return targets(manifest)
    .map((target) => posix.normalize(target))
    .filter((target) => !published.some((file) => target === file || target.startsWith(`${file}/`)))
    .map((target) => `package.json leads to ./${target}, and its 'files' leave it out`);
}

function strayFiles({ path, manifest }) {
  const built = filesUnder(join(path, 'dist')).map((file) => `dist/${file}`);
  const reached = new Set();
  const reach = (file) => {
    if (reached.has(file) || !(built.includes(file) || isCommand(file))) return;
    reached.add(file);
    for (const next of relativeImports(join(path, file)))
      reach(builtTarget(posix.join(posix.dirname(file), next), file));
  };
  const isCommand = (file) => posix.dirname(file) === 'bin' && existsSync(join(path, file));
  for (const target of targets(manifest)) reach(posix.normalize(target));
  return built
    .filter((file) => !reached.has(file.replace(/\.map$/, '')))
    .map((file) => `${file} is built, and package.json leads to it from nowhere`);
}

function relativeImports(file) {
  const text = readFileSync(file, 'utf8');
  const { importedFiles } = ts.preProcessFile(text, true, true);
  // The quick look of the compiler loses its way in quotes inside of regular expressions, and all that comes after them.
  const lazily = [...text.matchAll(/\bimport\(\s*["']([^"']+)["']/g)].map(([, name]) => name);
  return [...importedFiles.map(({ fileName }) => fileName), ...lazily].filter((name) => name.startsWith('.'));
}

/** Declarations import `./chunk.js` and mean `./chunk.d.ts`. */
function builtTarget(target, importer) {
  return importer.endsWith('.d.ts') ? target.replace(/\.js$/, '.d.ts') : target;
}

/** All files that package.json names to its users. */
function targets({ exports = {}, bin = {} }) {
  const leaves = (value) => (typeof value === 'string' ? [value] : Object.values(value).flatMap(leaves));
  return [...new Set([exports, bin].flatMap(leaves))];
}

guard(import.meta.url, "Every package's exports and build agree, both ways.", exportsViolations);
