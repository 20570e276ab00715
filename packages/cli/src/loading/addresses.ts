/** Files in a bundle still know where they are: `import.meta.url` and its like are those of each file, not of the bundle. */
import { readFile } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Loader, Plugin } from 'esbuild';

/** What the addresses are replaced with; the plugin gives the object to the files that need it. */
export const ADDRESSES: Record<string, string> = {
  'import.meta.url': '__kopfAddress.url',
  'import.meta.filename': '__kopfAddress.filename',
  'import.meta.dirname': '__kopfAddress.dirname',
  __filename: '__kopfAddress.filename',
  __dirname: '__kopfAddress.dirname',
};

const SCHEME = 'kopf-address:';
const NAMESPACE = 'kopf-address';

const LOADERS: Readonly<Record<string, Loader>> = {
  '.tsx': 'tsx',
  '.jsx': 'jsx',
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
};

export const moduleAddresses: Plugin = {
  name: 'addresses of files',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /\.[cm]?[jt]sx?$/, namespace: 'file' }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      return { contents: withAddress(source, path), loader: LOADERS[extname(path)] ?? 'js' };
    });
    onResolve({ filter: /^kopf-address:/ }, ({ path }) => ({
      path: path.slice(SCHEME.length),
      namespace: NAMESPACE,
      sideEffects: false,
    }));
    onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({ contents: addressModule(path), loader: 'js' }));
  },
};

/** Imports go to the end, so that the lines and the columns of the source stay where they were. */
function withAddress(source: string, path: string): string {
  const module = JSON.stringify(`${SCHEME}${path}`);
  if (/\bimport\s*\.\s*meta\b/.test(source)) return `${source}\nimport * as __kopfAddress from ${module};\n`;
  // In CommonJS, nothing is hoisted; and a program for the shell begins with a line that is not for us.
  if (!/\b__(?:dir|file)name\b/.test(source)) return source;
  return source.replace(/^(#!.*\n)?/, (line) => `${line}const __kopfAddress = require(${module});`);
}

function addressModule(path: string): string {
  const address = { url: pathToFileURL(path).href, filename: path, dirname: dirname(path) };
  return Object.entries(address)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
    .join('\n');
}
