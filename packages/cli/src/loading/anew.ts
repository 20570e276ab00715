/** Loading handlers again and again in one process, as tests do. */
import { type BundleOptions, bundle } from './bundle.js';
import { importBundle } from './importing.js';
import { findSources } from './sources.js';

/**
 * Loads the files as if for the first time, together with all files that they import: what they declare is declared
 * again. Fails in one line that says where and why.
 */
export async function loadAnew(
  paths: readonly string[],
  { cwd = process.cwd(), ...options }: BundleOptions & { readonly cwd?: string },
): Promise<void> {
  const sources = await findSources(paths, [], cwd);
  await importBundle(await bundle(sources, options), sources.cwd);
}
