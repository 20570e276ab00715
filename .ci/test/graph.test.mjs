import { describe, expect, it } from 'vitest';
import { graphViolations } from '../graph.mjs';
import { workspace } from './workspace.mjs';

const leaf = { name: '@kopf-ts/storage', dependencies: { '@kopf-ts/core': 'workspace:*', '@noble/hashes': '^2' } };
const meta = { name: 'kopf-ts', dependencies: { '@kopf-ts/core': 'workspace:*', '@kopf-ts/storage': 'workspace:*' } };
const house = {
  'packages/core/package.json': { name: '@kopf-ts/core' },
  'packages/core/src/index.ts': "export * from './values/diff.js';\nexport type * from './seams/clock.js';",
  'packages/core/src/errors.ts': 'export class KopfError extends Error {}',
  'packages/core/src/settings.ts':
    "import type { Clock } from './seams/clock.js';\nexport interface Settings { clock?: Clock }",
  'packages/core/src/values/diff.ts':
    "import { KopfError } from '../errors.js';\nimport './fields.js';\nexport const diff = () => new KopfError();",
  'packages/core/src/values/fields.ts': "// like: import { x } from '@kopf-ts/storage'\nexport {};",
  'packages/core/src/seams/clock.ts': 'export interface Clock { now(): number }',
  'packages/core/src/execution/context.ts':
    "import { AsyncLocalStorage } from 'node:async_hooks';\nimport '../intents/causes.js';\nimport '../sync/queue.js';",
  'packages/core/src/intents/causes.ts': "import { diff } from '../values/diff.js';\nexport { diff };",
  'packages/core/src/sync/queue.ts': 'export {};',
  'packages/core/src/cluster/list.ts': "import type { Clock } from '../seams/clock.js';\nimport '../sync/queue.js';",
  'packages/storage/package.json': leaf,
  'packages/storage/src/index.ts':
    "import { diff } from '@kopf-ts/core';\nimport '@kopf-ts/core/engine';\nimport { blake2b } from '@noble/hashes/blake2.js';\nimport { readFile } from 'node:fs/promises';\nimport './keys.js';",
  'packages/storage/src/keys.ts': 'export {};',
  'packages/storage/test/any.test.ts': "import '@kopf-ts/testing';",
  'packages/kopf-ts/package.json': meta,
  'packages/kopf-ts/src/index.ts': "export * from '@kopf-ts/core';\nexport * as storage from '@kopf-ts/storage';",
};

const violationsWith = (files) => graphViolations(workspace({ ...house, ...files }));

describe('the graph fence', () => {
  it('lets a house that follows the plan pass', () => {
    expect(violationsWith({})).toEqual([]);
  });

  it.each([
    [
      'a leaf imports another leaf',
      { 'packages/storage/src/keys.ts': "import '@kopf-ts/peering';" },
      /leaves import only @kopf-ts\/core/,
    ],
    [
      'a leaf imports only a type of another leaf',
      { 'packages/storage/src/keys.ts': "import type { P } from '@kopf-ts/peering';" },
      /leaves import only/,
    ],
    [
      'a leaf imports another leaf lazily',
      { 'packages/storage/src/keys.ts': "await import('@kopf-ts/peering');" },
      /leaves import only/,
    ],
    [
      'a leaf re-exports another leaf',
      { 'packages/storage/src/keys.ts': "export * from '@kopf-ts/peering';" },
      /leaves import only/,
    ],
    ['a leaf imports the meta-package', { 'packages/storage/src/keys.ts': "import 'kopf-ts';" }, /leaves import only/],
    [
      'a leaf reaches into the sources of core',
      { 'packages/storage/src/keys.ts': "import '@kopf-ts/core/src/errors.js';" },
      /by their exports only/,
    ],
    [
      'the meta-package reaches into a build',
      { 'packages/kopf-ts/src/run.ts': "import '@kopf-ts/storage/dist/keys.js';" },
      /by their exports only/,
    ],
    [
      'a leaf leaves its package by a relative path',
      { 'packages/storage/src/keys.ts': "import '../../core/src/errors.js';" },
      /stay within the sources/,
    ],
    [
      'a leaf imports what it has not declared',
      { 'packages/storage/src/keys.ts': "import 'undici';" },
      /'undici' is not declared/,
    ],
    [
      'a leaf imports a builtin without its scheme',
      { 'packages/storage/src/keys.ts': "import 'fs';" },
      /write 'node:fs'/,
    ],
    [
      'a leaf imports a builtin that does not exist',
      { 'packages/storage/src/keys.ts': "import 'node:nothing';" },
      /no such builtin/,
    ],
    [
      'core imports a leaf',
      { 'packages/core/src/values/fields.ts': "import '@kopf-ts/storage';" },
      /core imports nothing but/,
    ],
    [
      'core imports an npm package',
      { 'packages/core/src/values/fields.ts': "import 'rfc6902';" },
      /core imports nothing but/,
    ],
    [
      'core imports another builtin',
      { 'packages/core/src/values/fields.ts': "import 'node:fs';" },
      /core imports nothing but/,
    ],
    [
      'values import a seam',
      { 'packages/core/src/values/fields.ts': "import '../seams/clock.js';" },
      /'values' may import only itself, errors/,
    ],
    [
      'values import the settings',
      { 'packages/core/src/values/fields.ts': "import '../settings.js';" },
      /'values' may import only/,
    ],
    [
      'seams import intents',
      { 'packages/core/src/seams/clock.ts': "import type { X } from '../intents/causes.js';" },
      /'seams' may import only/,
    ],
    [
      'intents import execution',
      { 'packages/core/src/intents/causes.ts': "import '../execution/context.js';" },
      /'intents' may import only/,
    ],
    [
      'cluster imports intents',
      { 'packages/core/src/cluster/list.ts': "import '../intents/causes.js';" },
      /'cluster' may import only/,
    ],
    [
      'sync imports execution',
      { 'packages/core/src/sync/queue.ts': "import '../execution/context.js';" },
      /'sync' may import only/,
    ],
    [
      'a layer imports the public face',
      { 'packages/core/src/execution/context.ts': "import '../index.js';" },
      /the public face/,
    ],
    [
      'core grows a folder outside of the layers',
      { 'packages/core/src/utils/x.ts': "import '../values/diff.js';" },
      /none of core's layers/,
    ],
  ])('refuses when %s', (_, files, message) => {
    const violations = violationsWith(files);
    expect(violations).toHaveLength(1);
    expect(violations[0]).toMatch(message);
  });

  it('names the file and the line', () => {
    const violations = violationsWith({ 'packages/storage/src/keys.ts': "// one\n\nimport '@kopf-ts/peering';" });
    expect(violations[0]).toMatch(/^packages\/storage\/src\/keys\.ts:3 imports '@kopf-ts\/peering'/);
  });

  it('refuses layers that import each other, even where each import alone is allowed', () => {
    const violations = violationsWith({
      'packages/core/src/seams/clock.ts': "import type { Settings } from '../settings.js';",
    });
    expect(violations).toEqual([expect.stringContaining('in a circle: seams → settings → seams')]);
  });
});
