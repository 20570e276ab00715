/**
 * The star holds: leaves import only core, core imports nothing, and core's inner layers look one way.
 *
 * Reads every import in `packages/…/src` — also `import type`, also `import()`; types are a dependency, too.
 * Tests are free: they reach any package by name.
 */
import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, posix } from 'node:path';
import ts from 'typescript';
import { filesUnder, guard, packagesOf, place } from './fence.mjs';
import { faces, layerOf, layers } from './layers.mjs';

/** The only doors that core has to the outside. */
const allowedInCore = new Set(['node:async_hooks', 'node:crypto']);
/** What a leaf may take from its siblings. */
const allowedInLeaves = new Set(['@kopf-ts/core', '@kopf-ts/core/engine']);
const builtins = new Set(builtinModules.map((name) => `node:${name}`));

/** @returns {string[]} one sentence per forbidden import */
export function graphViolations(root) {
  const packages = packagesOf(root);
  return [...packages.flatMap(importsOutOfPlace), ...layerCycles(packages)];
}

function importsOutOfPlace(pkg) {
  return importsOf(pkg).flatMap((imported) => {
    const why = relativeProblem(pkg, imported) ?? packageProblem(pkg, imported);
    return why === undefined ? [] : [`${imported.where} imports '${imported.specifier}': ${why}`];
  });
}

/** Every import of a package's sources: from which file, of what, and where it is written. */
function importsOf({ name, path }) {
  return filesUnder(join(path, 'src'))
    .filter((file) => /\.[cm]?[jt]sx?$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(path, 'src', file), 'utf8');
      return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName, pos }) => ({
        file,
        specifier: fileName,
        where: place(`packages/${name}/src/${file}`, text, pos),
      }));
    });
}

function relativeProblem(pkg, { file, specifier }) {
  if (!specifier.startsWith('.')) return undefined;
  const target = targetOf(file, specifier);
  if (target.startsWith('../')) return 'relative imports stay within the sources of their own package';
  if (pkg.name !== 'core') return undefined;

  const from = layerOf(file);
  const to = layerOf(target);
  if (faces.includes(from) || from === to) return undefined;
  if (faces.includes(to)) return `'${to}' is the public face; take it from where it is made`;
  if (!Object.hasOwn(layers, from)) return `'${from}' is none of core's layers (${Object.keys(layers).join(', ')})`;
  if (layers[from].includes(to)) return undefined;
  return `'${from}' may import only ${['itself', ...layers[from]].join(', ')}`;
}

function packageProblem(pkg, { specifier }) {
  if (specifier.startsWith('.')) return undefined;
  if (pkg.name === 'core') {
    return allowedInCore.has(specifier) ? undefined : `core imports nothing but ${[...allowedInCore].join(' and ')}`;
  }
  if (specifier.startsWith('node:')) return builtins.has(specifier) ? undefined : 'there is no such builtin';
  if (builtins.has(`node:${specifier}`)) return `write 'node:${specifier}'`;

  const sibling = specifier === 'kopf-ts' || specifier.startsWith('kopf-ts/') || specifier.startsWith('@kopf-ts/');
  const isMeta = pkg.name === 'kopf-ts';
  if (sibling && /^(@kopf-ts\/[^/]+|kopf-ts)\/(src|dist)(\/|$)/.test(specifier))
    return 'packages are entered by their exports only';
  if (sibling && !isMeta && !allowedInLeaves.has(specifier))
    return 'leaves import only @kopf-ts/core, never each other';

  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  const { dependencies = {}, peerDependencies = {}, optionalDependencies = {} } = pkg.manifest;
  const declared = [dependencies, peerDependencies, optionalDependencies].some((group) => Object.hasOwn(group, name));
  return declared ? undefined : `'${name}' is not declared in packages/${pkg.name}/package.json`;
}

/** The table allows some pairs of layers either way round; only one way round may be used. What it forbids is told above. */
function layerCycles(packages) {
  const core = packages.find(({ name }) => name === 'core');
  if (core === undefined) return [];
  const edges = new Map();
  for (const { file, specifier } of importsOf(core)) {
    if (!specifier.startsWith('.')) continue;
    const from = layerOf(file);
    const to = layerOf(targetOf(file, specifier));
    if (layers[from]?.includes(to)) edges.set(from, (edges.get(from) ?? new Set()).add(to));
  }
  return cycles(edges).map((cycle) => `core's layers import each other in a circle: ${cycle.join(' → ')}`);
}

/** Each circle once, told from its alphabetically first member. */
function cycles(edges) {
  const found = new Map();
  const walk = (path) => {
    for (const next of edges.get(path.at(-1)) ?? []) {
      if (next === path[0]) found.set(path.join(), [...path, next]);
      else if (next > path[0] && !path.includes(next)) walk([...path, next]);
    }
  };
  for (const start of edges.keys()) walk([start]);
  return [...found.values()];
}

function targetOf(file, specifier) {
  return posix.join(posix.dirname(file), specifier);
}

guard(import.meta.url, 'The star of packages holds, and so do the layers of core.', graphViolations);
