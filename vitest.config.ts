import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const packages = readdirSync(path('packages'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

/** These keep nothing in the process that their tests would stumble over: loading them once takes a third of the time. */
const stateless = [
  'apiserver',
  'cli',
  'client',
  'core',
  'indexing',
  'insight',
  'kinds',
  'kopf-ts',
  'metrics',
  'reactor',
  'storage',
  'webhooks',
];

/** Tests run against sources, never against builds; so they need no build, and stack traces point home. */
export const sources = [
  { find: /^@kopf-ts\/core\/engine$/, replacement: path('packages/core/src/engine.ts') },
  { find: /^@kopf-ts\/kinds\/(.+)$/, replacement: path('packages/kinds/src/$1/index.ts') },
  { find: /^@kopf-ts\/([^/]+)$/, replacement: path('packages/$1/src/index.ts') },
  { find: /^kopf-ts$/, replacement: path('packages/kopf-ts/src/index.ts') },
  { find: /^kopf-ts\/testing$/, replacement: path('packages/kopf-ts/src/testing.ts') },
];

export default defineConfig({
  resolve: { alias: sources },
  test: {
    passWithNoTests: true,
    // By default, one core is left to whatever else there is; here is nothing else.
    maxWorkers: '100%',
    // No test measures time; on a busy machine, the heavy ones take longer than the 5 seconds of the default.
    testTimeout: 20_000,
    hookTimeout: 30_000,
    projects: [
      ...packages.map((name) => ({
        extends: true as const,
        test: {
          name,
          root: path(`packages/${name}`),
          include: ['test/**/*.test.ts'],
          isolate: !stateless.includes(name),
        },
      })),
      {
        extends: true as const,
        test: { name: 'fences', root: path('.ci'), include: ['test/**/*.test.mjs'] },
      },
      {
        extends: true as const,
        test: { name: 'controlplane', root: path('e2e/controlplane'), include: ['test/**/*.test.ts'] },
      },
      {
        extends: true as const,
        // On the embedded server; e2e/ has them on a real one.
        // They take less time than loading the framework for each of them.
        test: {
          name: 'examples',
          root: path('examples'),
          include: ['*/*.test.ts'],
          isolate: false,
          testTimeout: 30_000,
        },
      },
    ],
  },
});
