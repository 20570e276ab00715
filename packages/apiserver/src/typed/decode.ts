/**
 * Objects of the built-in kinds, as the API server would read and write them back: unknown fields are dropped and
 * told, types are checked, empty things vanish where they do there, and what is never absent there appears.
 */
import { getOwn, isMapping, type Mapping, setOwn } from '@kopf-ts/core';
import { type Field, goNameOf, type StructType, type TypeRef, typeNamed } from '../schemas/types.js';
import { isZero, jsonTypeOf, scalarName, scalarValue, WrongType } from './scalars.js';

/** The message is what the API server says after `cannot be handled as a …: `. */
export class DecodingError extends Error {}

interface Decoded {
  readonly object: Mapping;
  /** Paths such as `spec.foo` or `spec.containers[0].bar`. */
  readonly unknownFields: readonly string[];
}

/** Reads one value of a type of the table. `apiVersion` and `kind` are nobody's fields: they are left to the caller. */
export type TypedDecoder = (typeName: string, value: Mapping) => Decoded;

const TYPE_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind']);

interface Place {
  /** For unknown fields: with indices. */
  readonly path: string;
  /** For type errors: the struct, and the fields down to here, without indices. */
  readonly struct: string;
  readonly fields: string;
}

export function typedDecoder(): TypedDecoder {
  return (typeName, value) => {
    const unknownFields: string[] = [];
    const object = decodeStruct(typeNamed(typeName), value, { path: '', struct: '', fields: '' }, unknownFields, true);
    return { object, unknownFields };
  };

  function decodeStruct(type: StructType, value: Mapping, at: Place, unknown: string[], isRoot: boolean): Mapping {
    const decode = (field: Field, given: unknown): unknown => {
      const place = {
        path: joined(at.path, field.name),
        struct: type.shortName,
        fields: at.fields === '' ? field.name : `${at.fields}.${goPathOf(type.shortName, field.name)}`,
      };
      return decodeField(field, given, place, unknown);
    };
    // In the order of the text: of several problems, the first one is told, and unknown fields are told in this order.
    const present = new Map<string, unknown>();
    for (const key of Object.keys(value)) {
      const field = type.byName.get(key);
      if (field === undefined) unknown.push(joined(at.path, key));
      else if (!isRoot || !TYPE_FIELDS.has(key)) present.set(key, decode(field, getOwn(value, key)));
    }
    const result: Mapping = {};
    for (const field of type.fields) {
      if (isRoot && TYPE_FIELDS.has(field.name)) continue;
      const decoded = present.has(field.name) ? present.get(field.name) : decode(field, undefined);
      if (decoded !== undefined) result[field.name] = decoded;
    }
    return result;
  }

  function decodeField(field: Field, value: unknown, at: Place, unknown: string[]): unknown {
    const { type, omitsEmpty, isPointer } = field;
    if (value === undefined || value === null) {
      if (isPointer || field.omitsZeroTime) return omitsEmpty ? undefined : null;
      const zero = zeroOf(type, at, unknown);
      return omitsEmpty && !isNeverEmpty(type) ? undefined : zero;
    }
    const decoded = decodeValue(type, value, at, unknown);
    if (omitsEmpty && !isPointer && !isNeverEmpty(type) && isZero(decoded)) return undefined;
    return decoded;
  }

  function decodeValue(type: TypeRef, value: unknown, at: Place, unknown: string[]): unknown {
    switch (type.is) {
      case 'scalar':
        return decodeScalar(type, value, at, unknown);
      case 'list':
        if (!Array.isArray(value)) throw mismatch(jsonTypeOf(value), at, type);
        return value.map((item: unknown, index) =>
          item === null || item === undefined
            ? zeroOf(type.of, at, unknown)
            : decodeValue(type.of, item, { ...at, path: `${at.path}[${index}]` }, unknown),
        );
      case 'map':
        if (!isMapping(value)) throw mismatch(jsonTypeOf(value), at, type);
        return decodeMap(type.of, value, at, unknown);
      case 'struct':
        if (!isMapping(value)) throw mismatch(jsonTypeOf(value), at, type);
        return decodeStruct(typeNamed(type.name), value, at, unknown, false);
    }
  }

  function decodeMap(type: TypeRef, value: Mapping, at: Place, unknown: string[]): Mapping {
    const result: Mapping = {};
    for (const key of Object.keys(value)) {
      const item = value[key];
      const place = { ...at, path: joined(at.path, key) };
      setOwn(
        result,
        key,
        item === null || item === undefined ? zeroOf(type, place, unknown) : decodeValue(type, item, place, unknown),
      );
    }
    return result;
  }

  function decodeScalar(type: TypeRef & { is: 'scalar' }, value: unknown, at: Place, unknown: string[]): unknown {
    const schema: TypeRef = { is: 'struct', name: 'apiextensions.JSONSchemaProps' };
    const isStruct = isMapping(value);
    if (type.scalar === 'propsOrBool' && isStruct) return decodeValue(schema, value, at, unknown);
    if (type.scalar === 'propsOrArray') {
      return decodeValue(
        Array.isArray(value) ? { is: 'list', of: schema, goName: undefined } : schema,
        value,
        at,
        unknown,
      );
    }
    if (type.scalar === 'propsOrStrings' && isStruct) return decodeValue(schema, value, at, unknown);
    try {
      return scalarValue(type.scalar, value);
    } catch (error) {
      if (error instanceof WrongType) throw mismatch(error.value, at, type);
      throw new DecodingError((error as Error).message);
    }
  }

  function zeroOf(type: TypeRef, at: Place, unknown: string[]): unknown {
    if (type.is === 'struct') return decodeStruct(typeNamed(type.name), {}, at, unknown, false);
    if (type.is !== 'scalar') return null;
    switch (type.scalar) {
      case 's':
        return '';
      case 'b':
        return false;
      case 'i':
      case 'l':
      case 'f':
      case 'intstr':
        return 0;
      case 'quantity':
        return '0';
      default:
        return null;
    }
  }
}

/** To the encoder of Go, these are structs: none of them is empty, whatever is in it. */
function isNeverEmpty(type: TypeRef): boolean {
  return type.is === 'struct' || (type.is === 'scalar' && STRUCTS.has(type.scalar));
}

const STRUCTS: ReadonlySet<string> = new Set(['time', 'micro', 'quantity']);

/** Structs within structs, of which only messages of decoders tell: by the outer one, its fields, or all others. */
const EMBEDDED: Readonly<Record<string, readonly [name: string, isWithin: (field: string) => boolean]>> = {
  Probe: ['ProbeHandler', (field) => ['exec', 'httpGet', 'tcpSocket', 'grpc'].includes(field)],
  IngressRule: ['IngressRuleValue', (field) => field === 'http'],
  Volume: ['VolumeSource', (field) => field !== 'name'],
  EphemeralContainer: ['EphemeralContainerCommon', (field) => field !== 'targetContainerName'],
  PersistentVolumeSpec: ['PersistentVolumeSource', (field) => !OF_VOLUMES.has(field)],
  ...Object.fromEntries(
    [
      ...['ConfigMapKeySelector', 'SecretKeySelector', 'ConfigMapEnvSource', 'SecretEnvSource'],
      ...['ConfigMapVolumeSource', 'ConfigMapProjection', 'SecretProjection'],
    ].map((name) => [name, ['LocalObjectReference', (field: string) => field === 'name'] as const]),
  ),
};
const OF_VOLUMES: ReadonlySet<string> = new Set([
  ...['accessModes', 'capacity', 'claimRef', 'mountOptions', 'nodeAffinity', 'persistentVolumeReclaimPolicy'],
  ...['storageClassName', 'volumeAttributesClassName', 'volumeMode'],
]);

/** The field, behind the struct in which it is embedded. */
function goPathOf(struct: string, field: string): string {
  const embedded = Object.hasOwn(EMBEDDED, struct) ? EMBEDDED[struct] : undefined;
  return embedded?.[1](field) === true ? `${embedded[0]}.${field}` : field;
}

function joined(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function mismatch(value: string, at: Place, type: TypeRef): DecodingError {
  const target = at.struct === '' ? 'Go value' : `Go struct field ${at.struct}.${at.fields}`;
  return new DecodingError(`json: cannot unmarshal ${value} into ${target} of type ${typeName(type)}`);
}

function typeName(type: TypeRef): string {
  switch (type.is) {
    case 'scalar':
      return type.goName ?? scalarName(type.scalar);
    case 'list':
      return type.goName ?? `[]${typeName(type.of)}`;
    case 'map':
      return type.goName ?? `map[string]${typeName(type.of)}`;
    case 'struct':
      return goNameOf(type.name);
  }
}
