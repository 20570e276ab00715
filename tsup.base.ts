import type { Options } from 'tsup';

/**
 * How every package is built: ES modules with declarations and source maps, one file per entry.
 *
 * A package's own tsup.config.ts only names its entries; they have to agree with its `exports`,
 * which `.ci/exports.mjs` checks after the build.
 */
export function library(entry: string[] = ['src/index.ts']): Options {
  return {
    entry,
    format: ['esm'],
    target: 'node20',
    platform: 'node',
    dts: {
      // Programs are run, not imported.
      entry: entry.filter((file) => !file.endsWith('/bin.ts')),
      compilerOptions: {
        // tsup itself passes the deprecated `baseUrl`; TypeScript 6 would refuse it otherwise.
        ignoreDeprecations: '6.0',
        // A build sees its siblings the way a user does: their built declarations, not their sources.
        customConditions: [],
        noEmit: false,
      },
    },
    sourcemap: true,
    clean: true,
    // Entries of one package share their modules: an error class or a registry must exist once.
    splitting: true,
    treeshake: true,
  };
}
