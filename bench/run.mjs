/**
 * Runs the benchmarks: every `bench/*.bench.ts`, or those whose names contain one of the arguments.
 *
 * A benchmark is a module whose default export is `async () => void`; it measures and prints its own figures.
 * Each is bundled from sources first, so that what is measured is what a user runs: plain JavaScript, without
 * a loader or a test runner in between. They run one after another: they would disturb each other otherwise.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
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

async function main(wanted) {
  const files = readdirSync(bench)
    .filter((file) => file.endsWith('.bench.ts'))
    .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
    .sort();
  if (files.length === 0) {
    console.log(
      wanted.length === 0 ? 'There are no benchmarks yet.' : `No benchmark is named like ${wanted.join(', ')}.`,
    );
    return wanted.length === 0 ? 0 : 1;
  }

  // Beside node_modules, so that a bundle finds the packages which stay outside of it.
  const output = mkdtempSync(join(bench, '.bundle-'));
  try {
    for (const file of files) {
      console.log(`\n── ${file}`);
      const { default: run } = await import(pathToFileURL(await bundled(file, output)).href);
      if (typeof run !== 'function') throw new TypeError(`bench/${file} has no default export to call.`);
      await run();
    }
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
  return 0;
}

async function bundled(file, output) {
  const outfile = join(output, file.replace(/\.ts$/, '.mjs'));
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
    banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
    // It runs a program that lies beside itself.
    external: ['esbuild'],
  });
  return outfile;
}

process.setSourceMapsEnabled(true);
process.exitCode = await main(process.argv.slice(2));
