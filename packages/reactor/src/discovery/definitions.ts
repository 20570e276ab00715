/** What a definition of a custom resource promises, and whether the cluster keeps the promise yet. Pure. */
import type { AnyObject, Resource } from '@kopf-ts/core';

/** What one definition makes the cluster serve. */
export interface Promised {
  /** The name of the definition. */
  readonly name: string;
  readonly group: string;
  readonly plural: string;
  /** By version. Empty for a deleted definition. */
  readonly kinds: ReadonlyMap<string, PromisedKind>;
}

interface PromisedKind {
  readonly kind: string | undefined;
  readonly isNamespaced: boolean;
  readonly subresources: ReadonlySet<string>;
  readonly shortcuts: ReadonlySet<string>;
  readonly categories: ReadonlySet<string>;
}

interface Definition {
  readonly spec?: {
    readonly scope?: string;
    readonly names?: Names;
    readonly versions?: readonly {
      readonly name: string;
      readonly served?: boolean;
      readonly subresources?: { readonly status?: object | null; readonly scale?: object | null } | null;
    }[];
  };
  readonly status?: {
    readonly acceptedNames?: Names;
    readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
  };
}

interface Names {
  readonly kind?: string;
  readonly shortNames?: readonly string[] | null;
  readonly categories?: readonly string[] | null;
}

/**
 * The group of the kind. By convention, the name of the definition contains it, and sometimes there is only the name.
 */
export function groupOf({ metadata }: AnyObject): string {
  const name = metadata?.name ?? '';
  return name.slice(name.indexOf('.') + 1);
}

/** What the definition promises; `undefined` while it is not in force yet, or is about to go away. */
export function promisedBy(definition: AnyObject): Promised | undefined {
  const { spec, status } = definition as Definition;
  const isEstablished = status?.conditions?.some((one) => one.type === 'Established' && one.status === 'True');
  if (!isEstablished || definition.metadata?.deletionTimestamp) return undefined;
  const names = { ...spec?.names, ...status?.acceptedNames };
  const kinds = (spec?.versions ?? [])
    .filter(({ served }) => served)
    .map(({ name, subresources }): [string, PromisedKind] => [
      name,
      {
        kind: names.kind,
        isNamespaced: spec?.scope === 'Namespaced',
        subresources: new Set([...(subresources?.status ? ['status'] : []), ...(subresources?.scale ? ['scale'] : [])]),
        shortcuts: new Set(names.shortNames ?? []),
        categories: new Set(names.categories ?? []),
      },
    ]);
  return { ...addressOf(definition), kinds: new Map(kinds) };
}

/** Nothing is promised any more. */
export function nothingOf(definition: AnyObject): Promised {
  return { ...addressOf(definition), kinds: new Map() };
}

function addressOf(definition: AnyObject): Pick<Promised, 'name' | 'group' | 'plural'> {
  const name = definition.metadata?.name ?? '';
  return { name, group: groupOf(definition), plural: name.slice(0, Math.max(0, name.indexOf('.'))) };
}

/** Whether the kind is discovered as promised. The servers get there some time after the definition has changed. */
export function isKept({ group, plural, kinds }: Promised, resources: Iterable<Resource>): boolean {
  const discovered = [...resources].filter((resource) => resource.group === group && resource.plural === plural);
  return (
    discovered.length === kinds.size &&
    discovered.every((resource) => {
      const promised = kinds.get(resource.version);
      return promised !== undefined && isAsPromised(promised, resource);
    })
  );
}

function isAsPromised(promised: PromisedKind, resource: Resource): boolean {
  return (
    promised.kind === resource.kind &&
    promised.isNamespaced === resource.namespaced &&
    areEqual(promised.subresources, resource.subresources) &&
    areEqual(promised.shortcuts, resource.shortcuts) &&
    areEqual(promised.categories, resource.categories)
  );
}

function areEqual(one: ReadonlySet<string>, two: ReadonlySet<string>): boolean {
  return one.size === two.size && [...one].every((member) => two.has(member));
}
