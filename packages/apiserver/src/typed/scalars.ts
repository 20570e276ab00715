/** Single values of the built-in kinds: checked as strictly as kube-apiserver does, and written as it writes them. */
import { isMapping } from '@kopf-ts/core';
import type { Scalar } from '../schemas/types.js';
import { goQuote } from '../text/go-text.js';
import { canonicalQuantity } from './quantity.js';

/** What JSON calls the value in the messages of the API server. */
export function jsonTypeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value;
}

const GO_NAMES: Readonly<Partial<Record<Scalar, string>>> = {
  s: 'string',
  b: 'bool',
  i: 'int32',
  l: 'int64',
  f: 'float64',
  intstr: 'int32',
  bytes: '[]uint8',
};

/** How a scalar type is called in messages. */
export function scalarName(scalar: Scalar): string {
  return GO_NAMES[scalar] ?? scalar;
}

/** The value of a wrong type: the caller knows where it stands. */
export class WrongType extends Error {
  readonly value: string;
  constructor(value: string) {
    super(value);
    this.value = value;
  }
}

/** The value as it is kept. Throws `WrongType`, or an error whose message is told as it is. */
export function scalarValue(scalar: Scalar, value: unknown): unknown {
  switch (scalar) {
    case 's':
      return expectType(value, 'string');
    case 'b':
      return expectType(value, 'boolean');
    case 'f':
      return expectType(value, 'number');
    case 'i':
    case 'l':
      return integer(value, scalar === 'i' ? 2 ** 31 : 2 ** 63);
    case 'bytes':
      return bytes(value);
    case 'time':
      return timestamp(value, false);
    case 'micro':
      return timestamp(value, true);
    case 'quantity':
      return quantity(value);
    case 'intstr':
      return typeof value === 'string' ? value : integer(value, 2 ** 31);
    default:
      return value;
  }
}

/** Does it count as absent when the field is left out if empty? */
export function isZero(value: unknown): boolean {
  if (value === '' || value === 0 || value === false || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isMapping(value) && Object.keys(value).length === 0;
}

function expectType(value: unknown, type: 'string' | 'boolean' | 'number'): unknown {
  if (typeof value !== type) throw new WrongType(jsonTypeOf(value));
  return value;
}

function integer(value: unknown, limit: number): number {
  if (typeof value !== 'number') throw new WrongType(jsonTypeOf(value));
  if (!Number.isInteger(value) || value >= limit || value < -limit) throw new WrongType(`number ${value}`);
  return value;
}

function bytes(value: unknown): string {
  if (typeof value !== 'string') throw new WrongType(jsonTypeOf(value));
  const text = value.replace(/[\r\n]/g, '');
  const bad = /[^A-Za-z0-9+/=]/.exec(text)?.index ?? (text.length % 4 === 0 ? -1 : text.length - (text.length % 4));
  if (bad >= 0) throw new Error(`illegal base64 data at input byte ${bad}`);
  return text;
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:[.,](\d+))?(?:Z|[+-]\d{2}:\d{2})$/;
const SECONDS = '2006-01-02T15:04:05';

function timestamp(value: unknown, isMicro: boolean): string | null {
  if (typeof value !== 'string')
    throw new Error(`json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type string`);
  const match = RFC3339.exec(value);
  const date = new Date(value);
  if (match === null || Number.isNaN(date.getTime())) {
    throw notParsed(value, isMicro, value, '2006');
  }
  if (isMicro && match[1]?.length !== 6) {
    const rest = value.slice(SECONDS.length);
    const isLonger = (match[1] ?? '').length > 6;
    throw notParsed(value, isMicro, isLonger ? rest.slice(7) : rest, isLonger ? 'Z07:00' : '.000000');
  }
  const seconds = date.toISOString().slice(0, 19);
  return isMicro ? `${seconds}.${(match[1] ?? '').padEnd(6, '0').slice(0, 6)}Z` : `${seconds}Z`;
}

function notParsed(value: string, isMicro: boolean, part: string, expected: string): Error {
  const layout = `${SECONDS}${isMicro ? '.000000' : ''}Z07:00`;
  return new Error(`parsing time ${goQuote(value)} as "${layout}": cannot parse ${goQuote(part)} as "${expected}"`);
}

const BAD_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

function quantity(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : value;
  const canonical = typeof text === 'string' ? canonicalQuantity(text) : undefined;
  if (canonical === undefined) throw new Error(BAD_QUANTITY);
  return canonical;
}
