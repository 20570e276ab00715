import { describe, expect, it } from 'vitest';
import { digestOf, digestOnly } from '../../src/values/digest.js';
import { compareEssences } from '../../src/values/objects/comparison.js';

const essence = { spec: { size: 1 }, metadata: { labels: { app: 'x' } } };

describe('an object is compared with its last handled state', () => {
  it('by content, when the state is known', () => {
    const { diff, old, oldIsUnavailable } = compareEssences({ spec: { size: 0 } }, { spec: { size: 1 } });
    expect(diff).toEqual([['change', ['spec', 'size'], 0, 1]]);
    expect(old).toEqual({ spec: { size: 0 } });
    expect(oldIsUnavailable).toBe(false);
  });

  it('with nothing, when it was never handled', () => {
    expect(compareEssences(undefined, essence)).toEqual({
      diff: [['add', [], undefined, essence]],
      wasHandled: false,
      old: undefined,
      oldIsUnavailable: false,
    });
  });

  it('by digest, when only the digest could be kept: the same, whatever the order of keys', () => {
    const reordered = { metadata: { labels: { app: 'x' } }, spec: { size: 1 } };
    const { diff, wasHandled, old, oldIsUnavailable } = compareEssences(digestOnly(digestOf(essence)), reordered);
    expect(diff).toEqual([]);
    expect(wasHandled).toBe(true);
    expect(old).toBeUndefined();
    expect(oldIsUnavailable).toBe(true);
  });

  it('by digest: a difference is a change of the whole, since it is not known of what', () => {
    const { diff, oldIsUnavailable } = compareEssences(digestOnly(digestOf({ spec: { size: 0 } })), essence);
    expect(diff).toEqual([['change', [], undefined, essence]]);
    expect(oldIsUnavailable).toBe(true);
  });
});
