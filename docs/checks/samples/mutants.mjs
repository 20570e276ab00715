/** A sample without the feature that it is about. */
import ts from 'typescript';

/**
 * What begins with that text is removed as a whole, if it is a statement, a property, or an argument; or else exactly
 * that text is replaced. Lines stay where they are.
 *
 * @returns {string} the source without it; throws if there is nothing to remove, or if no program is left
 */
export function mutant(source, { without, with: replacement }) {
  const at = source.indexOf(without);
  if (at === -1) throw new Error(`There is no '${without}' to be removed.`);
  const [start, end] = replacement === undefined ? extentOf(source, at, without.length) : [at, at + without.length];
  const gone = source.slice(start, end);
  const kept = replacement ?? '';
  const padding = '\n'.repeat(Math.max(0, gone.split('\n').length - kept.split('\n').length));
  const result = source.slice(0, start) + kept + padding + source.slice(end);
  const { diagnostics = [] } = ts.transpileModule(result, {
    reportDiagnostics: true,
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ESNext },
  });
  if (diagnostics.length > 0) {
    const why = ts.flattenDiagnosticMessageText(diagnostics[0].messageText, ' ');
    throw new Error(`Without '${without}', it is no program: ${why}`);
  }
  return result;
}

function extentOf(source, at, length) {
  const file = ts.createSourceFile('sample.ts', source, ts.ScriptTarget.ESNext, true);
  /** The largest one that begins there. */
  let found;
  const visit = (node) => {
    if (found !== undefined || node.end <= at || node.pos > at) return;
    if (node.getStart(file) === at && node.end >= at + length && isRemovable(node)) found = node;
    else ts.forEachChild(node, visit);
  };
  visit(file);
  if (found === undefined) return [at, at + length];
  if (ts.isStatement(found)) return [at, found.end];
  const comma = /^\s*,/.exec(source.slice(found.end));
  if (comma !== null) return [at, found.end + comma[0].length];
  const before = /,\s*$/.exec(source.slice(0, at));
  return [before === null ? at : at - before[0].length, found.end];
}

function isRemovable(node) {
  if (ts.isStatement(node) || ts.isObjectLiteralElement(node) || ts.isDecorator(node)) return true;
  const { parent } = node;
  if (parent === undefined) return false;
  if (ts.isArrayLiteralExpression(parent)) return true;
  return ts.isCallExpression(parent) && parent.arguments.includes(node);
}
