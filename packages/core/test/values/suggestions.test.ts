import { describe, expect, it } from 'vitest';
import { didYouMean, nearNames } from '../../src/values/suggestions.js';

const KNOWN = ['retries', 'backoff', 'initialDelay', 'labels', 'id', 'interval'];

describe('names that are probably meant', () => {
  it.each([
    ['retires', ['retries']],
    ['retrys', ['retries']],
    ['initial_delay', ['initialDelay']],
    ['InitialDelay', ['initialDelay']],
    ['label', ['labels']],
    ['intrval', ['interval']],
    ['something', []],
    ['', []],
    // Short names are near to many by chance.
    ['ix', []],
  ])('%s → %j', (wanted, names) => {
    expect(nearNames(wanted, KNOWN)).toEqual(names);
  });

  it('come with the nearest first, and are not too many', () => {
    expect(nearNames('volume', ['volumes', 'volume-s', 'column', 'volumex', 'volume'])).toEqual([
      'volume',
      'volumes',
      'volume-s',
    ]);
  });

  it('are a sentence for the end of a message', () => {
    expect(didYouMean('retires', KNOWN)).toBe(' Did you mean "retries"?');
    expect(didYouMean('josn', ['json', 'joson'], "'")).toBe(" Did you mean 'json' or 'joson'?");
    expect(didYouMean('something', KNOWN)).toBe('');
  });
});
