/** Custom resources as they are served: one row per served version of a definition. */
import { deepCopy, isMapping, type Mapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../contracts/objects.js';
import type { CompiledSchema, JsonSchema, SchemaCompiler } from '../contracts/schema.js';
import { itemsOf, maybeMapping } from '../kinds/defaults/setting.js';
import type { Decoded, PrinterColumn, ScalePaths, Served, Strategy, Subresource } from '../kinds/served.js';
import { SUBRESOURCE_VERBS } from '../kinds/served.js';
import { compareVersions } from '../kinds/versions.js';
import { OLDEST_EPOCH } from '../store/revision.js';
import { invalidValue } from '../text/field-causes.js';
import { DecodingError, type TypedDecoder } from '../typed/decode.js';
import { jsonTypeOf } from '../typed/scalars.js';
import { STANDARD_FINALIZERS, validateMetadata, validateMetadataUpdate } from '../validation/metadata.js';
import { dnsSubdomain } from '../validation/names.js';
import { validateScale } from './scale-rules.js';

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
  const schemas = new Map(
    versions.map((version) => [`${group}/${String(version.name)}`, lazySchema(spec, version, parts.compiler)]),
  );
  const storageApiVersion = `${group}/${String(storage?.name)}`;
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
        storageApiVersion,
        isCustom: true,
        subresources: subresourcesOf(version, kind),
        schema: schemaOf(version),
        strategy: strategyOf(spec, version, { apiVersion, kind }, parts, schemas),
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
  { decode, schemaEpoch }: CustomParts,
  schemas: ReadonlyMap<string, () => CompiledSchema>,
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
  const schema = schemas.get(apiVersion) as () => CompiledSchema;
  const storage = itemsOf(spec, 'versions').find((one) => one.storage === true);
  const storageApiVersion = `${String(spec.group)}/${String(storage?.name)}`;
  const storageSchema = schemas.get(storageApiVersion) as () => CompiledSchema;
  const blank = (): ServedObject => ({ apiVersion, kind, metadata: {} });
  const decodeBy = (by: CompiledSchema, raw: Mapping, { dropsNulls }: { dropsNulls: boolean }): Decoded => {
    const { object: metadata, unknownFields } = readMetadata(decode, raw.metadata);
    const { apiVersion: givenVersion, kind: givenKind, metadata: _metadata, ...rest } = raw;
    const object = { apiVersion: givenVersion, kind: givenKind, metadata, ...rest } as ServedObject;
    const pruned = by.prune(object);
    if (dropsNulls) by.dropNulls(object);
    // Where nulls stay, whoever validates the object is to see them.
    by.readEmbedded(object, (inside) => (inside === null && !dropsNulls ? null : readMetadata(decode, inside).object));
    by.fillIn(object);
    return { object, unknownFields: [...unknownFields.map((path) => `metadata.${path}`), ...pruned].sort() };
  };
  let hasUntoldRules = JSON.stringify(version.schema ?? {}).includes('"x-kubernetes-validations"');
  /** Once: what passes here may be refused by a real cluster. */
  const tellOfRules = (): readonly string[] => {
    if (!hasUntoldRules) return [];
    hasUntoldRules = false;
    const text = `The rules in x-kubernetes-validations of ${kind} (${apiVersion}) are not evaluated by this server; a real cluster may refuse what passes here.`;
    process.emitWarning(text, { code: 'KOPF_RULES_NOT_EVALUATED' });
    return [text];
  };

  return {
    allowsUnconditionalUpdate: false,
    allowsCreateOnUpdate: false,
    countsGenerations: true,
    statusIsSeparate: hasStatus,
    returnsDeleted: false,
    orphansByDefault: false,
    ...(version.deprecated === true ? { deprecation: deprecationOf(spec, version) } : {}),
    // What is written in another version is stored without the defaults of the stored one: they are for reading.
    schemaEpoch: storageApiVersion === apiVersion ? schemaEpoch : OLDEST_EPOCH,
    blank,
    decode: (raw) => decodeBy(schema(), raw, { dropsNulls: true }),
    // Only what is read from somewhere loses its nulls: from the store, next time.
    decodeApplied: (raw) => decodeBy(schema(), raw, { dropsNulls: false }),
    refresh(object) {
      // Defaults are those of the version in which it is stored; those of other versions are for what is sent.
      const stored = schemas.get(object.apiVersion)?.();
      stored?.prune(object);
      stored?.dropNulls(object);
      stored?.fillIn(object);
      if (object.apiVersion !== apiVersion) schema().prune(object);
    },
    prepareForCreate(object) {
      if (hasStatus) delete object.status;
    },
    prepareForUpdate(object, old, subresource) {
      if (subresource === 'status') keepAllButStatus(object, old);
      else if (hasStatus) keepStatus(object, old);
    },
    validate(object) {
      const wrong = wrongType(object, apiVersion, kind);
      // Nobody knows what else would be expected of another kind.
      if (wrong.length > 0) return wrong;
      return [
        ...validateMetadata(object.metadata, namespaced, dnsSubdomain),
        ...schema().validate(object),
        ...validateScale(object, scale),
      ];
    },
    warnings: (object, old) => [...tellOfRules(), ...finalizerWarnings(object, old)],
    ...(storageApiVersion === apiVersion
      ? {}
      : {
          toStorage(object) {
            // Whatever the version of the request allows, only what the stored one knows is kept.
            const stored = deepCopy({ ...object, apiVersion: storageApiVersion });
            storageSchema().prune(stored);
            storageSchema().dropNulls(stored);
            return stored;
          },
        }),
    validateUpdate(object, old, subresource) {
      const wrong = wrongType(object, apiVersion, kind);
      if (wrong.length > 0) return wrong;
      const part = subresource === 'status' ? 'status' : undefined;
      return [
        ...validateMetadataUpdate(object.metadata, old.metadata),
        ...schema().validate(object, old, part),
        ...validateScale(object, scale, part),
      ];
    },
    selectableField(label) {
      if (label === 'metadata.name' || (label === 'metadata.namespace' && namespaced)) return { path: label };
      const path = selectable.get(label);
      return path === undefined ? { error: `field label not supported: ${label}` } : { path };
    },
    ...(scale === undefined ? {} : { scale }),
  };
}

/** Also that of an embedded resource. */
export function readMetadata(decode: TypedDecoder, given: unknown): ReturnType<TypedDecoder> {
  if (isMapping(given ?? {})) return decode('meta.ObjectMeta', (given ?? {}) as Mapping);
  throw new DecodingError(`json: cannot unmarshal ${jsonTypeOf(given)} into Go value of type v1.ObjectMeta`);
}

/** What users of a deprecated version are told: in the words of the definition, or what to use instead. */
function deprecationOf(spec: Mapping, version: Mapping): string {
  if (typeof version.deprecationWarning === 'string') return version.deprecationWarning;
  const name = String(version.name);
  const kind = String(maybeMapping(spec, 'names')?.kind);
  const called = (other: string): string => `${String(spec.group)}/${other} ${kind}`;
  const [better] = itemsOf(spec, 'versions')
    .filter(({ served, deprecated }) => served === true && deprecated !== true)
    .map((other) => String(other.name))
    .filter((other) => compareVersions(other, name) < 0)
    .sort(compareVersions);
  return `${called(name)} is deprecated${better === undefined ? '' : `; use ${called(better)}`}`;
}

function schemaOf(version: Mapping): JsonSchema {
  return maybeMapping(maybeMapping(version, 'schema'), 'openAPIV3Schema') ?? {};
}

/** Most definitions are never used by a short-lived cluster; and compiling takes its time. */
function lazySchema(spec: Mapping, version: Mapping, compiler: SchemaCompiler): () => CompiledSchema {
  let compiled: CompiledSchema | undefined;
  return () => {
    compiled ??= compiler.compile(schemaOf(version), { preserveUnknownFields: spec.preserveUnknownFields === true });
    return compiled;
  };
}

function wrongType(object: ServedObject, apiVersion: string, kind: string): readonly Cause[] {
  return [
    ...(object.kind === kind ? [] : [invalidValue('kind', object.kind, `must be ${kind}`)]),
    ...(object.apiVersion === apiVersion
      ? []
      : [invalidValue('apiVersion', object.apiVersion, `must be ${apiVersion}`)]),
  ];
}

/** Custom resources may have any finalizers; but who knows who else has the same idea. */
function finalizerWarnings(object: ServedObject, old: ServedObject | undefined): readonly string[] {
  const known = old?.metadata.finalizers ?? [];
  const added = [...new Set(object.metadata.finalizers ?? [])].filter((finalizer) => !known.includes(finalizer)).sort();
  return added.flatMap((finalizer) => {
    if (finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)) return [];
    const path = finalizer.includes('.') ? ' including a path (/)' : '';
    return [
      `metadata.finalizers: "${finalizer}": prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`,
    ];
  });
}

function keepStatus(object: ServedObject, old: ServedObject): void {
  if (old.status === undefined) delete object.status;
  else object.status = deepCopy(old.status);
}

/** An update of the status changes nothing else, not even labels. */
function keepAllButStatus(object: ServedObject, old: ServedObject): void {
  const { status, kind } = object;
  const { resourceVersion, managedFields } = object.metadata;
  for (const key of Object.keys(object)) delete object[key];
  Object.assign(object, deepCopy(old), { kind });
  if (status === undefined) delete object.status;
  else object.status = status;
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
  if (managedFields === undefined) delete object.metadata.managedFields;
  else object.metadata.managedFields = managedFields;
}
