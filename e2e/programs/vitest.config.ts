import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { sources } from '../../vitest.config.js';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** What others have written, unchanged, on the embedded server and on the real one: `npm run proof`. */
export default defineConfig({
  resolve: { alias: sources },
  test: {
    name: 'programs',
    root: path('.'),
    include: ['**/*.test.ts'],
    globalSetup: [path('support/real-server.ts')],
    // The programs are busy enough.
    maxWorkers: 2,
    testTimeout: 600_000,
    // What is not in the cache yet is built first.
    hookTimeout: 1_800_000,
  },
});
