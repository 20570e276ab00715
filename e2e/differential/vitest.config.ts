import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { sources } from '../../vitest.config.js';

/** The embedded server against the real one: `npm run test:differential`. */
export default defineConfig({
  resolve: { alias: sources },
  test: {
    name: 'differential',
    root: fileURLToPath(new URL('.', import.meta.url)),
    include: ['**/*.test.ts'],
    // Most sequences wait for servers, not for this process.
    maxConcurrency: 8,
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});
