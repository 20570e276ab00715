import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { roomViolations } from '../rooms.mjs';
import { workspace } from './workspace.mjs';

function violationsIn(...files) {
  const texts = files.map((file) => [`packages/${file}`, '']);
  return roomViolations(
    workspace({
      'packages/one/package.json': { name: '@kopf-ts/one' },
      'packages/two/package.json': { name: '@kopf-ts/two' },
      ...Object.fromEntries(texts),
    }),
  );
}

const numbered = (folder, count) => Array.from({ length: count }, (_, index) => `${folder}/file-${index}.ts`);

describe('the fence of rooms and names', () => {
  it('is silent about this very workspace', () => {
    expect(roomViolations(join(import.meta.dirname, '../..'))).toEqual([]);
  });

  it('refuses a folder with more than 12 loose files', () => {
    expect(violationsIn(...numbered('one/src/values', 13))).toEqual([
      'packages/one/src/values has 13 loose files: more than 12 need rooms',
    ]);
  });

  it('refuses too many files at the top of the sources', () => {
    expect(violationsIn(...numbered('one/src', 13))).toHaveLength(1);
  });

  it('refuses two files of one name in one package', () => {
    expect(violationsIn('one/src/names.ts', 'one/src/deep/inside/names.ts')).toEqual([
      "'names.ts' is the name of 2 files: packages/one/src/deep/inside/names.ts, packages/one/src/names.ts",
    ]);
  });

  it.each([
    ['12 files and a room beside them', [...numbered('one/src', 12), 'one/src/room/other.ts']],
    ['one name in two packages', ['one/src/names.ts', 'two/src/names.ts']],
    ['an index in each folder', ['one/src/index.ts', 'one/src/room/index.ts']],
    ['crowds of tests', numbered('one/test', 30)],
  ])('permits %s', (_what, files) => {
    expect(violationsIn(...files)).toEqual([]);
  });
});
