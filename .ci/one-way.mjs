/**
 * An event goes through the reactor in one direction: streams → objects → cycle → sending, and from there to the cluster.
 *
 * - a room on that way imports only what is after it; what comes back are return values;
 * - of the owners of objects, others import only what decides or compares: nobody reaches for an owner;
 * - rooms beside the way import nothing of it, and nothing on the way imports them: `reactor.ts` puts them together.
 *
 * Types may be looked at from everywhere: they do nothing.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { filesUnder, guard, place } from './fence.mjs';

const source = 'packages/reactor/src';
/** Each room on the way, and the rooms that it may import from. */
const way = {
  queueing: ['objects'],
  objects: ['daemons', 'observing'],
  cycle: ['objects', 'daemons', 'sending', 'observing'],
  daemons: ['objects', 'sending', 'observing'],
  sending: ['observing'],
  observing: ['objects'],
};
/** Of the owners' room, what others than streams may import: it only looks at data. */
const harmless = new Set(['versions', 'known', 'news', 'breaker', 'throttling'].map((name) => `objects/${name}.js`));
/** Of the daemons' room, what the owners may import: it only keeps them. */
const kept = new Set(['daemons/object-daemons.js']);

/** @returns {string[]} one sentence per violation */
export function oneWayViolations(root) {
  const folder = join(root, source);
  return filesUnder(folder)
    .filter((file) => file.endsWith('.ts') && file.includes('/'))
    .flatMap((file) => {
      const text = readFileSync(join(folder, file), 'utf8');
      const parsed = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
      return valueImports(parsed).flatMap(({ node, target }) => {
        const why = whyNot(roomOf(file), target);
        return why === undefined ? [] : [`${place(`${source}/${file}`, text, node.getStart(parsed))} ${why}`];
      });
    });
}

function whyNot(from, target) {
  const to = roomOf(target);
  if (to === from || to === undefined) return undefined;
  const isOnWay = Object.hasOwn(way, from);
  if (!isOnWay && !Object.hasOwn(way, to)) return undefined;
  if (!isOnWay) return `is beside the way of events, and imports ${target} of it`;
  if (!way[from].includes(to)) return `imports ${target}: ${to} does not come after ${from}`;
  if (to === 'objects' && from !== 'queueing' && !harmless.has(target)) return `reaches for the owners: ${target}`;
  if (from === 'objects' && to === 'daemons' && !kept.has(target)) return `leads daemons by itself: ${target}`;
  return undefined;
}

/** What is left of the imports at run time, as paths from the sources of the reactor. */
function valueImports(parsed) {
  return parsed.statements.flatMap((node) => {
    if (!ts.isImportDeclaration(node) && !ts.isExportDeclaration(node)) return [];
    const specifier = node.moduleSpecifier?.text;
    if (specifier === undefined || !specifier.startsWith('../') || isOfTypes(node)) return [];
    return [{ node, target: specifier.slice('../'.length) }];
  });
}

function isOfTypes(node) {
  const clause = ts.isImportDeclaration(node) ? node.importClause : node;
  if (clause?.isTypeOnly) return true;
  const named = ts.isImportDeclaration(node) ? clause?.namedBindings : clause?.exportClause;
  if (named === undefined || !('elements' in named)) return false;
  return !clause.name && named.elements.length > 0 && named.elements.every((element) => element.isTypeOnly);
}

/** `undefined` for files that are in no room. */
function roomOf(path) {
  return path.includes('/') ? path.split('/')[0] : undefined;
}

guard(import.meta.url, 'Events go one way through the reactor.', oneWayViolations);
