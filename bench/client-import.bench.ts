/**
 * What it costs to import the client, against importing the HTTP library that it is made of: each in a process
 * of its own, built as users get it. Neither YAML nor the generated models may come along.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { median } from './figures.js';

const ROUNDS = 11;
const GOAL = 2;

export default async function run(): Promise<void> {
  const root = findRoot();
  const client = join(root, 'packages/client');
  // Beside the package's own node_modules, where its dependencies are found.
  const folder = mkdtempSync(join(client, 'node_modules', '.bench-'));
  try {
    const built = join(folder, 'client.mjs');
    await bundle(root, join(client, 'src/index.ts'), built);
    const reporter = join(folder, 'report.mjs');
    writeFileSync(reporter, REPORTER);
    const times = { undici: [] as number[], client: [] as number[] };
    const measure = (specifier: string): Report => report(reporter, specifier);
    measure('undici');
    const { loaded } = measure(pathToFileURL(built).href);
    const unwanted = loaded.filter((path) => /@kubernetes|[/\\](?:undici|yaml)[/\\]/.test(path));
    if (unwanted.length > 0) throw new Error(`The import brings along ${unwanted[0]} and ${unwanted.length - 1} more.`);
    for (let round = 0; round < ROUNDS; round++) {
      times.undici.push(measure('undici').milliseconds);
      times.client.push(measure(pathToFileURL(built).href).milliseconds);
    }
    const ratio = median(times.client) / median(times.undici);
    const verdict = ratio <= GOAL ? 'ok' : `worse than the goal of ${GOAL}×`;
    console.log(`import 'undici': ${median(times.undici).toFixed(0)} ms`);
    console.log(`import '@kopf-ts/client': ${median(times.client).toFixed(0)} ms = ${ratio.toFixed(2)}× (${verdict})`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Report {
  readonly milliseconds: number;
  readonly loaded: readonly string[];
}

/** Prints how long the import took, and which files of CommonJS it has loaded. */
const REPORTER = `
import { createRequire } from 'node:module';
const started = performance.now();
await import(process.argv[2]);
const milliseconds = performance.now() - started;
console.log(JSON.stringify({ milliseconds, loaded: Object.keys(createRequire(import.meta.url).cache) }));
`;

function report(reporter: string, specifier: string): Report {
  return JSON.parse(execFileSync(process.execPath, [reporter, specifier], { encoding: 'utf8' }));
}

/** As the build does it, with core inside, since that is not published here. Third parties stay outside. */
async function bundle(root: string, entry: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
    external: ['undici', 'yaml', '@kubernetes/client-node'],
    alias: {
      '@kopf-ts/core/engine': join(root, 'packages/core/src/engine.ts'),
      '@kopf-ts/core': join(root, 'packages/core/src/index.ts'),
    },
  });
}

/** The benchmarks are run from a folder beside themselves. */
function findRoot(): string {
  return fileURLToPath(new URL('../..', import.meta.url));
}
