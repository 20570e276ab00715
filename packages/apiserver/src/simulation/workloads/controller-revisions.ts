/** What templates were before: controller revisions of stateful sets and daemon sets, to be compared and gone back to. */
import { deepCopy, deepEqual, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import type { Collection } from '../../contracts/store.js';
import { familyOf, ownerReference } from '../family.js';
import type { World } from '../world.js';
import { create, remove, replace, type Write } from '../writes.js';
import { templateHash } from './template-hashes.js';

export const REVISIONS: Collection = 'controllerrevisions.apps';

interface RevisionHistory {
  /** The oldest first. */
  readonly all: readonly ServedObject[];
  /** That of the present template; it has to be written first if it is absent. */
  readonly update: ServedObject | undefined;
  readonly writes: readonly Write[];
}

/** The revisions of the owner; the label under which they know their hashes is a matter of the kind. */
export function historyOf(world: World, owner: ServedObject, hashLabel: string): RevisionHistory {
  const family = familyOf(world, owner, REVISIONS);
  if (family.writes.length > 0) return { all: [], update: undefined, writes: family.writes };
  const all = [...family.members].sort((a, b) => numberOf(a) - numberOf(b));
  const data = dataOf(owner);
  const latest = all.at(-1);
  const equal = all.findLast((revision) => deepEqual(revision['data'], data));
  const next = latest === undefined ? 1 : numberOf(latest) + 1;
  if (equal === undefined) return { all, update: undefined, writes: creation(world, owner, data, next, hashLabel) };
  // What comes back is the newest again.
  if (equal !== latest) return { all, update: undefined, writes: [replace(REVISIONS, { ...equal, revision: next })] };
  return { all, update: equal, writes: [] };
}

const numberOf = (revision: ServedObject): number => revision['revision'] ?? 0;

/** Applied as a patch, it brings the template back. */
const dataOf = ({ spec }: ServedObject): Mapping => ({ spec: { template: { $patch: 'replace', ...spec.template } } });

/** The template as it was at that revision. */
export function templateOf(revision: ServedObject): Mapping {
  const { $patch: _patch, ...template } = deepCopy(revision['data'].spec.template);
  return template;
}

function creation(world: World, owner: ServedObject, data: Mapping, revision: number, label: string): readonly Write[] {
  const { namespace = '', name, annotations } = owner.metadata;
  const { template } = owner.spec;
  // Whatever has the name already is another one: ours would have been found.
  let collisions = 0;
  while (world.get(REVISIONS, namespace, `${name}-${templateHash(template, collisions)}`) !== undefined) collisions++;
  const hash = templateHash(template, collisions);
  return [
    create(REVISIONS, {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: {
        namespace,
        name: `${name}-${hash}`,
        labels: { ...template.metadata?.labels, [label]: hash },
        ...(annotations === undefined ? {} : { annotations }),
        ownerReferences: [ownerReference(owner)],
      },
      data,
      revision,
    }),
  ];
}

/** Deletes the oldest of those that nobody uses, beyond the limit. */
export function forgotten(
  owner: ServedObject,
  all: readonly ServedObject[],
  used: ReadonlySet<string>,
): readonly Write[] {
  const unused = all.filter(({ metadata }) => !used.has(metadata.name ?? ''));
  const limit: number = owner.spec.revisionHistoryLimit ?? 10;
  return unused.slice(0, Math.max(0, unused.length - limit)).map((revision) => remove(REVISIONS, revision));
}
