/**
 * Objects of the built-in kinds as some clients send them: in protobuf, as kubectl does for what it makes up itself.
 * Only reading is needed: clients that send it understand JSON, too.
 */
import { type Mapping, setOwn } from '@kopf-ts/core';
import { type Field, type Scalar, type TypeRef, typeNamed, typeNameOf } from '../schemas/types.js';

export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** The message is no such thing, or is broken. */
export class WireError extends Error {}

const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
/** Kinds that have no group of their own in the table. */
const META_KINDS = new Set(['DeleteOptions']);

export type ProtobufReader = (message: Buffer) => Mapping;

/** Reads messages in their usual envelope. Throws `WireError`. */
export function protobufReader(): ProtobufReader {
  return (message) => {
    if (!message.subarray(0, 4).equals(MAGIC))
      throw new WireError('provided data does not appear to be a protobuf message');
    const envelope = recordsOf(message.subarray(4));
    const type = recordsOf(bytesOf(envelope, 1));
    const [apiVersion, kind] = [textOf(type, 1), textOf(type, 2)];
    const [version = '', group = ''] = apiVersion.split('/').reverse();
    const name = META_KINDS.has(kind) ? `meta.${kind}` : (typeNameOf(group, version, kind) ?? '');
    return { apiVersion, kind, ...readStruct(name, bytesOf(envelope, 2)) };
  };

  function readStruct(name: string, data: Buffer): Mapping {
    const { byNumber } = typeNamed(name);
    const result: Mapping = {};
    for (const { number, value } of recordsOf(data)) {
      const field = byNumber.get(number);
      if (field !== undefined) readField(result, field, value);
    }
    return result;
  }

  function readField(target: Mapping, field: Field, value: Value): void {
    const { name, type } = field;
    if (name === '~') Object.assign(target, readValue(type, value));
    else if (type.is === 'list')
      target[name] = [...((target[name] as unknown[] | undefined) ?? []), readValue(type.of, value)];
    else if (type.is === 'map') {
      const entries = (target[name] as Mapping | undefined) ?? {};
      const entry = recordsOf(expectBytes(value));
      const item = entry.find(({ number }) => number === 2)?.value;
      setOwn(entries, textOf(entry, 1), item === undefined ? null : readValue(type.of, item));
      target[name] = entries;
    } else target[name] = readValue(type, value);
  }

  function readValue(type: TypeRef, value: Value): unknown {
    if (type.is === 'struct') return readStruct(type.name, expectBytes(value));
    return type.is === 'scalar' ? readScalar(type.scalar, value) : null;
  }

  function readScalar(scalar: Scalar, value: Value): unknown {
    switch (scalar) {
      case 'b':
        return value !== 0n;
      case 'i':
      case 'l':
        return Number(BigInt.asIntN(64, value as bigint));
      case 'f':
        return value;
      case 's':
        return expectBytes(value).toString('utf8');
      case 'bytes':
        return expectBytes(value).toString('base64');
      case 'time':
      case 'micro':
        return timeOf(expectBytes(value), scalar === 'micro');
      case 'quantity':
        return textOf(recordsOf(expectBytes(value)), 1);
      case 'intstr': {
        const records = recordsOf(expectBytes(value));
        const isText = records.some((record) => record.number === 1 && record.value === 1n);
        return isText ? textOf(records, 3) : Number(BigInt.asIntN(64, numberOf(records, 2)));
      }
      case 'fields':
      case 'raw':
      case 'json':
        return JSON.parse(textOf(recordsOf(expectBytes(value)), 1) || 'null');
      default:
        return readSchemaOr(scalar, recordsOf(expectBytes(value)));
    }
  }

  /** A schema, or a flag, or a list of schemas or names, depending on where it stands. */
  function readSchemaOr(scalar: Scalar, records: readonly Wire[]): unknown {
    const schemaNumber = scalar === 'propsOrBool' ? 2 : 1;
    const schema = records.find(({ number }) => number === schemaNumber)?.value;
    if (schema !== undefined) return readStruct('apiextensions.JSONSchemaProps', expectBytes(schema));
    if (scalar === 'propsOrBool') return numberOf(records, 1) !== 0n;
    const items = records.filter(({ number }) => number === 2).map(({ value }) => expectBytes(value));
    return scalar === 'propsOrArray'
      ? items.map((item) => readStruct('apiextensions.JSONSchemaProps', item))
      : items.map((item) => item.toString('utf8'));
  }
}

type Value = bigint | number | Buffer;

interface Wire {
  readonly number: number;
  readonly value: Value;
}

/** All fields of a message, in the order in which they came. */
function recordsOf(data: Buffer): readonly Wire[] {
  const records: Wire[] = [];
  let at = 0;
  const varint = (): bigint => {
    let result = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = data[at++];
      if (byte === undefined) throw new WireError('unexpected EOF');
      result |= BigInt(byte & 0x7f) << shift;
      if ((byte & 0x80) === 0) return BigInt.asUintN(64, result);
    }
    throw new WireError('integer overflow');
  };
  const take = (length: number): Buffer => {
    if (length < 0 || at + length > data.length) throw new WireError('unexpected EOF');
    at += length;
    return data.subarray(at - length, at);
  };
  while (at < data.length) {
    const key = Number(varint());
    const number = Math.floor(key / 8);
    switch (key % 8) {
      case 0:
        records.push({ number, value: varint() });
        break;
      case 1:
        records.push({ number, value: take(8).readDoubleLE() });
        break;
      case 2:
        records.push({ number, value: take(Number(varint())) });
        break;
      case 5:
        records.push({ number, value: take(4).readFloatLE() });
        break;
      default:
        throw new WireError(`illegal wireType ${key % 8}`);
    }
  }
  return records;
}

function expectBytes(value: Value): Buffer {
  if (!Buffer.isBuffer(value)) throw new WireError('wrong wireType');
  return value;
}

function bytesOf(records: readonly Wire[], wanted: number): Buffer {
  const found = records.find(({ number }) => number === wanted)?.value;
  return found === undefined ? Buffer.alloc(0) : expectBytes(found);
}

const textOf = (records: readonly Wire[], wanted: number): string => bytesOf(records, wanted).toString('utf8');

function numberOf(records: readonly Wire[], wanted: number): bigint {
  const found = records.find(({ number }) => number === wanted)?.value;
  return typeof found === 'bigint' ? found : 0n;
}

function timeOf(data: Buffer, isMicro: boolean): string | null {
  if (data.length === 0) return null;
  const records = recordsOf(data);
  const seconds = Number(BigInt.asIntN(64, numberOf(records, 1)));
  const micros = Math.floor(Number(numberOf(records, 2)) / 1000);
  const text = new Date(seconds * 1000).toISOString().slice(0, 19);
  return isMicro ? `${text}.${String(micros).padStart(6, '0')}Z` : `${text}Z`;
}
