/** Results of steps, as they are kept: as JSON, and small. Pure. */
import type { Mapping } from '../../values/json.js';

/** All annotations of an object together have room for 256 KiB. */
const MAX_BYTES = 8 * 1024;

/** The result as it is kept: empty if there is none. Throws with what is wrong with it. */
export function keptResult(result: unknown): string {
  if (result === undefined) return '';
  const problem = whyNotJson(result, 'result');
  if (problem !== undefined) throw new TypeError(problem);
  const text = JSON.stringify(result);
  const size = new TextEncoder().encode(text).length;
  if (size <= MAX_BYTES) return text;
  throw new RangeError(
    `it takes ${size} bytes as JSON, and there is room for ${MAX_BYTES}. Return what is needed later, such as ids, and ` +
      'keep the rest elsewhere',
  );
}

/** What was kept; or nothing, if it was not kept by us. */
export function resultOf(kept: string): { readonly value: unknown } | undefined {
  if (kept === '') return { value: undefined };
  try {
    return { value: JSON.parse(kept) };
  } catch {
    return undefined;
  }
}

/** The first thing in the value that would not come back as it is. What is `undefined` in a mapping is absent. */
function whyNotJson(value: unknown, at: string, above: readonly unknown[] = []): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${at} is ${value}, which is not JSON`;
  if (value === undefined) return `${at} is undefined, which is not JSON`;
  if (typeof value !== 'object') return `${at} is a ${typeof value}, which is not JSON`;
  if (above.includes(value)) return `${at} refers to itself`;
  const around = [...above, value];
  if (Array.isArray(value)) {
    return firstOf(
      Array.from(value, (item, index) => [`${at}[${index}]`, item]),
      around,
    );
  }
  if (!isPlain(value) || typeof value['toJSON'] === 'function') return `${at} is a ${nameOf(value)}, which is not JSON`;
  const present = Object.entries(value).filter(([, item]) => item !== undefined);
  return firstOf(
    present.map(([key, item]) => [`${at}.${key}`, item]),
    around,
  );
}

function firstOf(items: readonly (readonly [string, unknown])[], around: readonly unknown[]): string | undefined {
  for (const [at, item] of items) {
    const problem = whyNotJson(item, at, around);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Not of a class, be it of another realm. What is of a class comes back without it, and promises and errors as nothing. */
function isPlain(value: object): value is Mapping {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: object): string {
  return value.constructor?.name || 'mapping with methods';
}
