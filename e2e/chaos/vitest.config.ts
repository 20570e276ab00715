import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { sources } from '../../vitest.config.js';

/** The long run of faults: `npm run proof`. */
export default defineConfig({
  resolve: { alias: sources },
  test: {
    name: 'chaos',
    root: fileURLToPath(new URL('.', import.meta.url)),
    include: ['proof.test.ts'],
    hookTimeout: 180_000,
  },
});
