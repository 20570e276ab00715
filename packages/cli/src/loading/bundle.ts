/**
 * Sources as one module of JavaScript, made by esbuild: files that are imported by several of them are there once,
 * lazy imports are inside, and packages stay outside, so that everybody has the same copies of them.
 */
import { access, constants } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BuildFailure, BuildOptions } from 'esbuild';
import { ADDRESSES, moduleAddresses } from './addresses.js';
import { outerPackages } from './packages.js';
import { explainBuildFailure, headline } from './problems.js';
import { homeOf, type Sources } from './sources.js';

export interface Bundle {
  /** A module that imports all sources in their order. */
  readonly code: string;
  /** Where to put the code, so that it finds its packages; `undefined` if it finds them from anywhere. */
  readonly folder: string | undefined;
  /** The name of the file in stack traces. */
  readonly name: string;
  /** Absolute paths of all files that are in it. */
  readonly inputs: readonly string[];
}

export interface BundleOptions {
  /** Where our own copy of a package is, for projects that have none. */
  readonly resolve: (specifier: string) => string | undefined;
  /** Told of what is probably not meant so: the place, and what it is. */
  readonly warn?: ((text: string) => void) | undefined;
}

/** Makes the bundle; fails with what is wrong in the files, and where. */
export async function bundle(sources: Sources, options: BundleOptions): Promise<Bundle> {
  const home = homeOf(sources);
  const folder = (await isWritable(home)) ? home : undefined;
  const { build } = await import('esbuild');
  const result = await build(buildOptions(sources, home, folder, options)).catch((error: BuildFailure) => {
    throw explainBuildFailure(error, sources.cwd);
  });
  for (const warning of result.warnings) options.warn?.(headline(warning, sources.cwd));
  const inputs = Object.keys(result.metafile?.inputs ?? {})
    .filter((input) => !input.includes(':') && !input.startsWith('<'))
    .map((input) => join(sources.cwd, input.replace(/\?\d+$/, '')));
  return {
    code: result.outputFiles?.[0]?.text ?? '',
    folder,
    name: basename(sources.files[0] ?? 'modules').replace(/\.\w+$/, ''),
    inputs: [...new Set(inputs)],
  };
}

const ENTRY = 'kopf-entry:';

function buildOptions(
  { files, modules, cwd }: Sources,
  home: string,
  folder: string | undefined,
  { resolve }: BundleOptions,
): BuildOptions {
  const imports = [
    // The same file twice is two modules: each has a number of its own.
    ...files.map((file, index) => {
      const number = files.slice(0, index).filter((other) => other === file).length;
      return `import ${JSON.stringify(`${ENTRY}${file}?${number}`)};`;
    }),
    // What stays outside would otherwise be loaded ahead of everything.
    ...modules.map((module) => `await import(${JSON.stringify(module)});`),
  ];
  return {
    stdin: {
      contents: imports.join('\n'),
      resolveDir: cwd,
      sourcefile: '<kopf>',
    },
    absWorkingDir: cwd,
    // It is never written there; but the paths of sources are relative to it.
    outfile: join(home, 'kopf.mjs'),
    write: false,
    bundle: true,
    metafile: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // The names of functions are the ids of handlers.
    keepNames: true,
    sourcemap: 'inline',
    sourceRoot: `${pathToFileURL(home).href}/`,
    // Those of Node; by default, there would be one more, for bundlers.
    conditions: ['node-addons'],
    logLevel: 'silent',
    define: ADDRESSES,
    banner: { js: banner(join(home, 'kopf.mjs')) },
    plugins: [entries, moduleAddresses, outerPackages({ folder, resolve })],
  };
}

const entries = {
  name: 'files by their paths and numbers',
  setup: ({ onResolve }: Parameters<typeof moduleAddresses.setup>[0]) => {
    onResolve({ filter: /^kopf-entry:/ }, ({ path }) => {
      const mark = path.lastIndexOf('?');
      const suffix = path.slice(mark);
      return { path: path.slice(ENTRY.length, mark), ...(suffix === '?0' ? {} : { suffix }) };
    });
  },
};

/**
 * What the module begins with: `require` for files of CommonJS; and the file removes itself as soon as it is read,
 * since whatever is in there may run for long.
 */
function banner(address: string): string {
  return [
    `import { createRequire as __kopfRequire } from 'node:module';`,
    `const require = __kopfRequire(${JSON.stringify(pathToFileURL(address).href)});`,
    `if (import.meta.filename) require('node:fs').rmSync(import.meta.filename, { force: true });`,
  ].join(' ');
}

async function isWritable(folder: string): Promise<boolean> {
  return await access(folder, constants.W_OK).then(
    () => true,
    () => false,
  );
}
