/** Custom resources as they are served: one row per served version of a definition. */
import { deepCopy, isMapping, type Mapping } from '@kopf-ts/core';
import { invalidValue } from '../causes.js';
import type { Cause, ServedObject } from '../contracts/objects.js';
import type { CompiledSchema, JsonSchema, SchemaCompiler } from '../contracts/schema.js';
import { itemsOf, maybeMapping } from '../kinds/defaults/setting.js';
import type { PrinterColumn, ScalePaths, Served, Strategy, Subresource } from '../kinds/served.js';
import { SUBRESOURCE_VERBS } from '../kinds/served.js';
import { DecodingError, type TypedDecoder } from '../typed/decode.js';
import { validateMetadata, validateMetadataUpdate } from '../validation/metadata.js';
import { dnsSubdomain } from '../validation/names.js';

/** In the order in which discovery lists them for custom resources. */
const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

export interface CustomParts {
  readonly decode: TypedDecoder;
  readonly compiler: SchemaCompiler;
  /** Grows with every change of the definition. */
  readonly schemaEpoch: number;
}

/** All served versions of a definition, under the names that it was given. */
export function serveDefinition(definition: ServedObject, parts: CustomParts): readonly Served[] {
  const spec = definition.spec as Mapping;
  const names = maybeMapping(maybeMapping(definition, 'status'), 'acceptedNames') ?? {};
  const group = String(spec.group);
  const versions = itemsOf(spec, 'versions');
  const storage = versions.find((version) => version.storage === true);
  const list = (key: string): readonly string[] => (Array.isArray(names[key]) ? (names[key] as string[]) : []);

  return versions
    .filter((version) => version.served === true)
    .map((version): Served => {
      const apiVersion = `${group}/${String(version.name)}`;
      const kind = String(names.kind);
      const columns = itemsOf(version, 'additionalPrinterColumns') as unknown as readonly PrinterColumn[];
      return {
        group,
        version: String(version.name),
        plural: String(names.plural),
        singular: String(names.singular ?? ''),
        kind,
        listKind: String(names.listKind ?? `${kind}List`),
        namespaced: spec.scope === 'Namespaced',
        shortNames: list('shortNames'),
        categories: list('categories'),
        verbs: VERBS,
        collection: definition.metadata.name as string,
        apiVersion,
        storageApiVersion: `${group}/${String(storage?.name ?? version.name)}`,
        isCustom: true,
        subresources: subresourcesOf(version, kind),
        strategy: strategyOf(spec, version, { apiVersion, kind }, parts),
        ...(columns.length > 0 ? { columns } : {}),
      };
    });
}

function subresourcesOf(version: Mapping, kind: string): readonly Subresource[] {
  const declared = maybeMapping(version, 'subresources');
  const found: Subresource[] = [];
  if (maybeMapping(declared, 'status') !== undefined) found.push({ name: 'status', kind, verbs: SUBRESOURCE_VERBS });
  if (maybeMapping(declared, 'scale') !== undefined) {
    found.push({ name: 'scale', kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: SUBRESOURCE_VERBS });
  }
  return found;
}

function scaleOf(version: Mapping): ScalePaths | undefined {
  const scale = maybeMapping(maybeMapping(version, 'subresources'), 'scale');
  if (scale === undefined) return undefined;
  return {
    specReplicas: String(scale.specReplicasPath),
    statusReplicas: String(scale.statusReplicasPath),
    labelSelector: typeof scale.labelSelectorPath === 'string' ? scale.labelSelectorPath : undefined,
  };
}

function strategyOf(
  spec: Mapping,
  version: Mapping,
  { apiVersion, kind }: { apiVersion: string; kind: string },
  { decode, compiler, schemaEpoch }: CustomParts,
): Strategy {
  const namespaced = spec.scope === 'Namespaced';
  const hasStatus = maybeMapping(maybeMapping(version, 'subresources'), 'status') !== undefined;
  const scale = scaleOf(version);
  const selectable = new Map(
    itemsOf(version, 'selectableFields').map(({ jsonPath }) => {
      const path = String(jsonPath).replace(/^\./, '');
      return [path, path];
    }),
  );
  let compiled: CompiledSchema | undefined;
  /** Most definitions are never used by a short-lived cluster; and compiling takes its time. */
  const schema = (): CompiledSchema => {
    compiled ??= compiler.compile(
      (maybeMapping(maybeMapping(version, 'schema'), 'openAPIV3Schema') ?? {}) as JsonSchema,
      {
        preserveUnknownFields: spec.preserveUnknownFields === true,
      },
    );
    return compiled;
  };
  const blank = (): ServedObject => ({ apiVersion, kind, metadata: {} });

  return {
    allowsUnconditionalUpdate: false,
    allowsCreateOnUpdate: false,
    countsGenerations: true,
    statusIsSeparate: hasStatus,
    returnsDeleted: false,
    orphansByDefault: false,
    schemaEpoch,
    blank,
    decode(raw) {
      const given = raw.metadata ?? {};
      if (!isMapping(given)) {
        throw new DecodingError('json: cannot unmarshal into Go struct field .metadata of type v1.ObjectMeta');
      }
      const { object: metadata, unknownFields } = decode('meta.ObjectMeta', given);
      const { apiVersion: _apiVersion, kind: givenKind, metadata: _metadata, ...rest } = raw;
      const object = { apiVersion, kind: givenKind, metadata, ...rest } as ServedObject;
      const pruned = schema().prune(object);
      schema().applyDefaults(object);
      return { object, unknownFields: [...unknownFields.map((path) => `metadata.${path}`), ...pruned].sort() };
    },
    refresh(object) {
      schema().prune(object);
      schema().applyDefaults(object);
    },
    prepareForCreate(object) {
      if (hasStatus) delete object.status;
    },
    prepareForUpdate(object, old, subresource) {
      if (subresource === 'status') keepAllButStatus(object, old);
      else if (hasStatus) keepStatus(object, old);
    },
    validate: (object) => [
      ...wrongKind(object, kind),
      ...validateMetadata(object.metadata, namespaced, dnsSubdomain),
      ...schema().validate(object),
    ],
    validateUpdate: (object, old, subresource) => [
      ...wrongKind(object, kind),
      ...validateMetadataUpdate(object.metadata, old.metadata),
      ...(subresource === 'status' ? schema().validate(object, old, 'status') : schema().validate(object, old)),
    ],
    selectableField(label) {
      if (label === 'metadata.name' || (label === 'metadata.namespace' && namespaced)) return { path: label };
      const path = selectable.get(label);
      return path === undefined ? { error: `field label not supported: ${label}` } : { path };
    },
    ...(scale === undefined ? {} : { scale }),
  };
}

function wrongKind(object: ServedObject, kind: string): readonly Cause[] {
  return object.kind === kind ? [] : [invalidValue('kind', object.kind, `must be ${kind}`)];
}

function keepStatus(object: ServedObject, old: ServedObject): void {
  if (old.status === undefined) delete object.status;
  else object.status = deepCopy(old.status);
}

/** An update of the status changes nothing else, not even labels. */
function keepAllButStatus(object: ServedObject, old: ServedObject): void {
  const { status, kind } = object;
  const { resourceVersion } = object.metadata;
  for (const key of Object.keys(object)) delete object[key];
  Object.assign(object, deepCopy(old), { kind });
  if (status === undefined) delete object.status;
  else object.status = status;
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
}
