/** Objects for the cluster of `kopf dev`: from files of YAML or JSON. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { AnyObject } from '@kopf-ts/core';
import { Failure } from '../failures.js';
import { shortPath } from '../loading/sources.js';
import type { DevCluster } from '../runtime.js';

const MANIFEST = /\.(?:ya?ml|json)$/i;

/**
 * Files that are meant for it by their names: definitions (`crd.yaml`, `crds.yaml`, `my.crd.yaml`, `my-crd.yaml`), and
 * objects (`obj.yaml`, `object.yaml`, `objects.yaml`, `my.obj.yaml`, `peering.yaml`, …).
 */
const TELLING = /^(?:.+[.-])?(?:crds?|objs?|objects?|peerings?)\.(?:ya?ml|json)$/i;

/** Roles, bindings and accounts: `rbac.yaml`, `my.rbac.yaml`. They matter only where roles are enforced. */
const OF_ROLES = /^(?:.+[.-])?rbac\.(?:ya?ml|json)$/i;

/** Looks for manifests beside the handlers; and if there are none, in the folder above: several operators may share it. */
export async function findManifests(folder: string, withRoles = false): Promise<readonly string[]> {
  for (const place of [folder, dirname(folder)]) {
    const names = await readdir(place).catch(() => []);
    const found = names.filter((name) => TELLING.test(name) || (withRoles && OF_ROLES.test(name))).sort();
    if (found.length > 0) return found.map((name) => join(place, name));
  }
  return [];
}

/** The files, and those in the folders; each must exist. */
export async function expandManifests(paths: readonly string[], cwd: string): Promise<readonly string[]> {
  const files: string[] = [];
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) throw new Failure(`There is nothing to apply at "${shortPath(path, cwd)}".`);
    if (!found.isDirectory()) files.push(path);
    else {
      const names = await readdir(path, { recursive: true });
      const inside = names.filter((name) => MANIFEST.test(basename(name))).sort();
      if (inside.length === 0) throw new Failure(`There are no .yaml or .json files in "${shortPath(path, cwd)}".`);
      files.push(...inside.map((name) => join(path, name)));
    }
  }
  return files;
}

export interface Manifest {
  readonly file: string;
  readonly object: AnyObject;
}

/** All objects of the files, in the order in which they can be created: definitions, namespaces, and all others. */
export async function readManifests(files: readonly string[], cwd: string): Promise<readonly Manifest[]> {
  const manifests: Manifest[] = [];
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch((error: Error) => {
      throw new Failure(`"${shortPath(file, cwd)}" cannot be read: ${error.message}`, { cause: error });
    });
    for (const object of await parse(text, shortPath(file, cwd))) manifests.push({ file, object });
  }
  // The order within each group is that of the files.
  return manifests.toSorted((one, other) => rank(one.object) - rank(other.object));
}

async function parse(text: string, title: string): Promise<readonly AnyObject[]> {
  const { parseAllDocuments } = await import('yaml');
  return parseAllDocuments(text).flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) {
      const line = problem.linePos?.[0].line;
      const [what = ''] = problem.message.split('\n');
      throw new Failure(`${title}${line === undefined ? '' : `:${line}`}: ${what}`, { cause: problem });
    }
    const object = document.toJS() as AnyObject | null;
    if (object === null || object === undefined) return [];
    const items = Array.isArray(object.items) && object.kind?.endsWith('List') ? object.items : [object];
    return (items as AnyObject[]).map((item) => {
      if (typeof item === 'object' && item !== null && item.apiVersion && item.kind) return item;
      throw new Failure(`${title}: an object has no apiVersion or no kind, so it is not a Kubernetes object.`);
    });
  });
}

function rank({ kind, apiVersion }: AnyObject): number {
  if (kind === 'CustomResourceDefinition') return 0;
  return kind === 'Namespace' && apiVersion === 'v1' ? 1 : 2;
}

/** Creates or updates the objects one by one; fails at the first that the cluster refuses. */
export async function applyManifests(cluster: DevCluster, manifests: readonly Manifest[], cwd: string): Promise<void> {
  for (const { file, object } of manifests) {
    try {
      await cluster.apply([object]);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Failure(`${shortPath(file, cwd)}: ${nameOf(object)} cannot be applied: ${why}`, { cause: error });
    }
  }
}

/** In words: `KopfExample default/one`. */
export function nameOf({ kind, metadata }: AnyObject): string {
  const name = metadata?.name ?? metadata?.generateName ?? '';
  return `${kind} ${metadata?.namespace === undefined ? name : `${metadata.namespace}/${name}`}`;
}
