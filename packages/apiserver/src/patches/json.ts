/** JSON patches (RFC 6902), with the leniencies of kube-apiserver. */
import { getOwn, isMapping, type Mapping } from '@kopf-ts/core';
import { applyPatch, type Operation, Pointer } from 'rfc6902';
import { badRequest, StatusError } from '../status.js';
import { jsonTypeOf } from '../typed/scalars.js';

const MAX_OPERATIONS = 10_000;

const rejected = (): StatusError =>
  new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

const undecodable = (value: unknown, type: string): StatusError =>
  badRequest(`error decoding patch: json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${type}`);

/** Changes the object in place; returns what it has become, as the patch may replace all of it. */
export function jsonPatch(object: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) {
    throw undecodable(operations, '[]handlers.jsonPatchOp');
  }
  for (const operation of operations as readonly unknown[]) {
    if (!isMapping(operation)) throw undecodable(operation, 'handlers.jsonPatchOp');
  }
  if (operations.length > MAX_OPERATIONS) {
    throw new StatusError(
      413,
      'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`,
    );
  }
  let result = object;
  for (const operation of operations as readonly Mapping[]) result = applyOne(result, operation);
  return result;
}

function applyOne(object: unknown, raw: Mapping): unknown {
  const path = pathOf(raw);
  // The library knows prototypes only by avoiding them; for us these are names that nobody has.
  if (leadsToPrototype(path) || (typeof raw.from === 'string' && leadsToPrototype(raw.from))) throw rejected();
  if (path === '' && (raw.op === 'replace' || raw.op === 'add')) return raw.value;
  const operation = lenient(object, { ...raw, path }, path);
  if (operation === undefined) return object;
  let problems: readonly unknown[];
  try {
    problems = applyPatch(object, [operation]);
  } catch {
    throw rejected();
  }
  if (problems.some((problem) => problem !== null)) throw rejected();
  return object;
}

/** Whatever stands before the first slash is of no interest, and usually nothing does. */
function pathOf({ path }: Mapping): string {
  if (path === '') return path;
  if (typeof path !== 'string' || !path.includes('/')) throw rejected();
  return path.slice(path.indexOf('/'));
}

/** Replacing what is absent adds it; testing that something absent is null succeeds. */
function lenient(object: unknown, raw: Mapping, path: string): Operation | undefined {
  const { parent, key } = Pointer.fromJSON(path).evaluate(object) as { parent: unknown; key: string };
  const isAbsent = isMapping(parent) && getOwn(parent, key) === undefined;
  if (raw.op === 'replace' && isAbsent) return { ...raw, op: 'add' } as unknown as Operation;
  if (raw.op === 'test' && isAbsent && raw.value === null) return undefined;
  return raw as unknown as Operation;
}

function leadsToPrototype(path: string): boolean {
  return path.split('/').some((token) => token === '__proto__' || token === 'constructor' || token === 'prototype');
}
