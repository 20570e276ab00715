/** The packages as the demo uses them: from their sources, in a second, without the minute that a whole build takes. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { root } from '../tools.mjs';

/** @returns {Promise<{ kopf: typeof import('kopf-ts'), localCluster: typeof import('@kopf-ts/apiserver').localCluster }>} */
export async function bundled() {
  // Beside the installed packages, where those that stay outside are found.
  const outdir = join(root, 'node_modules', '.kopf-ts-demo');
  await build({
    stdin: {
      contents: `export * as kopf from 'kopf-ts'; export { localCluster } from '@kopf-ts/apiserver';`,
      // Where both of them are found.
      resolveDir: join(root, 'packages', 'kopf-ts', 'src'),
      sourcefile: 'demo.mjs',
    },
    outdir,
    entryNames: 'demo',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // What is loaded late in the packages is loaded late here.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
    conditions: ['@kopf-ts/source'],
    external: ['@kubernetes/client-node', 'undici'],
    banner: {
      js: "import { createRequire as __bundleRequire } from 'node:module';\nconst require = __bundleRequire(import.meta.url);",
    },
  });
  return await import(pathToFileURL(join(outdir, 'demo.mjs')).href);
}
