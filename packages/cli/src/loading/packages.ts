/** Which imports of handlers are packages, and how a bundle finds them. */
import { existsSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { OnResolveArgs, OnResolveResult, Plugin, PluginBuild } from 'esbuild';

export interface OuterPackagesOptions {
  /** Where the bundle is going to be; `undefined` if it can be anywhere, and packages have to be named by their paths. */
  readonly folder: string | undefined;
  /** The address of our own copy of a package. */
  readonly resolve: (specifier: string) => string | undefined;
}

/** Names of packages: neither paths, nor private imports of a package (`#utils`), nor addresses. */
const BARE = /^(?:@[\w.~-]+\/)?[\w~-][\w.~-]*(?:\/.*)?$/;

/**
 * Leaves packages outside of the bundle. What is not in any `node_modules` on the way up is left to esbuild: it may be
 * an alias from tsconfig.json. Our own packages are found even if they are not installed beside the handlers.
 */
export function outerPackages({ folder, resolve }: OuterPackagesOptions): Plugin {
  return {
    name: 'packages stay outside',
    setup(build) {
      build.onResolve({ filter: BARE }, async (args): Promise<OnResolveResult | undefined> => {
        const { path: specifier, resolveDir } = args;
        if (args.pluginData === ASKED || isBuiltin(specifier)) return undefined;
        const home = folderWith(packageOf(specifier), resolveDir);
        if (home === undefined) {
          const own = resolve(specifier);
          return own === undefined ? undefined : { path: addressFor(args, fileURLToPath(own)), external: true };
        }
        if (folder !== undefined && isUnder(folder, home)) return { path: specifier, external: true };
        return await byPath(build, args);
      });
    },
  };
}

/** Marks the questions of our own, so that they are not answered by asking again. */
const ASKED = Symbol('asked');

async function byPath(build: PluginBuild, args: OnResolveArgs): Promise<OnResolveResult> {
  const { path, resolveDir, importer, kind } = args;
  const found = await build.resolve(path, { resolveDir, importer, kind, pluginData: ASKED });
  if (found.errors.length > 0) return { errors: found.errors };
  return { path: addressFor(args, found.path), external: true };
}

/** CommonJS requires files by their paths, and modules are imported by addresses. */
function addressFor({ kind }: OnResolveArgs, path: string): string {
  return kind === 'require-call' || kind === 'require-resolve' ? path : pathToFileURL(path).href;
}

/** The closest folder whose `node_modules` has the package, going up. */
function folderWith(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'node_modules', name))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

function isUnder(folder: string, ancestor: string): boolean {
  for (let current = folder; ; current = dirname(current)) {
    if (current === ancestor) return true;
    if (current === dirname(current)) return false;
  }
}

/** `@scope/name/sub/path` → `@scope/name`. */
function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}
