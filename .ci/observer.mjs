/**
 * Observers have no influence: nothing that is told comes back.
 *
 * - `facts.tell(…)` is a statement of its own: nobody looks at what it returns;
 * - `facts.wants[…]` decides about telling, and about nothing else: what it guards is telling, by `facts.tell(…)` or by
 *   functions named `tell…`, and what is prepared for that.
 *
 * Where work is done in another way if it is told of, the file is listed here; a test shows that the work is the same.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { filesUnder, guard, packagesOf, place } from './fence.mjs';

/** These return something else if nobody wants the facts: the same work, but without telling. */
const sameWork = new Set([
  'core/src/execution/call.ts',
  'reactor/src/observing/patch-facts.ts',
  'webhooks/src/reviewing/reviewer.ts',
]);
/** Where facts are told of, and not told. */
const telling = 'core/src/observing/facts.ts';

/** @returns {string[]} one sentence per violation */
export function observerViolations(root) {
  return packagesOf(root).flatMap(({ name, path }) =>
    filesUnder(join(path, 'src'))
      .filter((file) => file.endsWith('.ts') && `${name}/src/${file}` !== telling)
      .flatMap((file) => {
        const text = readFileSync(join(path, 'src', file), 'utf8');
        if (!/\b(tell|wants)\b/.test(text)) return [];
        const parsed = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
        const found = violationsIn(parsed, { mayReturn: sameWork.has(`${name}/src/${file}`) });
        return found.map(
          ({ node, why }) => `${place(`packages/${name}/src/${file}`, text, node.getStart(parsed))} ${why}`,
        );
      }),
  );
}

function violationsIn(parsed, options) {
  const found = [];
  const visit = (node) => {
    if (isTell(node) && !isDropped(node)) found.push({ node, why: 'looks at what facts.tell() returns' });
    const why = isWants(node) ? whyNotGuarding(node, options) : undefined;
    if (why !== undefined) found.push({ node, why });
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  return found;
}

/** `facts.tell(…)`, `this.#facts.tell(…)`, … */
function isTell(node) {
  return (
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    node.expression.name.text === 'tell' &&
    isFacts(node.expression.expression)
  );
}

/** `facts.wants[…]`, or `wants[…]` of facts. */
function isWants(node) {
  if (!ts.isElementAccessExpression(node)) return false;
  const { expression, argumentExpression } = node;
  const isKind = ts.isStringLiteral(argumentExpression) && argumentExpression.text.includes('.');
  if (ts.isIdentifier(expression)) return expression.text === 'wants' && isKind;
  return (
    ts.isPropertyAccessExpression(expression) && expression.name.text === 'wants' && isFacts(expression.expression)
  );
}

function isFacts(node) {
  if (ts.isNonNullExpression(node) || ts.isParenthesizedExpression(node)) return isFacts(node.expression);
  if (ts.isIdentifier(node)) return node.text === 'facts';
  return ts.isPropertyAccessExpression(node) && /^#?facts$/.test(node.name.text);
}

/** As a statement of its own, or as all that a function does. */
function isDropped(node) {
  const { parent } = node;
  return (
    ts.isExpressionStatement(parent) ||
    ts.isVoidExpression(parent) ||
    (ts.isArrowFunction(parent) && parent.body === node)
  );
}

function whyNotGuarding(node, { mayReturn }) {
  let top = node;
  let isNegated = false;
  for (;;) {
    const { parent } = top;
    if (ts.isPrefixUnaryExpression(parent) && parent.operator === ts.SyntaxKind.ExclamationToken)
      isNegated = !isNegated;
    else if (!ts.isParenthesizedExpression(parent) && !isLogical(parent)) break;
    top = parent;
  }
  const { parent } = top;
  if (ts.isConditionalExpression(parent) && parent.condition === top) {
    const [told, untold] = isNegated ? [parent.whenFalse, parent.whenTrue] : [parent.whenTrue, parent.whenFalse];
    const isNothing = ts.isIdentifier(untold) && untold.text === 'undefined';
    return isTelling(told) && isNothing
      ? undefined
      : 'chooses by facts.wants between something else than telling and nothing';
  }
  if (!ts.isIfStatement(parent) || parent.expression !== top)
    return 'uses facts.wants for something else than a condition';
  if (parent.elseStatement !== undefined) return 'does something else if a fact is not wanted';
  if (!isNegated)
    return isTellingStatement(parent.thenStatement) ? undefined : 'guards something else than telling by facts.wants';
  const leaving = single(parent.thenStatement);
  if (leaving === undefined || !ts.isReturnStatement(leaving)) return 'does something if a fact is not wanted';
  if (leaving.expression !== undefined) return mayReturn ? undefined : 'returns something else if a fact is not wanted';
  const rest = restAfter(parent);
  return rest?.every(isTellingStatement) ? undefined : 'leaves more than telling undone if a fact is not wanted';
}

function isLogical(node) {
  if (!ts.isBinaryExpression(node)) return false;
  const { kind } = node.operatorToken;
  return kind === ts.SyntaxKind.AmpersandAmpersandToken || kind === ts.SyntaxKind.BarBarToken;
}

/** Telling, and what is prepared for it. */
function isTellingStatement(node) {
  if (ts.isBlock(node)) return node.statements.every(isTellingStatement);
  if (ts.isVariableStatement(node)) return true;
  if (ts.isIfStatement(node)) return node.elseStatement === undefined && isTellingStatement(node.thenStatement);
  if (!ts.isExpressionStatement(node)) return false;
  const { expression } = node;
  const isAssigned = ts.isBinaryExpression(expression) && expression.operatorToken.kind === ts.SyntaxKind.EqualsToken;
  return isTelling(isAssigned ? expression.right : expression);
}

/** `facts.tell(…)`, `tellCause(…)`, `this.#tell(…)`, `tellerOf(…)(…)`, `done.then(tell, …)`. */
function isTelling(node) {
  if (ts.isVoidExpression(node)) return isTelling(node.expression);
  if (!ts.isCallExpression(node)) return false;
  const { expression } = node;
  if (ts.isCallExpression(expression)) return isTelling(expression);
  if (ts.isIdentifier(expression)) return /^tell/.test(expression.text);
  if (!ts.isPropertyAccessExpression(expression)) return false;
  const isFollowing = expression.name.text === 'then' && node.arguments.every((one) => isTeller(one));
  return /^#?tell/.test(expression.name.text) || isFollowing;
}

/** What is called later, to tell. */
function isTeller(node) {
  if (ts.isIdentifier(node)) return /^tell/.test(node.text);
  return ts.isArrowFunction(node) && isTelling(node.body);
}

function single(statement) {
  if (!ts.isBlock(statement)) return statement;
  return statement.statements.length === 1 ? statement.statements[0] : undefined;
}

function restAfter(statement) {
  const { statements } = statement.parent;
  return statements?.slice(statements.indexOf(statement) + 1);
}

guard(import.meta.url, 'Observers have no influence on what they observe.', observerViolations);
