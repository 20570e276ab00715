import { describe, expect, it } from 'vitest';
import { exportsViolations } from '../exports.mjs';
import { workspace } from './workspace.mjs';

const entry = (name) => ({
  '@kopf-ts/source': `./src/${name}.ts`,
  types: `./dist/${name}.d.ts`,
  default: `./dist/${name}.js`,
});
const manifest = {
  name: '@kopf-ts/core',
  files: ['dist', 'src'],
  exports: { '.': entry('index'), './engine': entry('engine'), './package.json': './package.json' },
};
const house = {
  'packages/core/package.json': manifest,
  'packages/core/src/index.ts': 'export {};',
  'packages/core/src/engine.ts': 'export {};',
  'packages/core/dist/index.js': "export * from './chunk-ABC.js';",
  'packages/core/dist/index.js.map': '{}',
  'packages/core/dist/index.d.ts': "export { A } from './errors-XYZ.js';",
  'packages/core/dist/engine.js': "export * from './chunk-ABC.js';",
  'packages/core/dist/engine.js.map': '{}',
  'packages/core/dist/engine.d.ts': 'export {};',
  'packages/core/dist/chunk-ABC.js': 'export const a = 1;',
  'packages/core/dist/chunk-ABC.js.map': '{}',
  'packages/core/dist/errors-XYZ.d.ts': 'export declare class A {}',
};

const violationsWith = (files) => exportsViolations(workspace({ ...house, ...files }));
const violationsWithExports = (exports) => violationsWith({ 'packages/core/package.json': { ...manifest, exports } });

describe('the exports fence', () => {
  it('lets a package pass whose exports and build agree', () => {
    expect(violationsWith({})).toEqual([]);
  });

  it('refuses an entry that is not built', () => {
    const { 'packages/core/dist/engine.d.ts': _, ...rest } = house;
    expect(exportsViolations(workspace(rest))).toEqual([
      'packages/core: package.json leads to ./dist/engine.d.ts, and there is no such file',
    ]);
  });

  it('refuses a command that is not built', () => {
    const violations = violationsWith({
      'packages/core/package.json': { ...manifest, bin: { kopf: './dist/bin.js' } },
    });
    expect(violations).toEqual(['packages/core: package.json leads to ./dist/bin.js, and there is no such file']);
  });

  it.each(['dist/testing.js', 'dist/testing.d.ts', 'dist/old.js.map', 'dist/values/diff.js'])(
    'refuses a built file that nothing leads to: %s',
    (file) => {
      expect(violationsWith({ [`packages/core/${file}`]: 'export {};' })).toEqual([
        `packages/core: ${file} is built, and package.json leads to it from nowhere`,
      ]);
    },
  );

  it('follows lazy imports, also after quotes in regular expressions', () => {
    const lazy = "const quote = /[\"'`]/g;\nexport const load = () => import('./lazy.js');";
    const files = { 'packages/core/dist/engine.js': lazy, 'packages/core/dist/lazy.js': 'export {};' };
    expect(violationsWith(files)).toEqual([]);
  });

  it('refuses the conditions in an order that hides some of them', () => {
    const { types, ...rest } = entry('engine');
    const violations = violationsWithExports({ ...manifest.exports, './engine': { ...rest, types } });
    expect(violations).toEqual([
      expect.stringContaining("'./engine' has the conditions @kopf-ts/source, default, types"),
    ]);
  });

  it('refuses an entry without types', () => {
    const { types: _, ...rest } = entry('engine');
    const violations = violationsWithExports({ ...manifest.exports, './engine': rest });
    expect(violations).toContainEqual(expect.stringContaining('expected @kopf-ts/source, types, default'));
  });

  it('refuses an entry that mixes two modules', () => {
    const violations = violationsWithExports({
      ...manifest.exports,
      './engine': { ...entry('engine'), types: './dist/index.d.ts' },
    });
    expect(violations).toContainEqual(expect.stringContaining("'./engine' mixes modules"));
  });

  it('refuses an entry that the tarball leaves out', () => {
    const violations = violationsWith({ 'packages/core/package.json': { ...manifest, files: ['dist'] } });
    expect(violations).toEqual([
      "packages/core: package.json leads to ./src/index.ts, and its 'files' leave it out",
      "packages/core: package.json leads to ./src/engine.ts, and its 'files' leave it out",
    ]);
  });

  it('refuses a package without exports', () => {
    const violations = violationsWith({ 'packages/bare/package.json': { name: '@kopf-ts/bare' } });
    expect(violations).toEqual(["packages/bare: package.json has no 'exports'"]);
  });
});
