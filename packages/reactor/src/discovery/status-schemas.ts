/** Which keys of `status` the server would prune because the schema of the kind lacks them. */
import { type AnyObject, getOwn, isMapping, type Mapping, type Resource } from '@kopf-ts/core';

interface StatusSchemas {
  /** Whether this key at the top of `status` is known to be pruned. False if nothing is known. */
  prunes(resource: Resource, key: string): boolean;
}

/** The writable side, filled from the definitions of custom resources. */
export interface LearnedStatusSchemas extends StatusSchemas {
  learn(definition: AnyObject): void;
  forget(definition: AnyObject): void;
}

/** The keys that are kept; `'all'` if the schema is not that strict. */
type KeptKeys = ReadonlySet<string> | 'all';

export function statusSchemas(): LearnedStatusSchemas {
  // Only the names are kept: the definitions themselves can be megabytes.
  const byDefinition = new Map<string, ReadonlyMap<string, KeptKeys>>();
  return {
    prunes({ group, version, plural }, key) {
      const kept = byDefinition.get(`${plural}.${group}`)?.get(version);
      return kept !== undefined && kept !== 'all' && !kept.has(key);
    },
    learn(definition) {
      byDefinition.set(definition.metadata?.name ?? '', keptStatusKeys(definition));
    },
    forget(definition) {
      byDefinition.delete(definition.metadata?.name ?? '');
    },
  };
}

/** The keys of `status` that the server keeps, by version. */
function keptStatusKeys(definition: AnyObject): ReadonlyMap<string, KeptKeys> {
  const spec = mappingAt(definition, 'spec') ?? {};
  const versions = getOwn(spec, 'versions');
  const named = (Array.isArray(versions) ? versions : []).filter(isMapping);
  return new Map(named.map((version) => [String(getOwn(version, 'name')), keptByVersion(spec, version)]));
}

function keptByVersion(spec: Mapping, version: Mapping): KeptKeys {
  if (getOwn(spec, 'preserveUnknownFields') === true) return 'all';
  // The second place is from the times of one schema for all versions.
  const holder = mappingAt(version, 'schema') ?? mappingAt(spec, 'validation');
  const schema = holder && mappingAt(holder, 'openAPIV3Schema');
  if (schema === undefined) return 'all';
  const status = mappingAt(mappingAt(schema, 'properties') ?? {}, 'status');
  if (status === undefined) return keepsUnknown(schema) ? 'all' : new Set();
  // What the root says does not extend to what is described on its own.
  return keepsUnknown(status) ? 'all' : new Set(Object.keys(mappingAt(status, 'properties') ?? {}));
}

function keepsUnknown(schema: Mapping): boolean {
  const additional = getOwn(schema, 'additionalProperties');
  return (
    getOwn(schema, 'x-kubernetes-preserve-unknown-fields') === true || additional === true || isMapping(additional)
  );
}

function mappingAt(source: object, key: string): Mapping | undefined {
  const value = getOwn(source, key);
  return isMapping(value) ? value : undefined;
}
