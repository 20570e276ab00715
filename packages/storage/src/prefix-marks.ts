/**
 * Marks by which Kopf-like operators recognise each other's annotations. Without them, the progress of one operator
 * would look to another one as a change made by a user, and the two would answer each other for ever.
 */
import { type Body, ensureField, hasField, type Patch } from '@kopf-ts/core';
import { annotationPath } from './patching.js';

const MARK = 'kopf-managed';
/** The value of a mark. */
export const MARKED = 'yes';
const KOPF_DOMAIN = 'kopf.zalando.org';

/**
 * Marks the annotations of this prefix as those of an operator, unless they are marked already; never unmarks.
 *
 * Prefixes that begin with `kopf.` are not marked, as in Kopf. Mind that only `kopf.zalando.org` and its subdomains
 * are recognised without a mark: two operators under, say, `kopf.example.com` and `kopf.example.org` do not
 * recognise each other.
 */
export function markPrefix(prefix: string, body: Body, patch: Patch): void {
  if (prefix.startsWith('kopf.')) return;
  const path = annotationPath(markOf(prefix));
  if (hasField(body, path) || hasField(patch.merge, path)) return;
  ensureField(patch.merge, path, MARKED);
}

/** The annotation that marks all others of this prefix. */
export function markOf(prefix: string): string {
  return `${prefix}/${MARK}`;
}

/** Of all annotations of an object, those of Kopf-like operators: of this one and of any other. */
export function operatorsAnnotations(keys: readonly string[]): readonly string[] {
  const marked = new Set(keys.filter((key) => nameOf(key) === MARK).map((key) => prefixOf(key)));
  return keys.filter((key) => {
    const prefix = prefixOf(key);
    return prefix !== undefined && (marked.has(prefix) || isOfKopf(prefix));
  });
}

function isOfKopf(prefix: string): boolean {
  return prefix === KOPF_DOMAIN || prefix.endsWith(`.${KOPF_DOMAIN}`);
}

function prefixOf(key: string): string | undefined {
  const slash = key.indexOf('/');
  return slash < 0 ? undefined : key.slice(0, slash);
}

function nameOf(key: string): string | undefined {
  const slash = key.indexOf('/');
  return slash < 0 ? undefined : key.slice(slash + 1);
}
