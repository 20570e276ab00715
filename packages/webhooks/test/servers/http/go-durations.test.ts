import { expect, it } from 'vitest';
import { parseDuration } from '../../../src/servers/http/go-durations.js';

it.each([
  ['10s', 10],
  ['1m30s', 90],
  ['500ms', 0.5],
  ['1.5h', 5400],
  ['.5s', 0.5],
  ['2.s', 2],
  ['+3s', 3],
  ['1h2m3s4ms', 3723.004],
  ['1000us', 0.001],
  ['1000µs', 0.001],
  ['1000000ns', 0.001],
])('%s is %d seconds', (text, seconds) => {
  expect(parseDuration(text)).toBeCloseTo(seconds, 9);
});

it.each(['', '0', '0s', '10', 's', '-1s', '1 s', '1s ', '1d', '1e3s', 'NaNs', '..s', '1s1', '٣s', '9'.repeat(400)])(
  '"%s" is no duration',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);
