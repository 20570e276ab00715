import { expect, it } from 'vitest';
import { formatFor } from '../src/scraping/negotiation.js';

it.each([
  [undefined, 'prometheus'],
  ['*/*', 'prometheus'],
  ['text/html,application/xhtml+xml,*/*;q=0.8', 'prometheus'],
  ['text/plain; version=0.0.4', 'prometheus'],
  ['application/openmetrics-text', 'openmetrics'],
  ['application/openmetrics-text; version=1.0.0; charset=utf-8', 'openmetrics'],
  ['application/openmetrics-text;version=2.0.0', 'prometheus'],
  ['application/openmetrics-text;q=0', 'prometheus'],
  ['application/openmetrics-text;q=0.1,text/plain;q=0.9', 'prometheus'],
  // Of Prometheus 2.42 and 3.
  [
    'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
    'openmetrics',
  ],
  [
    'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
    'openmetrics',
  ],
  ['text/plain;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.5', 'prometheus'],
  [';;q=,,=', 'prometheus'],
])('answers to %j in %s', (accept, format) => {
  expect(formatFor(accept)).toBe(format);
});
