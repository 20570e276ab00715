/**
 * Strategic merge patches: merge patches that know the types of built-in kinds. Lists with merge keys are merged item by
 * item, and directives in the patch (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`) say
 * what else should happen. What is refused, and in which words, is as on the real server, where most of it is a 500.
 */
import { deepCopy, getOwn, isMapping, type Mapping, setOwn } from '@kopf-ts/core';
import { badRequest, StatusError } from '../http/status-errors.js';
import { type Field, type TypeRef, typeNamed } from '../schemas/types.js';
import { goPlain, goString, goTypeOf } from '../text/go-text.js';
import { DIRECTIVE, inOrder, itemTypeOf, mergedItems, orderAgrees, type Place } from './strategic-lists.js';

const RETAINED = '$retainKeys';
const ORDER = '$setElementOrder';
const DELETED = '$deleteFromPrimitiveList';

export interface StrategicResult {
  readonly merged: Mapping;
  /** What is left of the patch: its directives are used up. Refusals of the result quote it. */
  readonly patch: Mapping;
}

/** Neither the target nor the patch is changed. The type is one of the table of types. Throws `StatusError`. */
export function strategicPatch(target: object, patch: Mapping, type: string): StrategicResult {
  const rest = deepCopy(patch);
  return { merged: mergedMapping(deepCopy(target) as Mapping, rest, { is: 'struct', name: type }), patch: rest };
}

function mergedMapping(original: Mapping, patch: Mapping, type: TypeRef): Mapping {
  if (Object.hasOwn(patch, DIRECTIVE)) return directed(patch);
  retainKeys(original, patch);
  putInOrder(original, patch, type);
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (key.startsWith(DELETED)) removeItems(original, namedIn(key, DELETED), value);
    else if (value === null) delete original[key];
    else if (Object.hasOwn(original, key) || isKept(value)) {
      setOwn(original, key, mergedValue(original, key, value, type));
    }
  }
  return original;
}

/** The mapping as a whole is replaced, or emptied. */
function directed(patch: Mapping): Mapping {
  const directive = patch[DIRECTIVE];
  if (directive === 'delete') return {};
  if (directive !== 'replace') throw failure(`unknown patch type: ${goString(directive)} in map: ${goPlain(patch)}`);
  delete patch[DIRECTIVE];
  return patch;
}

function mergedValue(original: Mapping, key: string, value: unknown, type: TypeRef): unknown {
  const current = getOwn(original, key);
  if (isMapping(current) && isMapping(value)) {
    const field = fieldOf(type, key);
    // Some mappings make sense only as a whole.
    if (field.patchStrategies.includes('replace')) return value;
    return mergedMapping(current, value, field.type);
  }
  if (Array.isArray(current) && Array.isArray(value)) return mergedList(current, value, listOf(type, key));
  return isMapping(value) || Array.isArray(value) ? withoutDirectives(withoutNulls(value)) : value;
}

function mergedList(original: readonly unknown[], patch: readonly unknown[], list: Place): unknown[] {
  return list.isMerged ? mergedItems(original, patch, list, mergedMapping) : [...patch];
}

/** `$retainKeys`: whatever is not named there goes, and whatever is in the patch must be named. */
function retainKeys(original: Mapping, patch: Mapping): void {
  if (!Object.hasOwn(patch, RETAINED)) return;
  const wrong = (): StatusError => badRequest('invalid patch format of retainKeys');
  const keys = patch[RETAINED];
  delete patch[RETAINED];
  if (!Array.isArray(keys)) throw wrong();
  const named = new Set<unknown>(keys);
  const isNamed = ([key, value]: [string, unknown]): boolean =>
    named.has(key) || value === null || key.startsWith(ORDER) || key.startsWith(DELETED);
  if (!Object.entries(patch).every(isNamed)) throw wrong();
  for (const key of Object.keys(original)) if (!named.has(key)) delete original[key];
}

/** `$setElementOrder/…`: the list is merged, and put into that order; what is only in the original stays about where it was. */
function putInOrder(original: Mapping, patch: Mapping, type: TypeRef): void {
  for (const directive of Object.keys(patch).filter((key) => key.startsWith(ORDER))) {
    const order = expectList(patch[directive]);
    delete patch[directive];
    const key = namedIn(directive, ORDER);
    const current = Object.hasOwn(original, key) ? expectList(original[key]) : undefined;
    const wanted = Object.hasOwn(patch, key) ? expectList(patch[key]) : undefined;
    const list = listOf(type, key);
    if (!orderAgrees(wanted ?? [], order, list)) {
      throw failure(`The order in patch list:\n${goPlain(wanted)}\n doesn't match ${ORDER} list:\n${goPlain(order)}\n`);
    }
    if (current === undefined && wanted === undefined) continue;
    // The kind of items first: merging changes nothing of it, but must not be tried with different ones.
    const both = [current ?? [], wanted ?? []];
    const merged =
      current === undefined
        ? (withoutDirectives(wanted) as unknown[])
        : wanted === undefined
          ? current
          : mergedList(current, wanted, list);
    setOwn(original, key, inOrder(merged, order, current ?? [], list, itemTypeOf(both)));
    delete patch[key];
  }
}

/** `$deleteFromPrimitiveList/…` */
function removeItems(original: Mapping, key: string, items: unknown): void {
  const current = getOwn(original, key);
  if (!Array.isArray(current) || !Array.isArray(items)) return;
  original[key] = current.filter((item) => !items.includes(item));
}

/** What a directive is about: it stands after a slash. */
function namedIn(key: string, directive: string): string {
  if (key.startsWith(`${directive}/`)) return key.slice(directive.length + 1);
  throw badRequest(`invalid patch format of ${directive === ORDER ? 'setElementOrder' : 'primitive'} list`);
}

function fieldOf(type: TypeRef, key: string): Field {
  if (type.is !== 'struct') {
    throw failure(`merging an object in json but data type is not struct, instead is: ${type.is}`);
  }
  const { byName, shortName } = typeNamed(type.name);
  const field = byName.get(key);
  if (field !== undefined) return field;
  throw failure(`unable to find api field in struct ${shortName} for the json field ${JSON.stringify(key)}`);
}

function listOf(type: TypeRef, key: string): Place {
  const { type: list, patchStrategies, mergeKey } = fieldOf(type, key);
  if (list.is !== 'list') throw failure('expected slice or array type, but got: struct');
  return { of: list.of, isMerged: patchStrategies.includes('merge'), mergeKey };
}

function expectList(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  throw failure(`expected a []interface {}, but received a ${goTypeOf(value)}`);
}

/** Of what is new, mappings with `$patch` are not taken, whatever it says; other directives are just unknown fields. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter(isKept).map(withoutDirectives);
  if (!isMapping(value)) return value;
  const result: Mapping = {};
  for (const [key, item] of Object.entries(value)) if (isKept(item)) setOwn(result, key, withoutDirectives(item));
  return result;
}

function isKept(value: unknown): boolean {
  return !isMapping(value) || !Object.hasOwn(value, DIRECTIVE);
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isMapping(value)) return value;
  const result: Mapping = {};
  for (const [key, item] of Object.entries(value)) if (item !== null) setOwn(result, key, withoutNulls(item));
  return result;
}

/** Nobody has expected it there: it is told without a reason. */
function failure(message: string): StatusError {
  return new StatusError(500, '', message);
}
