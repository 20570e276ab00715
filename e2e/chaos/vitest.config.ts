import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { sources } from '../../vitest.config.js';

/** The long run of faults: `npm run proof`. */
export default defineConfig({
  resolve: { alias: sources },
  test: {
    name: 'chaos',
    root: fileURLToPath(new URL('.', import.meta.url)),
    // The judge and the line are tested first: a proof by a blind judge proves nothing.
    include: ['**/*.test.ts'],
    // The short run belongs to `npm run test:real`.
    exclude: ['chaos.test.ts'],
    hookTimeout: 180_000,
  },
});
