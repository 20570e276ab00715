/** Handlers' ids. They are stored on the objects, so they must not change from one run of the operator to another. */
import { RegistrationError } from '../errors.js';
import type { FieldPath } from './fields.js';

/**
 * Identifies a handler within an operator, and its progress and results on an object.
 *
 * ```ts
 * const ids: kopf.HandlerId[] = ['create_fn', 'create_fn/volume-1', 'resize/spec.size'];
 * ```
 */
export type HandlerId = string;

export interface HandlerIdSource {
  /** As the user has put it, if at all. */
  readonly id?: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: the signatures of handlers do not matter for their ids
  readonly fn: (...args: any[]) => unknown;
  /** The field that the handler is for. */
  readonly field?: FieldPath | undefined;
  /** The id of the parent, for sub-handlers. */
  readonly prefix?: HandlerId | undefined;
  /** What to call a function with neither an id nor a name: `<event>.<resource>`, e.g. `create.kopfexamples`. */
  readonly fallback: string;
  /** The name of the class, if the handler is its method. */
  readonly ofClass?: string | undefined;
  /** Does the field become a part of the id? By default, it does; except for sub-handlers, as it always was. */
  readonly suffixField?: boolean | undefined;
}

/**
 * The id of a handler: `<parent>/<base>` for sub-handlers, `<base>/<field>` for those with fields, or just the base,
 * which is the explicit id, or the function's name, or `Class.method`, or the fallback.
 */
export function handlerIdOf(source: HandlerIdSource): HandlerId {
  const { prefix, field } = source;
  const base = baseIdOf(source);
  if (prefix !== undefined && !source.suffixField) return `${prefix}/${base}`;
  const isSuffixed = (source.suffixField ?? true) && field !== undefined && field.length > 0;
  const id = isSuffixed ? `${base}/${field.join('.')}` : base;
  return prefix === undefined ? id : `${prefix}/${id}`;
}

function baseIdOf({ id, fn, ofClass, fallback }: HandlerIdSource): string {
  if (typeof fn !== 'function') throw new RegistrationError('A handler must be a function.');
  if (id === '') throw new RegistrationError("A handler's id must not be empty: give a real one, or leave it out.");
  if (id !== undefined) return id;
  const name = functionName(fn);
  if (name === undefined) return fallback;
  return ofClass === undefined || ofClass === '' ? name : `${ofClass}.${name}`;
}

/** Whether anything in an object can be called so: names of annotations are narrower still, but not all storages use them. */
export function isStorableId(id: string): boolean {
  return !/[\s"'`\\\p{Cc}]/u.test(id);
}

/** The name given to the function by the user, however many times it was bound since then; or none. */
export function functionName(fn: { readonly name: unknown }): string | undefined {
  // Classes and functions may have their own `name`, which is not necessarily a string.
  const name = typeof fn.name === 'string' ? fn.name.replace(/^(?:bound )+/, '') : '';
  // These are given by the language, not by the user: to `export default () => {}` and to `new Function()`.
  const isNameless = name === '' || name === 'default' || name === 'anonymous';
  return isNameless ? undefined : name;
}

/** Was the name made by a minifier? Then it can be another one in the next build, and the progress will be lost. */
export function looksMinified(name: string): boolean {
  return [...name].length === 1;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Whether progress under the two ids may be one and the same: in names of annotations, there are no slashes and no angle
 * brackets, and Kopf has others instead of them.
 */
export function shareRecord(one: HandlerId, other: HandlerId): boolean {
  return one === other || (one.length === other.length && recordName(one) === recordName(other));
}

function recordName(id: HandlerId): string {
  return id.replaceAll('/', '.').replace(/[<>]/g, '_');
}

/** An id in logs: in single quotes, or in double ones if it has single quotes itself; on one line in any case. */
export function quoteId(id: HandlerId): string {
  const quote = id.includes("'") && !id.includes('"') ? '"' : "'";
  const escaped = id.replace(/[\\\p{C}\p{Z}]/gu, escapeChar).replaceAll(quote, `\\${quote}`);
  return `${quote}${escaped}${quote}`;
}

function escapeChar(char: string): string {
  if (char === ' ') return char;
  const code = char.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x100) return ESCAPES[char] ?? `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
