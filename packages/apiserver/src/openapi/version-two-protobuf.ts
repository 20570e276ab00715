/** The description in OpenAPI 2 as protobuf, which is how kubectl asks for it. */
import { isMapping, type Mapping } from '@kopf-ts/core';

export const OPENAPI_PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

/** How a field of a message is written: its number, and what it is. */
type Written = readonly [number: number, write: (value: unknown) => Buffer | bigint | number | undefined];
type Message = Readonly<Record<string, Written>>;

const text = (value: unknown): Buffer => Buffer.from(String(value), 'utf8');
const flag = (value: unknown): bigint => (value === true ? 1n : 0n);
const whole = (value: unknown): bigint => BigInt.asUintN(64, BigInt(Math.trunc(Number(value))));
const fraction = (value: unknown): number => Number(value);
/** Anything is YAML, and JSON is a part of YAML. */
const any = (value: unknown): Buffer => bytesOf([[2, text(JSON.stringify(value))]]);
const inner =
  (message: () => Message) =>
  (value: unknown): Buffer =>
    encoded(value as Mapping, message());
/** In another message that has nothing else. */
const wrapped =
  (number: number, write: Written[1]) =>
  (value: unknown): Buffer =>
    bytesOf([[number, write(value)]]);
const namedEntries =
  (number: number, write: Written[1]) =>
  (value: unknown): Buffer =>
    bytesOf(Object.entries(value as Mapping).map(([name, item]) => [number, entry(name, write(item))]));
const entry = (name: string, value: Buffer | bigint | number | undefined): Buffer =>
  bytesOf([
    [1, text(name)],
    [2, value],
  ]);

/** Numbers of fields are facts about the format. */
const SCHEMA: Message = {
  $ref: [1, text],
  format: [2, text],
  title: [3, text],
  description: [4, text],
  multipleOf: [6, fraction],
  maximum: [7, fraction],
  exclusiveMaximum: [8, flag],
  minimum: [9, fraction],
  exclusiveMinimum: [10, flag],
  maxLength: [11, whole],
  minLength: [12, whole],
  pattern: [13, text],
  maxItems: [14, whole],
  minItems: [15, whole],
  uniqueItems: [16, flag],
  maxProperties: [17, whole],
  minProperties: [18, whole],
  required: [19, text],
  enum: [20, any],
  additionalProperties: [
    21,
    (value) => (isMapping(value) ? bytesOf([[1, inner(() => SCHEMA)(value)]]) : bytesOf([[2, flag(value)]])),
  ],
  type: [22, wrapped(1, text)],
  items: [23, wrapped(1, (value) => encoded(value as Mapping, SCHEMA))],
  properties: [25, namedEntries(1, (value) => encoded(value as Mapping, SCHEMA))],
};
const BODY: Message = {
  name: [2, text],
  in: [3, text],
  required: [4, flag],
  schema: [5, inner(() => SCHEMA)],
};
const IN_QUERY: Message = {
  in: [2, text],
  description: [3, text],
  name: [4, text],
  type: [6, text],
  uniqueItems: [20, flag],
};
const IN_PATH: Message = {
  required: [1, flag],
  in: [2, text],
  description: [3, text],
  name: [4, text],
  type: [5, text],
  uniqueItems: [19, flag],
};
const RESPONSE: Message = {
  description: [1, text],
  schema: [
    2,
    wrapped(
      1,
      inner(() => SCHEMA),
    ),
  ],
};
const OPERATION: Message = {
  tags: [1, text],
  description: [3, text],
  operationId: [5, text],
  produces: [6, text],
  consumes: [7, text],
  parameters: [8, parameter],
  responses: [
    9,
    namedEntries(
      1,
      wrapped(
        1,
        inner(() => RESPONSE),
      ),
    ),
  ],
  schemes: [10, text],
};
const PATH: Message = {
  get: [2, inner(() => OPERATION)],
  put: [3, inner(() => OPERATION)],
  post: [4, inner(() => OPERATION)],
  delete: [5, inner(() => OPERATION)],
  patch: [8, inner(() => OPERATION)],
  parameters: [9, parameter],
};
const INFO: Message = { title: [1, text], version: [2, text] };
const DOCUMENT: Message = {
  swagger: [1, text],
  info: [2, inner(() => INFO)],
  paths: [
    8,
    namedEntries(
      2,
      inner(() => PATH),
    ),
  ],
  definitions: [
    9,
    namedEntries(
      1,
      inner(() => SCHEMA),
    ),
  ],
};
/** Where messages keep what is not in the format: keys that begin with `x-`. */
const EXTENSIONS = new Map<Message, number>([
  [SCHEMA, 31],
  [OPERATION, 13],
]);

export function encodeVersionTwo(document: Mapping): Buffer {
  return encoded(document, DOCUMENT);
}

function parameter(value: unknown): Buffer {
  const one = value as Mapping;
  if (one.in === 'body') return bytesOf([[1, bytesOf([[1, encoded(one, BODY)]])]]);
  const [number, message] = one.in === 'path' ? [4, IN_PATH] : [3, IN_QUERY];
  return bytesOf([[1, bytesOf([[2, bytesOf([[number, encoded(one, message)]])]])]]);
}

function encoded(value: Mapping, message: Message): Buffer {
  const records: WireRecord[] = [];
  const extensions = EXTENSIONS.get(message);
  for (const [key, item] of Object.entries(value)) {
    const written = Object.hasOwn(message, key) ? message[key] : undefined;
    if (written !== undefined) {
      const [number, write] = written;
      for (const one of Array.isArray(item) ? item : [item]) records.push([number, write(one)]);
    } else if (extensions !== undefined && key.startsWith('x-')) {
      records.push([extensions, entry(key, any(item))]);
    }
  }
  return bytesOf(records);
}

type WireRecord = readonly [number: number, value: Buffer | bigint | number | undefined];

/** One record after another: bytes with their length, integers by seven bits, fractions in eight bytes. */
function bytesOf(records: readonly WireRecord[]): Buffer {
  const parts: Buffer[] = [];
  for (const [number, value] of records) {
    if (value === undefined) continue;
    if (typeof value === 'bigint') parts.push(varint(BigInt(number << 3)), varint(value));
    else if (typeof value === 'number') {
      const bytes = Buffer.alloc(8);
      bytes.writeDoubleLE(value);
      parts.push(varint(BigInt((number << 3) | 1)), bytes);
    } else parts.push(varint(BigInt((number << 3) | 2)), varint(BigInt(value.length)), value);
  }
  return Buffer.concat(parts);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}
