import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { sources } from '../../vitest.config.ts';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

/** The samples of the pages, as `checks/samples.mjs` has written them. */
export default defineConfig({
  resolve: { alias: [...sources, { find: 'kopf-ts-docs/node-test', replacement: path('samples/node-test.ts') }] },
  test: {
    root: path('../.samples'),
    include: ['**/*.test.ts'],
    passWithNoTests: true,
    isolate: false,
    // Compiling the packages takes longer than all the scenarios.
    experimental: { fsModuleCache: true },
    maxWorkers: '100%',
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
