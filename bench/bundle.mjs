/** Turns benchmarks into plain JavaScript, so that what is measured is what a user runs: no loader, no test runner. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const bench = fileURLToPath(new URL('.', import.meta.url));
const packages = fileURLToPath(new URL('../packages/', import.meta.url));

/** Packages by name, from their sources; as the tests see them. */
const sources = {
  name: 'sources of the workspace',
  setup({ onResolve }) {
    onResolve({ filter: /^(@kopf-ts\/|kopf-ts$)/ }, ({ path }) => {
      const [name, entry = 'index'] = path.replace(/^@kopf-ts\//, '').split('/');
      return { path: join(packages, name, 'src', `${entry}.ts`) };
    });
  },
};

/** Those that look for files beside themselves should find them there, wherever the bundle is. */
const ownAddresses = {
  name: 'addresses of sources',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]e2e[/\\].*\.ts$/ }, ({ path }) => {
      const address = JSON.stringify(pathToFileURL(path).href);
      return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', address), loader: 'ts' };
    });
  },
};

/**
 * Bundles the modules one after another, and hands each to the function before the next one is bundled.
 *
 * @param {readonly string[]} files paths relative to this folder
 * @param {(module: object, file: string) => Promise<void>} use
 */
export async function withModules(files, use) {
  process.setSourceMapsEnabled(true);
  // Beside node_modules, so that a bundle finds the packages which stay outside of it.
  const output = mkdtempSync(join(bench, '.bundle-'));
  try {
    for (const file of files) await use(await import(pathToFileURL(await bundled(file, output)).href), file);
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

async function bundled(file, output) {
  const outfile = join(output, basename(file).replace(/\.ts$/, '.mjs'));
  await build({
    entryPoints: [join(bench, file)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'inline',
    logLevel: 'warning',
    // Third parties of the packages are found from the packages, not from here; they are bundled, too.
    plugins: [sources, ownAddresses],
    // Some of them are CommonJS, and call `require` for what is built into Node.
    banner: {
      js: "import { createRequire as __bundleRequire } from 'node:module';\nconst require = __bundleRequire(import.meta.url);",
    },
    // One runs a program that lies beside itself, the other one reads libraries there.
    external: ['esbuild', 'typescript'],
  });
  return outfile;
}
