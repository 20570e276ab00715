/**
 * Who manages the replicas, as the `scale` subresource sees it: there they are at another path, in an object of another
 * kind. Other fields of the managers are of no interest there, and stay.
 */
import { difference, type FieldSet, isMember, setOf } from './field-sets.js';
import { distinct, keyOf, type ManagerEntry, settled } from './managers.js';

export const SCALE_VERSION = 'autoscaling/v1';
const REPLICAS_OF_SCALE = setOf('f:spec', 'f:replicas');

export interface ScaleManagers {
  /** Of the scale. */
  readonly managers: readonly ManagerEntry[];
  /** Of the scaled object, given those of the scale after a write. */
  toParent(managers: readonly ManagerEntry[]): readonly ManagerEntry[];
}

/**
 * Where the replicas are in the versions of the scaled object: `.spec.replicas`. Empty for versions that cannot be
 * scaled, and `undefined` for unknown ones.
 */
export type ReplicasPaths = (apiVersion: string) => string | undefined;

export function scaleManagers(
  parents: readonly ManagerEntry[],
  pathIn: ReplicasPaths,
  apiVersion: string,
): ScaleManagers {
  const stepsIn = (version: string): readonly string[] | undefined => {
    const names = pathIn(version)?.split('.');
    return names?.filter((name) => name !== '').map((name) => `f:${name}`);
  };
  const known = distinct(parents);
  const hasReplicas = ({ apiVersion: version, fieldsV1 }: ManagerEntry): boolean => {
    const steps = stepsIn(version);
    return steps !== undefined && has(fieldsV1, steps);
  };
  return {
    managers: settled(
      known.filter(hasReplicas).map((entry) => ({ ...entry, apiVersion: SCALE_VERSION, fieldsV1: REPLICAS_OF_SCALE })),
    ),
    toParent(managers) {
      // As there: managers that update are told apart by their versions, and that of the scale is another one. So they
      // lose the replicas here, and get them back below as if they were new, and without a time.
      const scaling = new Map(managers.map((entry) => [keyOf(entry), entry]));
      const entries: ManagerEntry[] = [];
      for (const parent of known) {
        const steps = stepsIn(parent.apiVersion);
        if (steps === undefined) continue;
        const isKept = !has(parent.fieldsV1, steps) || scaling.delete(keyOf(parent));
        entries.push(isKept ? parent : { ...parent, fieldsV1: difference(parent.fieldsV1, setOf(...steps)) });
      }
      const own = setOf(...(stepsIn(apiVersion) ?? []));
      for (const { time: _time, ...entry } of scaling.values()) entries.push({ ...entry, apiVersion, fieldsV1: own });
      return settled(entries);
    },
  };
}

function has(set: FieldSet, steps: readonly string[]): boolean {
  if (steps.length === 0) return false;
  let node: FieldSet | undefined = set;
  for (const step of steps) node = node?.[step];
  return node !== undefined && isMember(node);
}
