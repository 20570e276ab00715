/** Field selectors: `metadata.name=x,status.phase!=Failed`, for the fields that a kind lets be selected. */
import { getOwn, isMapping } from '@kopf-ts/core';
import type { ServedObject } from '../contracts/objects.js';
import type { Revision } from '../contracts/store.js';
import { badRequest } from '../http/status-errors.js';
import type { Strategy } from '../kinds/served.js';
import { parseRevision } from '../store/revision.js';

export interface FieldSelector {
  /** The only name or namespace that can match, if the selector says so: lists need not look at all the others. */
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  matches(revision: Revision): boolean;
}

interface Term {
  readonly path: string;
  readonly value: string;
  readonly isNegated: boolean;
}

/** `undefined` for an empty selector. Throws `BadRequest`. */
export function parseFieldSelector(text: string, strategy: Strategy): FieldSelector | undefined {
  // Of nothing, nothing is asked.
  if (/^(?:==?|!=)$/.test(text)) return undefined;
  const terms = splitTerms(text).map((term) => parseTerm(term, text, strategy));
  if (terms.length === 0) return undefined;
  const exactly = (path: string): string | undefined =>
    terms.find((term) => term.path === path && !term.isNegated)?.value;
  const onlyNames = terms.every(({ path }) => path === 'metadata.name' || path === 'metadata.namespace');
  return {
    name: exactly('metadata.name'),
    namespace: exactly('metadata.namespace'),
    matches(revision) {
      const object = onlyNames ? undefined : parseRevision(revision);
      return terms.every(
        ({ path, value, isNegated }) => (fieldOf(revision, object, path, strategy) === value) !== isNegated,
      );
    },
  };
}

function fieldOf(revision: Revision, object: ServedObject | undefined, path: string, strategy: Strategy): string {
  if (path === 'metadata.name') return revision.name;
  if (path === 'metadata.namespace') return revision.namespace;
  if (object === undefined) return '';
  const special = strategy.fieldValue?.(object, path);
  if (special !== undefined) return special;
  let value: unknown = object;
  for (const key of path.split('.')) value = isMapping(value) ? getOwn(value, key) : undefined;
  return value === undefined || value === null || typeof value === 'object' ? '' : String(value);
}

/** Commas and signs may be escaped by backslashes. */
function splitTerms(text: string): string[] {
  return (text.match(/(?:\\.|[^,\\]|\\$)+/g) ?? []).filter((term) => term !== '');
}

function parseTerm(term: string, whole: string, strategy: Strategy): Term {
  const match = /^((?:\\.|[^=!\\])*)(==|!=|=)(.*)$/.exec(term);
  if (match === null) throw badRequest(`invalid selector: '${whole}'; can't understand '${term}'`);
  const [, label = '', operator = '=', value = ''] = match;
  const field = strategy.selectableField(label);
  if ('error' in field) throw badRequest(field.error);
  return { path: field.path, value: unescaped(value), isNegated: operator === '!=' };
}

function unescaped(value: string): string {
  return value.replace(/\\(.?)|=/g, (found, character: string | undefined) => {
    if (character === undefined) throw badRequest(`invalid field selector: unescaped character in value: ${found}`);
    if (character === '' || !'\\,='.includes(character)) {
      throw badRequest(`invalid field selector: invalid escape sequence: ${found}`);
    }
    return character;
  });
}
