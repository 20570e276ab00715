import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { sources } from '../../vitest.config.ts';

/** What the pages say, compared with what is there; and the checks themselves. */
export default defineConfig({
  resolve: { alias: sources },
  test: { root: fileURLToPath(new URL('./test', import.meta.url)), include: ['*.test.{mjs,ts}'], testTimeout: 20_000 },
});
