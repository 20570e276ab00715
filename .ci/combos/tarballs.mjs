/** The packages as they are published: one tarball each, with versions in place of `workspace:*`. */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root, runScript, toolPath } from '../../scripts/tools.mjs';
import { packagesOf } from '../fence.mjs';

/** @returns {Promise<Record<string, string>>} files by the names of their packages */
export async function packAll(folder) {
  mkdirSync(folder, { recursive: true });
  const args = ['--recursive', '--filter', './packages/*', 'pack', '--pack-destination', folder];
  const { code, output } = await runScript(toolPath('pnpm'), args, { quiet: true });
  if (code !== 0) throw new Error(`The packages cannot be packed:\n${output}`);

  const files = new Set(readdirSync(folder));
  const tarballs = {};
  for (const { manifest } of packagesOf(root)) {
    const file = `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`;
    if (!files.has(file))
      throw new Error(`${manifest.name} is packed, but not to ${file}; there are: ${[...files].join(', ')}`);
    tarballs[manifest.name] = join(folder, file);
  }
  return tarballs;
}

/** The package itself and those of ours that it needs, directly or not: all have to be named, as no registry has them. */
export function withSiblings(names) {
  const manifests = new Map(packagesOf(root).map(({ manifest }) => [manifest.name, manifest]));
  const found = new Set();
  const visit = (name) => {
    if (found.has(name) || !manifests.has(name)) return;
    found.add(name);
    Object.keys(manifests.get(name).dependencies ?? {}).forEach(visit);
  };
  names.forEach(visit);
  return [...found];
}
