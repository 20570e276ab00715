import { expect, it } from 'vitest';
import * as peering from '../src/index.js';

it('exports the ways to agree, the identity, and the freezing by hand', () => {
  expect(Object.keys(peering).sort()).toEqual([
    'detectIdentity',
    'freeze',
    'kopfPeering',
    'leasePeering',
    'resume',
    'standalone',
  ]);
});
