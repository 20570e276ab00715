/**
 * JSON patches (RFC 6902) as kube-apiserver applies them: it is more lenient than the standard, counts indexes from
 * the end too, and any key is just a key. Hence no library: those for JavaScript are strict, and shy away from some keys.
 */
import { deepCopy, deepEqual, getOwn, isMapping, type Mapping, setOwn } from '@kopf-ts/core';
import { badRequest, StatusError } from '../http/status-errors.js';
import { writeJson } from '../text/json-writing.js';
import { jsonTypeOf } from '../typed/scalars.js';

const MAX_OPERATIONS = 10_000;
/** What all copies of a patch add together, in bytes of JSON: otherwise, each operation could double the object. */
const MAX_COPIED = 3 * 1024 * 1024;

const rejected = (): StatusError =>
  new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

const undecodable = (value: unknown, type: string): StatusError =>
  badRequest(`error decoding patch: json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${type}`);

/** Changes the object in place; returns what it has become, as the patch may replace all of it. */
export function jsonPatch(object: unknown, operations: unknown): unknown {
  if (operations === null) return object;
  if (!Array.isArray(operations)) {
    throw undecodable(operations, '[]handlers.jsonPatchOp');
  }
  for (const operation of operations as readonly unknown[]) {
    if (!isMapping(operation) && operation !== null) throw undecodable(operation, 'handlers.jsonPatchOp');
  }
  if (operations.length > MAX_OPERATIONS) {
    throw new StatusError(
      413,
      'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`,
    );
  }
  let result = object;
  const copied = { bytes: 0 };
  for (const operation of operations as readonly (Mapping | null)[]) {
    result = applyOne(result, operation ?? {}, copied);
  }
  return result;
}

function applyOne(object: unknown, operation: Mapping, copied: { bytes: number }): unknown {
  const { op, value } = operation;
  if (op === 'replace' && operation.path === '') return value;
  const target = placeAt(object, operation.path);
  switch (op) {
    case 'add':
      add(target, given(operation));
      break;
    case 'replace':
      replace(target, given(operation));
      break;
    case 'remove':
      remove(target);
      break;
    case 'move':
      add(target, remove(placeAt(object, operation.from)));
      break;
    case 'copy':
      add(target, copyOf(placeAt(object, operation.from), copied));
      break;
    case 'test':
      // Something absent is as good as null.
      if (!deepEqual(valueIn(target) ?? null, value ?? null)) throw rejected();
      break;
    default:
      throw rejected();
  }
  return object;
}

const given = (operation: Mapping): unknown => getOwn(operation, 'value') ?? null;

/** Where an operation is to be done: the last key of the path, and what it is a key of. */
interface Place {
  readonly parent: Mapping | unknown[];
  readonly key: string;
}

function placeAt(object: unknown, path: unknown): Place {
  // Whatever stands before the first slash is of no interest, and usually nothing does.
  if (typeof path !== 'string' || !path.includes('/')) throw rejected();
  const keys = path.split('/').slice(1).map(unescapeKey);
  const key = keys.pop() as string;
  let parent: unknown = object;
  for (const step of keys) parent = isContainer(parent) ? valueIn({ parent, key: step }) : undefined;
  if (!isContainer(parent)) throw rejected();
  return { parent, key };
}

const unescapeKey = (key: string): string => key.replaceAll('~1', '/').replaceAll('~0', '~');
const isContainer = (value: unknown): value is Mapping | unknown[] => isMapping(value) || Array.isArray(value);

/** `undefined` if there is nothing. */
function valueIn({ parent, key }: Place): unknown {
  if (Array.isArray(parent)) return parent[indexIn(parent.length, key)];
  return getOwn(parent, key);
}

function existing(place: Place): unknown {
  const value = valueIn(place);
  if (value === undefined) throw rejected();
  return value;
}

/** Of what is absent, it is null; but there is nothing beyond the end of a list. */
function copyOf(place: Place, copied: { bytes: number }): unknown {
  const value = valueIn(place) ?? null;
  copied.bytes += Buffer.byteLength(writeJson(value));
  if (copied.bytes > MAX_COPIED) throw rejected();
  return deepCopy(value);
}

function add({ parent, key }: Place, value: unknown): void {
  if (!Array.isArray(parent)) setOwn(parent, key, value);
  else if (key === '-') parent.push(value);
  else parent.splice(indexIn(parent.length + 1, key), 0, value);
}

/** Of what is absent, too. */
function replace({ parent, key }: Place, value: unknown): void {
  if (Array.isArray(parent)) parent[indexIn(parent.length, key)] = value;
  else setOwn(parent, key, value);
}

function remove(place: Place): unknown {
  const { parent, key } = place;
  if (Array.isArray(parent)) return parent.splice(indexIn(parent.length, key), 1)[0];
  const value = existing(place);
  delete parent[key];
  return value;
}

/** Negative ones are counted from the end. Throws if there is no such place. */
function indexIn(length: number, key: string): number {
  if (!/^[+-]?\d+$/.test(key)) throw rejected();
  const index = Number(key);
  const counted = index < 0 ? index + length : index;
  if (counted < 0 || counted >= length) throw rejected();
  return counted;
}
