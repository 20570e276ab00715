/** Built-in kinds as they are served: the rows of the table with their common behaviour. */
import { deepCopy, deepEqual, isMapping, type Mapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../contracts/objects.js';
import { DecodingError, type TypedDecoder } from '../typed/decode.js';
import { builtinRules } from '../validation/kinds/all.js';
import { validateCoreFinalizers, validateMetadata, validateMetadataUpdate } from '../validation/metadata.js';
import type { BuiltinKind } from './builtin-kinds.js';
import { preparations } from './preparations.js';
import type { Served, Strategy } from './served.js';

/** Subresources of pods. */
const PARTS = new Set(['ephemeralcontainers', 'resize']);

/** A kind as it is served. `decode` is shared: it remembers the types it has met. */
export function serveBuiltin(kind: BuiltinKind, decode: TypedDecoder): Served {
  const { group, version } = kind;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const storageApiVersion = kind.conversion?.apiVersion ?? apiVersion;
  const storageGroup = storageApiVersion.includes('/') ? group : '';
  return {
    group,
    version,
    plural: kind.plural,
    singular: kind.singular,
    kind: kind.kind,
    listKind: `${kind.kind}List`,
    namespaced: kind.namespaced,
    shortNames: kind.shortNames,
    categories: kind.categories,
    verbs: kind.verbs,
    // Events of both groups are the same objects.
    collection: storageGroup === '' ? kind.plural : `${kind.plural}.${storageGroup}`,
    apiVersion,
    storageApiVersion,
    isCustom: false,
    subresources: kind.subresources,
    type: kind.type,
    strategy: strategyOf(kind, apiVersion, decode),
  };
}

function strategyOf(kind: BuiltinKind, apiVersion: string, decode: TypedDecoder): Strategy {
  const rules = builtinRules.get(kind.type);
  const preparation = preparations.get(kind.type);
  const hasStatus = kind.subresources.some(({ name }) => name === 'status');

  const ownMetadata = (object: ServedObject): readonly Cause[] => [
    ...validateMetadata(object.metadata, kind.namespaced, rules?.nameRule?.(object) ?? kind.nameRule),
    ...validateCoreFinalizers(object.metadata.finalizers ?? []),
  ];

  return {
    allowsUnconditionalUpdate: kind.allowsUnconditionalUpdate,
    allowsCreateOnUpdate: kind.allowsCreateOnUpdate,
    countsGenerations: kind.countsGenerations,
    statusIsSeparate: true,
    returnsDeleted: kind.returnsDeleted,
    orphansByDefault: kind.orphansByDefault,
    ...(kind.deprecation === undefined ? {} : { deprecation: kind.deprecation }),
    ...(kind.group === 'events.k8s.io' ? { reportedGroup: '' } : {}),
    ...(kind.isUnmanaged === true ? { isUnmanaged: true } : {}),
    schemaEpoch: 0,
    blank: () => ({ apiVersion, kind: kind.kind, ...decode(kind.type, { metadata: {} }).object }) as ServedObject,
    decode(raw) {
      const { object: fields, unknownFields } = decode(kind.type, raw);
      if (!isMapping(fields.metadata)) throw new DecodingError('metadata is missing');
      const object = { apiVersion, kind: kind.kind, ...fields } as ServedObject;
      kind.defaults?.(object, raw);
      return { object: kind.conversion?.settled?.(object) ?? object, unknownFields };
    },
    prepareForCreate(object, context) {
      if (kind.resetsStatus) resetStatus(object, kind, decode);
      preparation?.create?.(object, context);
    },
    prepareForUpdate(object, old, subresource, timestamp) {
      if (subresource === '' && hasStatus) keep(object, old, 'status');
      if (subresource === 'status') keepAllBut(object, old, ['metadata', 'status']);
      preparation?.update?.(object, old, subresource, timestamp);
    },
    validate: (object) => [
      ...(kind.leavesMetadata === true ? [] : ownMetadata(object)),
      ...(rules?.validate?.(object) ?? []),
      ...(rules?.validateCreate?.(object) ?? []),
    ],
    validateUpdate: (object, old, subresource) => [
      ...(kind.leavesMetadata === true
        ? []
        : [
            ...validateMetadataUpdate(object.metadata, old.metadata),
            ...validateCoreFinalizers(object.metadata.finalizers ?? []),
          ]),
      ...(kind.revalidatesMetadata ? ownMetadata(object) : []),
      ...(subresource === '' || PARTS.has(subresource) ? (rules?.validate?.(object) ?? []) : []),
      ...(subresource === '' ? (rules?.validateUpdate?.(object, old) ?? []) : []),
      ...(PARTS.has(subresource) ? (rules?.validateParts?.(object, old, subresource) ?? []) : []),
      ...(subresource === 'finalize' ? (rules?.validateFinalize?.(object) ?? []) : []),
      ...(subresource === 'status' ? (rules?.validateStatus?.(object, old) ?? []) : []),
      ...(subresource === 'approval' ? (rules?.validateStatus?.(object, old) ?? []) : []),
    ],
    selectableField(label) {
      const path = Object.hasOwn(kind.fields, label) ? kind.fields[label] : undefined;
      return path === undefined ? { error: unknownField(kind, label) } : { path };
    },
    ...(preparation?.allocate === undefined ? {} : { allocate: preparation.allocate }),
    ...(rules?.warnings === undefined ? {} : { warnings: rules.warnings }),
    ...(preparation?.gracePeriod === undefined ? {} : { gracePeriod: preparation.gracePeriod }),
    ...(preparation?.fieldValue === undefined ? {} : { fieldValue: preparation.fieldValue }),
    ...(kind.scale === undefined ? {} : { scale: kind.scale }),
    ...(kind.conversion === undefined
      ? {}
      : { toStorage: kind.conversion.toStorage, fromStorage: kind.conversion.fromStorage }),
  };
}

/** Kinds with fields of their own answer differently from those with none. */
function unknownField(kind: BuiltinKind, label: string): string {
  if (kind.type === 'batch.Job') return `field label "${label}" not supported for Job`;
  const hasOwnFields = Object.keys(kind.fields).length !== 2 || !Object.hasOwn(kind.fields, 'metadata.namespace');
  return hasOwnFields
    ? `field label not supported: ${label}`
    : `"${label}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

/** A status as it is when there is none: not every status is an empty one. */
function resetStatus(object: ServedObject, kind: BuiltinKind, decode: TypedDecoder): void {
  delete object.status;
  const { status } = decode(kind.type, { metadata: {} }).object;
  if (status !== undefined) object.status = status;
  kind.defaults?.(object);
}

function keep(object: Mapping, old: Mapping, key: string): void {
  if (old[key] === undefined) delete object[key];
  else object[key] = deepCopy(old[key]);
}

function keepAllBut(object: Mapping, old: Mapping, except: readonly string[]): void {
  for (const key of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (!except.includes(key) && !deepEqual(object[key], old[key])) keep(object, old, key);
  }
}
