/** The few kinds of ASN.1 values that certificates are made of, in their distinguished encoding (DER). */
import { isIPv4 } from 'node:net';

const TAGS = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  text: 0x0c,
  utcTime: 0x17,
  sequence: 0x30,
  set: 0x31,
} as const;
const CONTEXT = 0x80;
const CONSTRUCTED = 0x20;

function encoded(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content]);
}

/** Short lengths are one byte; others say first of how many bytes they are. */
function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff);
  return Buffer.of(0x80 | bytes.length, ...bytes);
}

export const sequence = (...values: readonly Uint8Array[]): Buffer => encoded(TAGS.sequence, ...values);
export const set = (...values: readonly Uint8Array[]): Buffer => encoded(TAGS.set, ...values);
export const yes = (): Buffer => encoded(TAGS.boolean, Buffer.of(0xff));
/** Positive: the first byte must be less than 128, and not a needless zero. */
export const integer = (bytes: Uint8Array): Buffer => encoded(TAGS.integer, bytes);
export const octets = (bytes: Uint8Array): Buffer => encoded(TAGS.octets, bytes);
export const text = (value: string): Buffer => encoded(TAGS.text, Buffer.from(value, 'utf8'));
/** All bits of all bytes. */
export const bits = (bytes: Uint8Array): Buffer => encoded(TAGS.bits, Buffer.of(0), bytes);
export const tagged = (tag: number, value: Uint8Array): Buffer => encoded(CONTEXT | CONSTRUCTED | tag, value);
export const taggedBytes = (tag: number, bytes: Uint8Array): Buffer => encoded(CONTEXT | tag, bytes);

/** Up to eight named bits; those at the end that are not set are left out. */
export function flags(...places: readonly number[]): Buffer {
  const byte = places.reduce((sum, place) => sum | (0x80 >> place), 0);
  return encoded(TAGS.bits, Buffer.of(7 - Math.max(...places), byte));
}

/** Seven bits in each byte, of which all but the last have the highest bit set. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((number) => {
    const groups = [number & 0x7f];
    for (let more = number >>> 7; more > 0; more >>>= 7) groups.unshift(0x80 | (more & 0x7f));
    return groups;
  });
  return encoded(TAGS.oid, Buffer.from(bytes));
}

/** With a year of two digits, as certificates up to 2049 have it. */
export function utcTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/\D/g, '').slice(2, 14);
  return encoded(TAGS.utcTime, Buffer.from(`${digits}Z`, 'latin1'));
}

/** The bytes of an address, as they stand in a certificate. */
export function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [before = '', after] = address.split('::');
  const groupsOf = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const [left, right] = [groupsOf(before), groupsOf(after ?? '')];
  const missing = after === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array.from({ length: missing }, () => 0), ...right];
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}
