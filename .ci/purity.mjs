/**
 * Core is pure: time comes by `Clock`, logs by `Logger`, the network by `KubeClient`, the environment not at all.
 *
 * Reads the sources by TypeScript's own parser and scopes, so that a method named `fetch`, a parameter named
 * `process`, a comment or a string offends nobody, while `globalThis['setTimeout']` does.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { filesUnder, guard, place } from './fence.mjs';

const clock = 'time comes by Clock';
/** Globals that core never touches, and what to use instead. */
const forbiddenGlobals = {
  setTimeout: clock,
  setInterval: clock,
  setImmediate: clock,
  performance: clock,
  console: 'logs go to Logger',
  process: 'the environment belongs to the program that starts the operator',
  fetch: 'requests go through KubeClient',
  WebSocket: 'requests go through KubeClient',
  EventSource: 'requests go through KubeClient',
};
/** Members of otherwise harmless globals. */
const forbiddenMembers = {
  'Date.now': clock,
  'AbortSignal.timeout': clock,
};
const globalObjects = new Set(['globalThis', 'global', 'self', 'window']);

/** @returns {string[]} one sentence per impure place */
export function purityViolations(root) {
  const source = join(root, 'packages/core/src');
  const files = filesUnder(source).filter((file) => /\.[cm]?ts$/.test(file));
  const program = parse(files.map((file) => [join(source, file), readFileSync(join(source, file), 'utf8')]));
  const checker = program.getTypeChecker();
  return files.flatMap((file) => {
    const parsed = program.getSourceFile(join(source, file));
    return impurities(parsed, checker).map(
      ({ node, what, why }) =>
        `${place(`packages/core/src/${file}`, parsed.text, node.getStart(parsed))} uses ${what}: ${why}`,
    );
  });
}

/** Only these files, without libraries: whatever is declared in none of them is a global. */
function parse(files) {
  const texts = new Map(files);
  const options = {
    noLib: true,
    noResolve: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    types: [],
  };
  const host = {
    ...ts.createCompilerHost(options),
    fileExists: (name) => texts.has(name),
    readFile: (name) => texts.get(name),
    getSourceFile: (name, version) =>
      texts.has(name) ? ts.createSourceFile(name, texts.get(name), version, true) : undefined,
  };
  return ts.createProgram([...texts.keys()], options, host);
}

function impurities(parsed, checker) {
  const found = [];
  const report = (node, what, why) => found.push({ node, what, why });
  const isGlobal = (node) => ts.isIdentifier(node) && (symbolOf(node, checker)?.declarations ?? []).length === 0;

  const visit = (node) => {
    // Types erase: `typeof fetch` in a signature calls nothing.
    if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return;
    const member = memberOf(node);
    if (member !== undefined && isGlobal(member.object)) {
      const { text } = member.object;
      const name = globalObjects.has(text) ? member.name : `${text}.${member.name}`;
      const why = globalObjects.has(text) ? whyGlobal(name) : whyMember(name);
      if (why !== undefined) report(node, name, why);
    }
    for (const name of destructured(node, isGlobal)) {
      const why = whyGlobal(name) ?? whyMember(name);
      if (why !== undefined) report(node, name, why);
    }
    if (ts.isIdentifier(node) && isReference(node) && isGlobal(node)) {
      const why = whyGlobal(node.text);
      if (why !== undefined) report(node, node.text, why);
    }
    if (readsTheClock(node) && isGlobal(node.expression)) report(node, 'the current Date', clock);
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  return found;
}

/** In `{ fetch }`, the symbol asked for is the variable's, not the new property's. */
function symbolOf(node, checker) {
  return ts.isShorthandPropertyAssignment(node.parent)
    ? checker.getShorthandAssignmentValueSymbol(node.parent)
    : checker.getSymbolAtLocation(node);
}

function whyGlobal(name) {
  return Object.hasOwn(forbiddenGlobals, name) ? forbiddenGlobals[name] : undefined;
}

function whyMember(name) {
  return Object.hasOwn(forbiddenMembers, name) ? forbiddenMembers[name] : undefined;
}

/** `object.name` and `object['name']`. */
function memberOf(node) {
  if (ts.isPropertyAccessExpression(node)) return { object: node.expression, name: node.name.text };
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
    return { object: node.expression, name: node.argumentExpression.text };
  }
  return undefined;
}

/** `const { now } = Date`, `const { setTimeout: later } = globalThis`: names as if they were written with a dot. */
function destructured(node, isGlobal) {
  if (!ts.isVariableDeclaration(node) || !ts.isObjectBindingPattern(node.name)) return [];
  if (node.initializer === undefined || !isGlobal(node.initializer)) return [];
  const object = node.initializer.text;
  return node.name.elements
    .map((element) => (element.propertyName ?? element.name).text)
    .map((name) => (globalObjects.has(object) ? name : `${object}.${name}`));
}

/** `new Date()` and `Date()` tell the time; `new Date(x)` only converts. */
function readsTheClock(node) {
  const made = ts.isNewExpression(node) && (node.arguments ?? []).length === 0;
  const called = ts.isCallExpression(node);
  return (made || called) && ts.isIdentifier(node.expression) && node.expression.text === 'Date';
}

/** Is this name a use of something, and not the name of a member, a key, or a label? */
function isReference(node) {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isQualifiedName(parent)) return false;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  if (ts.isBindingElement(parent)) return parent.initializer === node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  if (ts.isExportSpecifier(parent) || ts.isImportSpecifier(parent)) return false;
  if (ts.isLabeledStatement(parent) || ts.isBreakOrContinueStatement(parent)) return false;
  return parent.name !== node;
}

guard(import.meta.url, 'Core is pure: no timers, clocks, consoles, processes, or requests.', purityViolations);
