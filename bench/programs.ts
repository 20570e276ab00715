/** Programs that benchmarks start as processes of their own. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Of the workspace: benchmarks are run from a folder beside themselves, with this module in them. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Plain JavaScript with everything in it, as operators are often shipped; with the packages of that checkout. */
export async function bundle(entry: string, outfile: string, checkout: string = root): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
    // For profiles; Node does not look at it.
    sourcemap: 'external',
    // Loaded only by those who have it; and behind proxies.
    external: ['@kubernetes/client-node', 'undici'],
    banner: {
      js: "import { createRequire as __bundleRequire } from 'node:module';\nconst require = __bundleRequire(import.meta.url);",
    },
    plugins: [
      {
        name: 'sources of the workspace',
        setup({ onResolve }) {
          onResolve({ filter: /^(@kopf-ts\/|kopf-ts$)/ }, ({ path }) => {
            const [name = '', entry = 'index'] = path.replace(/^@kopf-ts\//, '').split('/');
            return { path: join(checkout, 'packages', name, 'src', `${entry}.ts`) };
          });
        },
      },
    ],
  });
}
