import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exampleViolations } from '../examples.mjs';
import { workspace } from './workspace.mjs';

const documented = (example) => ['/**', ' * It greets.', ' *', ' * ```ts', ` * ${example}`, ' * ```', ' */'].join('\n');
const greet = "export const greet = (name: string): string => 'Hello, ' + name;";

/** Of a workspace with this index, this testing entry, and a package that is a namespace of the index. */
function violationsIn({ index = '', testing = 'export {};', leaf = 'export {};' }) {
  return exampleViolations(
    workspace({
      'tsconfig.json': {
        compilerOptions: {
          target: 'ES2022',
          lib: ['ES2022'],
          types: [],
          module: 'NodeNext',
          moduleResolution: 'NodeNext',
          strict: true,
          noEmit: true,
          paths: { 'kopf-ts': ['./packages/kopf-ts/src/index.ts'], '@kopf-ts/leaf': ['./packages/leaf/src/index.ts'] },
        },
      },
      'package.json': { type: 'module' },
      'packages/kopf-ts/src/index.ts': `export * as leaf from '@kopf-ts/leaf';\n${index}`,
      'packages/kopf-ts/src/testing.ts': testing,
      'packages/leaf/src/index.ts': leaf,
    }),
  );
}

describe('the fence of examples', { timeout: 60_000 }, () => {
  it('is silent about this very workspace', () => {
    expect(exampleViolations(join(import.meta.dirname, '../..'))).toEqual([]);
  });

  it('permits a name with an example that compiles', () => {
    expect(violationsIn({ index: `${documented("kopf.greet('you');")}\n${greet}` })).toEqual([]);
  });

  it.each([
    ['a name without a comment', greet],
    ['a name without an example', `/** It greets. */\n${greet}`],
    ['a type without an example', '/** A name. */\nexport type Name = string;'],
    ['an example in the comment of a neighbour', `${documented('1 + 1;')}\ntype Other = string;\n${greet}`],
  ])('refuses %s', (_what, index) => {
    expect(violationsIn({ index })).toEqual([expect.stringContaining('has no example in its TSDoc')]);
  });

  it('looks into the namespaces', () => {
    expect(violationsIn({ leaf: greet })).toEqual([
      "packages/leaf/src/index.ts:1: 'leaf.greet' has no example in its TSDoc",
    ]);
  });

  it('looks into the entry for tests', () => {
    expect(violationsIn({ testing: greet })).toEqual([expect.stringContaining("'greet' has no example in its TSDoc")]);
  });

  it('tells where an example is wrong', () => {
    expect(violationsIn({ index: `${documented('kopf.greet(1);')}\n${greet}` })).toEqual([
      expect.stringMatching(/^packages\/kopf-ts\/src\/index.ts:6: the example is wrong: Argument of type 'number'/),
    ]);
  });

  it('refuses an example of a name that does not exist', () => {
    expect(violationsIn({ index: `${documented('kopf.goodbye();')}\n${greet}` })).toHaveLength(1);
  });
});
