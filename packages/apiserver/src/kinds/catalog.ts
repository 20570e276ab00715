/** All that is served at the moment: the built-in kinds, and the custom ones as they come and go. */
import type { Catalog } from '../contracts/resource.js';
import type { Collection } from '../contracts/store.js';
import type { Served } from './served.js';
import { compareVersions } from './versions.js';

export interface ServedCatalog extends Catalog {
  all(): Iterable<Served>;
  find(group: string, version: string, plural: string): Served | undefined;
  findKind(group: string, version: string, kind: string): Served | undefined;
  versionsOf(collection: Collection): readonly Served[];
  /** Are the kinds of this group built in, as opposed to those of definitions? */
  isBuiltinGroup(group: string): boolean;
  /** In the order of preference; groups in the order of their appearance. */
  groups(): ReadonlyMap<string, readonly string[]>;
  /** Replaces all versions of a collection; none removes it. */
  serve(collection: Collection, versions: readonly Served[]): void;
}

export function makeCatalog(builtins: readonly Served[]): ServedCatalog {
  const builtinGroups = new Set(builtins.map(({ group }) => group));
  const byCollection = new Map<Collection, readonly Served[]>();
  let byAddress = new Map<string, Served>();
  let byKind = new Map<string, Served>();
  let groups = new Map<string, readonly string[]>();

  const addressOf = (group: string, version: string, plural: string): string => `${group}/${version}/${plural}`;

  const rebuild = (): void => {
    byAddress = new Map();
    byKind = new Map();
    const versions = new Map<string, Set<string>>();
    for (const served of [...byCollection.values()].flat()) {
      byAddress.set(addressOf(served.group, served.version, served.plural), served);
      byKind.set(addressOf(served.group, served.version, served.kind), served);
      versions.set(served.group, (versions.get(served.group) ?? new Set()).add(served.version));
    }
    groups = new Map([...versions].map(([group, names]) => [group, [...names].sort(compareVersions)]));
  };

  for (const served of builtins) {
    byCollection.set(served.collection, [...(byCollection.get(served.collection) ?? []), served]);
  }
  rebuild();

  return {
    all: () => byAddress.values(),
    find: (group, version, plural) => byAddress.get(addressOf(group, version, plural)),
    findKind: (group, version, kind) => byKind.get(addressOf(group, version, kind)),
    versionsOf: (collection) => byCollection.get(collection) ?? [],
    isBuiltinGroup: (group) => builtinGroups.has(group),
    groups: () => groups,
    serve(collection, versions) {
      if (versions.length === 0) byCollection.delete(collection);
      else
        byCollection.set(
          collection,
          [...versions].sort((a, b) => compareVersions(a.version, b.version)),
        );
      rebuild();
    },
  };
}
