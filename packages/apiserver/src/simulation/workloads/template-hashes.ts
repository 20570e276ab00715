/** Short names for templates: equal ones have the same. */
import { isMapping } from '@kopf-ts/core';

/** No vowels, nor what looks alike: no words come out. The digits of a number become some of these. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const PRIME = 0x01_00_01_93;
const BASIS = 0x81_1c_9d_c5;

/** The hash of a template. When two of them have the same one by accident, the count of accidents makes a difference. */
export function templateHash(template: unknown, collisions = 0): string {
  const text = `${inOrder(template)}${collisions === 0 ? '' : collisions}`;
  let hash = BASIS;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, PRIME);
  return [...String(hash >>> 0)].map((digit) => ALPHABET[digit.charCodeAt(0) % ALPHABET.length]).join('');
}

/** JSON whose keys are sorted, whatever order they came in. */
function inOrder(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inOrder).join(',')}]`;
  if (!isMapping(value)) return JSON.stringify(value) ?? 'null';
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  return `{${keys
    .sort()
    .map((key) => `${JSON.stringify(key)}:${inOrder(value[key])}`)
    .join(',')}}`;
}
