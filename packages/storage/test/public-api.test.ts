import { expect, it } from 'vitest';
import * as storage from '../src/index.js';

it('exports the seven storages, and nothing else', () => {
  expect(Object.keys(storage).sort()).toEqual([
    'annotationsDiffBaseStorage',
    'annotationsProgressStorage',
    'multiDiffBaseStorage',
    'multiProgressStorage',
    'smartProgressStorage',
    'statusDiffBaseStorage',
    'statusProgressStorage',
  ]);
});
