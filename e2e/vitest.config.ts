import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { sources } from '../vitest.config.js';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** What needs real time: on a real Kubernetes control plane, and on the embedded one. `npm run test:real` runs it. */
export default defineConfig({
  resolve: { alias: sources },
  test: {
    name: 'real',
    root: path('.'),
    include: ['**/*.test.ts', '../examples/*/handlers.test.ts'],
    exclude: [
      // Suites of their own: tests of the control plane are among the ordinary ones, the others have their commands.
      'controlplane/**',
      'differential/**',
      'programs/**',
      // It is deployed as a whole instead, for the whole cluster: see deployment/.
      '../examples/25-deployment/**',
      // Takes many minutes: `npm run proof`.
      'chaos/proof.test.ts',
    ],
    globalSetup: [path('support/global-setup.ts')],
    // The tests themselves do little but wait for the servers.
    maxWorkers: 4,
    // Real servers on busy machines: generous limits, as nothing waits longer than it has to.
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
