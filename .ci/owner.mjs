/**
 * What is known of an object has one writer: its owner, `packages/reactor/src/objects/object.ts`.
 *
 * - its private state is assigned in one method each, and nowhere else;
 * - nothing that the folder exports can be written to: no setters, no properties that are not readonly, no mutable
 *   collections;
 * - nobody else in the reactor assigns to what an owner gives away;
 * - the files that only decide do nothing but decide: they wait for nothing, and import nothing that acts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { filesUnder, guard, place } from './fence.mjs';

const source = 'packages/reactor/src';
const owner = 'objects/object.ts';
/** Each private field of the owner that matters, and the only method that may assign it. */
const assigned = { '#state': '#become', '#known': '#learn' };
/** What the owner gives away to be looked at. */
const given = new Set(['known', 'state', 'daemons', 'seen', 'writes', 'unsent', 'breaker']);
/** Files that decide, and do not act. */
const deciding = new Set(
  ['transitions', 'known', 'news', 'breaker', 'versions'].map((name) => `objects/${name}.ts`).concat('cycle/decide.ts'),
);
const mayWait = new Set(['cycle/decide.ts']);
const acting = /\/(sending|daemons|posting|running|queueing)\/|\/object\.js$/;

/** @returns {string[]} one sentence per violation */
export function ownerViolations(root) {
  const folder = join(root, source);
  return filesUnder(folder)
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const text = readFileSync(join(folder, file), 'utf8');
      const parsed = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
      const found = [
        ...strayAssignments(parsed, file),
        ...(file.startsWith('objects/') ? writableMembers(parsed) : []),
        ...(deciding.has(file) ? actions(parsed, file) : []),
      ];
      return found.map(({ node, why }) => `${place(`${source}/${file}`, text, node.getStart(parsed))} ${why}`);
    });
}

/** Every node, with its ancestors' method. */
function walk(node, visit, method) {
  const inside = ts.isMethodDeclaration(node) || ts.isConstructorDeclaration(node) ? node : method;
  visit(node, inside);
  ts.forEachChild(node, (child) => walk(child, visit, inside));
}

function strayAssignments(parsed, file) {
  const found = [];
  walk(parsed, (node, method) => {
    const target = targetOf(node);
    if (target === undefined || !ts.isPropertyAccessExpression(target)) return;
    const name = target.name.text;
    if (file === owner && Object.hasOwn(assigned, name)) {
      const where = method?.name?.getText(parsed);
      if (where !== assigned[name]) found.push({ node, why: `assigns ${name} outside of ${assigned[name]}()` });
      return;
    }
    if (given.has(name) && target.expression.kind !== ts.SyntaxKind.ThisKeyword) {
      found.push({ node, why: `assigns '${name}', which belongs to the owner of an object` });
    }
  });
  return found;
}

/** What is changed by the node, if it is an assignment, an increment or a deletion. */
function targetOf(node) {
  if (ts.isBinaryExpression(node)) {
    const { kind } = node.operatorToken;
    const isAssignment = kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
    return isAssignment ? node.left : undefined;
  }
  if (ts.isDeleteExpression(node)) return node.expression;
  const isStep = ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node);
  const steps = [ts.SyntaxKind.PlusPlusToken, ts.SyntaxKind.MinusMinusToken];
  return isStep && steps.includes(node.operator) ? node.operand : undefined;
}

function writableMembers(parsed) {
  const found = [];
  walk(parsed, (node) => {
    if (ts.isSetAccessor(node)) found.push({ node, why: `has a setter: ${node.name.getText(parsed)}` });
    const isProperty = ts.isPropertyDeclaration(node) || ts.isPropertySignature(node);
    if (isProperty && !ts.isPrivateIdentifier(node.name) && !isReadonly(node)) {
      found.push({ node, why: `has a property that can be written to: ${node.name.getText(parsed)}` });
    }
    const isSeen = (isProperty || ts.isGetAccessor(node)) && !ts.isPrivateIdentifier(node.name);
    if (isSeen && node.type !== undefined && isMutableCollection(node.type.getText(parsed))) {
      found.push({ node, why: `gives away a collection that can be written to: ${node.name.getText(parsed)}` });
    }
  });
  return found;
}

function isReadonly(node) {
  return (node.modifiers ?? []).some(({ kind }) => kind === ts.SyntaxKind.ReadonlyKeyword);
}

function isMutableCollection(type) {
  return /^(Map|Set|Array)</.test(type) || (/\[\](\s*\|\s*undefined)?$/.test(type) && !type.startsWith('readonly '));
}

function actions(parsed, file) {
  const found = [];
  walk(parsed, (node) => {
    if (ts.isAwaitExpression(node) && !mayWait.has(file))
      found.push({ node, why: 'waits, though it is to decide only' });
    if (!ts.isImportDeclaration(node) || node.importClause?.isTypeOnly) return;
    const path = node.moduleSpecifier.text;
    if (acting.test(path)) found.push({ node, why: `imports ${path}, though it is to decide only` });
  });
  return found;
}

guard(import.meta.url, 'What is known of an object is written by its owner only.', ownerViolations);
