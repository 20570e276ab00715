import { describe, expect, it } from 'vitest';
import { compareVersions, versionOf } from '../../src/objects/versions.js';
import { writeGuards } from '../../src/write-guards.js';

describe('Versions', () => {
  it.each([
    ['1', '2', -1],
    ['2', '1', 1],
    ['9', '10', -1],
    ['10', '9', 1],
    ['7', '7', 0],
    ['0', '1', -1],
    ['18446744073709551614', '18446744073709551615', -1],
    ['99999999999999999999', '100000000000000000000', -1],
    ['abc', 'abc', 0],
    ['abc', 'abd', undefined],
    ['1', 'abc', undefined],
    ['abc', '1', undefined],
    ['01', '1', undefined],
    ['1.0', '2', undefined],
    ['-1', '2', undefined],
    ['', '1', undefined],
    [undefined, '1', undefined],
    ['1', undefined, undefined],
    [undefined, undefined, undefined],
  ])('%s against %s: %s', (one, two, expected) => {
    const order = compareVersions(one, two);
    expect(order === undefined ? undefined : Math.sign(order)).toBe(expected);
  });

  it('are those of the objects', () => {
    expect(versionOf({ metadata: { resourceVersion: '5' } })).toBe('5');
    expect(versionOf({ metadata: {} })).toBeUndefined();
    expect(versionOf({})).toBeUndefined();
  });
});

describe('WriteGuards', () => {
  it('permit if there are none', () => {
    expect(writeGuards().mayWrite()).toBe(true);
  });

  it('permit only if all of them do, and are asked each time', () => {
    const all = writeGuards();
    const permits = [true, true];
    for (const index of permits.keys()) all.add(() => permits[index] === true);
    expect(all.mayWrite()).toBe(true);
    permits[1] = false;
    expect(all.mayWrite()).toBe(false);
    permits[1] = true;
    expect(all.mayWrite()).toBe(true);
  });

  it('of the same function twice, are two; and each is removed alone, once', () => {
    const all = writeGuards();
    const forbid = () => false;
    const remove = all.add(forbid);
    const removeAnother = all.add(forbid);
    remove();
    remove();
    expect(all.mayWrite()).toBe(false);
    removeAnother();
    expect(all.mayWrite()).toBe(true);
  });
});
