/**
 * Every public name is shown in use: each export of `kopf-ts` and of `kopf-ts/testing`, and each export of the
 * packages that are namespaces there, has a TSDoc comment with an example in a `ts` block; and the examples compile.
 *
 * In an example, `kopf` is all of `kopf-ts`, the functions of vitest are at hand, and so are a few usual things with the
 * names that handlers and plugins know them by, see `usual`. Everything else an example imports or declares itself.
 */
import { join, relative } from 'node:path';
import ts from 'typescript';
import { guard, place } from './fence.mjs';

const entries = ['packages/kopf-ts/src/index.ts', 'packages/kopf-ts/src/testing.ts'];

const usual = `
import * as all from 'kopf-ts';
declare global {
  export import kopf = all;
  const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it }: typeof import('vitest');
  const logger: all.Logger;
  const clock: all.Clock;
  const client: all.KubeClient;
  const signal: AbortSignal;
  const body: all.Body;
  const api: all.Api;
  const settings: all.Settings;
}
`;

/** @returns {string[]} one sentence per name without an example, and one per mistake in an example */
export function exampleViolations(root) {
  const program = programOf(root, new Map());
  const documented = publicNames(root, program).map((name) => ({ ...name, examples: examplesOf(name.symbol) }));
  const missing = documented
    .filter(({ examples }) => examples.length === 0)
    .map(({ path, where }) => `${where}: '${path}' has no example in its TSDoc`);
  return [...missing, ...mistakesIn(root, documented)];
}

/** All names by which users reach something, each symbol once. */
function publicNames(root, program) {
  const checker = program.getTypeChecker();
  const found = new Map();
  const visit = (module, prefix) => {
    for (const exported of checker.getExportsOfModule(module)) {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      const path = `${prefix}${exported.name}`;
      const [declaration] = symbol.declarations ?? [];
      if (declaration === undefined) continue;
      if (ts.isSourceFile(declaration)) visit(symbol, `${path}.`);
      else if (!found.has(symbol)) found.set(symbol, { path, symbol, where: whereIs(root, declaration) });
    }
  };
  for (const entry of entries) {
    const source = program.getSourceFile(join(root, entry));
    const module = source && checker.getSymbolAtLocation(source);
    if (module !== undefined) visit(module, '');
  }
  return [...found.values()];
}

/** The `ts` blocks of all comments of a name. */
function examplesOf(symbol) {
  return (symbol.declarations ?? []).flatMap((declaration) => {
    const source = declaration.getSourceFile();
    const node = documentedNode(declaration);
    const comments = ts.getLeadingCommentRanges(source.text, node.getFullStart()) ?? [];
    const last = comments.findLast(({ pos }) => source.text.startsWith('/**', pos));
    if (last === undefined) return [];
    const text = source.text.slice(last.pos, last.end);
    return [...text.matchAll(/```ts\n(.*?)```/gs)].map((block) => ({
      source,
      position: last.pos + block.index,
      code: block[1].replace(/^ *\*(?: |$)?/gm, ''),
    }));
  });
}

/** Comments of a variable are above its statement. */
function documentedNode(declaration) {
  return ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
}

function mistakesIn(root, documented) {
  const texts = new Map();
  const origins = new Map();
  for (const { examples } of documented) {
    for (const { source, position, code } of examples) {
      const file = join(root, `packages/kopf-ts/example-${texts.size}.ts`);
      texts.set(file, `${code}\nexport {};\n`);
      origins.set(file, { source, line: source.text.slice(0, position).split('\n').length });
    }
  }
  const program = programOf(root, texts);
  return [...origins].flatMap(([file, { source, line }]) => {
    const example = program.getSourceFile(file);
    const diagnostics = [...program.getSyntacticDiagnostics(example), ...program.getSemanticDiagnostics(example)];
    return diagnostics.map((diagnostic) => {
      const within = example.getLineAndCharacterOfPosition(diagnostic.start ?? 0).line;
      const what = ts.flattenDiagnosticMessageText(diagnostic.messageText, ' ');
      return `${relative(root, source.fileName)}:${line + within + 1}: the example is wrong: ${what}`;
    });
  });
}

let previous;

/** The sources, as the workspace reads them, with some files that are only in memory. */
function programOf(root, texts) {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, root);
  const host = ts.createCompilerHost({ ...options, noEmit: true }, true);
  const usualFile = join(root, 'packages/kopf-ts/usual.d.ts');
  const memory = new Map([...texts, [usualFile, usual]]);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (file) => memory.has(file) || fileExists(file);
  host.readFile = (file) => memory.get(file) ?? readFile(file);
  host.getSourceFile = (file, ...rest) =>
    memory.has(file)
      ? ts.createSourceFile(file, memory.get(file), rest[0], true)
      : (previous?.getSourceFile(file) ?? getSourceFile(file, ...rest));
  const files = [...entries.map((entry) => join(root, entry)), ...memory.keys()].filter((file) =>
    host.fileExists(file),
  );
  previous = ts.createProgram({ rootNames: files, options, host });
  return previous;
}

function whereIs(root, declaration) {
  const source = declaration.getSourceFile();
  return place(relative(root, source.fileName), source.text, declaration.getStart());
}

guard(import.meta.url, 'Every public name has an example, and the examples compile.', exampleViolations);
