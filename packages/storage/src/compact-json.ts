/**
 * JSON texts, to the byte as Kopf writes them: compact, in ASCII only, in the order of keys.
 *
 * One thing cannot be the same: JavaScript itself moves keys that look like integers (`"10"`) before all others,
 * as soon as an object is parsed. The meaning is the same, and nobody compares these texts as texts.
 */
import { isDeeperThan, isMapping, MAX_DEPTH, type Mapping } from '@kopf-ts/core';
import { type JsonStyle, jsonText } from '@kopf-ts/core/engine';

/** Tells what is wrong with something stored, which then counts as absent. */
export type Complain = (problem: string) => undefined;

/** The compact ASCII text of any JSON value. Keys with `undefined` are left out. */
export function compactJson(value: unknown): string {
  return jsonText(value, COMPACT);
}

const COMPACT: JsonStyle = {
  keysOf: (mapping) => Object.keys(mapping).filter((key) => mapping[key] !== undefined),
  textOf(scalar) {
    if (typeof scalar === 'string') return quoted(scalar);
    return typeof scalar === 'number' ? formatNumber(scalar) : JSON.stringify(scalar ?? null);
  },
};

/**
 * Reads a text that is expected to hold a JSON object. The text `null` means, as in Kopf, that nothing is stored.
 * Anything else is a problem to be told, in words that do not repeat the text: it may have someone's secrets.
 * What is nested deeper than anything that is ever written here is such a problem, too: others could choke on it.
 */
export function readMapping(text: unknown, complain: Complain): Mapping | undefined {
  if (typeof text !== 'string') return complain(`it is ${nameOf(text)}, not a string`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return complain('it is not JSON');
  }
  if (value === null) return undefined;
  if (!isMapping(value)) return complain(`its JSON is ${nameOf(value)}, not an object`);
  if (isDeeperThan(value, MAX_DEPTH)) return complain(`it is nested more than ${MAX_DEPTH} levels deep`);
  return value;
}

/** The type of a JSON value in words. */
export function nameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return `a ${typeof value}`;
}

function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Fractions go as Python prints them: it turns to exponents earlier, and pads the exponents to two digits. */
function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  const isTiny = value !== 0 && Math.abs(value) < 1e-4;
  if (!isTiny) return JSON.stringify(value);
  return value.toExponential().replace(/e-(\d)$/, 'e-0$1');
}
