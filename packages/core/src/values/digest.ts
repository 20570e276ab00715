/**
 * Digests of essences. An essence may be too big to be kept on its object; its digest always fits. It does not
 * tell what has changed, but it does tell whether anything has.
 */
import { createHash } from 'node:crypto';
import { type JsonStyle, jsonText } from './json-text.js';
import type { Essence } from './objects/essence.js';

/**
 * Under this symbol, an essence carries the digest of the essence that could not be kept. A registered symbol,
 * so that the mark is the same in all copies of this package; a symbol, so that no object of a user can have it.
 */
export const DIGEST_ONLY: unique symbol = Symbol.for('kopf-ts.essence.digest') as typeof DIGEST_ONLY;

/**
 * Stands for an essence of which nothing but the digest is known. It looks empty, and ordinary copying loses the
 * mark: look at {@link isDigestOnly} first, and compare by {@link digestOf}, never by contents.
 *
 * ```ts
 * const essence = kopf.digestOnly('2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae');
 * kopf.isDigestOnly(essence); // true
 * ```
 */
export function digestOnly(digest: string): Essence {
  return Object.freeze({ [DIGEST_ONLY]: digest }) as Essence;
}

/**
 * Whether the essence itself is unavailable, and only its digest is known.
 *
 * ```ts
 * const last = await kopf.storage.annotationsDiffBaseStorage().fetch({ body });
 * if (last !== undefined && kopf.isDigestOnly(last)) logger.info('What it was like, nobody knows.');
 * ```
 */
export function isDigestOnly(essence: Essence): boolean {
  return typeof markOf(essence) === 'string';
}

/**
 * The digest of an essence (SHA-256 in hex), be the essence at hand or known by its digest only. Equal essences
 * have equal digests, whatever the order of their keys; `undefined` counts as absence.
 *
 * ```ts
 * const hasChanged = kopf.digestOf({ spec: { a: 1, b: 2 } }) !== kopf.digestOf({ spec: { b: 2, a: 1 } }); // false
 * ```
 */
export function digestOf(essence: Essence): string {
  const known = markOf(essence);
  return typeof known === 'string' ? known : createHash('sha256').update(jsonText(essence, CANONICAL)).digest('hex');
}

function markOf(essence: Essence): unknown {
  return (essence as { readonly [DIGEST_ONLY]?: unknown })[DIGEST_ONLY];
}

/** In one order of keys, whatever order they have. */
const CANONICAL: JsonStyle = {
  keysOf: (mapping) =>
    Object.keys(mapping)
      .filter((key) => mapping[key] !== undefined)
      .sort(),
  textOf: (scalar) => JSON.stringify(scalar),
};
