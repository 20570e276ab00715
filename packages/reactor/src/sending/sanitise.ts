/** Removes the parts of users' patches that can never be sent, so that they do not block the rest. */
import {
  type AnyObject,
  type Body,
  deepCopy,
  isMapping,
  type Logger,
  type Mapping,
  Patch,
  type PatchFn,
} from '@kopf-ts/core';
import { applyFns, describeError, lostInJson, toError } from '@kopf-ts/core/engine';
import type { OnDropped } from '../observing/patch-facts.js';

/**
 * The patch without what is broken in it: functions that throw, and fields that are not JSON. `undefined` if nothing
 * is broken, so that it is not the patch that has failed. What is dropped is reported: nobody else will do it.
 */
export function withoutBroken(patch: Patch, body: Body, logger: Logger, onDropped?: OnDropped): Patch | undefined {
  const fns = patch.fns.filter((fn) => isWorking(fn, body, logger, onDropped));
  const merge = soundFields(patch.merge, [], logger, onDropped);
  if (fns.length === patch.fns.length && merge === patch.merge) return undefined;
  return new Patch(merge, { body: patch.body, fns });
}

/** Stanzas that several handlers write into: what is broken in them is dropped field by field. */
const SHARED = new Set(['spec', 'status', 'metadata', 'metadata.labels', 'metadata.annotations']);

/** Handlers cannot change the identity or the version of an object: the server would refuse that for ever. */
const NOT_THEIRS = new Set(['metadata.uid', 'metadata.resourceVersion']);

/** The same value if all of it is sound. */
function soundFields(
  merge: Mapping,
  path: readonly string[],
  logger: Logger,
  onDropped: OnDropped | undefined,
): Mapping {
  const sound: Mapping = {};
  let isSame = true;
  for (const [key, value] of Object.entries(merge)) {
    const field = [...path, key].join('.');
    if (SHARED.has(field) && isMapping(value)) {
      sound[key] = soundFields(value, [...path, key], logger, onDropped);
      isSame &&= sound[key] === value;
    } else if (NOT_THEIRS.has(field)) {
      logger.error(`The field '${field}' of the patch belongs to the cluster. It is dropped.`);
      onDropped?.(field, 'it belongs to the cluster');
      isSame = false;
    } else if (isJson(field, value, logger, onDropped)) sound[key] = value;
    else isSame = false;
  }
  return isSame ? merge : sound;
}

function isWorking(fn: PatchFn, body: Body, logger: Logger, onDropped: OnDropped | undefined): boolean {
  try {
    const changed = deepCopy(body) as AnyObject;
    applyFns([fn], changed);
    JSON.stringify(changed);
    const lost = lostInJson(changed);
    if (lost !== undefined) throw new TypeError(`It cannot be sent as JSON: ${lost}`);
    return true;
  } catch (thrown) {
    const name = fn.name === '' ? 'A function' : `The function '${fn.name}'`;
    logger.error(`${name} of the patch has failed. It is dropped: ${describeError(thrown)}`, {
      error: toError(thrown),
    });
    onDropped?.(fn.name === '' ? 'a function' : `the function '${fn.name}'`, describeError(thrown));
    return false;
  }
}

function isJson(field: string, value: unknown, logger: Logger, onDropped: OnDropped | undefined): boolean {
  try {
    const lost = lostInJson(value, field);
    if (lost !== undefined) throw new TypeError(lost);
    if (JSON.stringify(value) !== undefined) return true;
    throw new TypeError(`a ${typeof value} is not JSON`);
  } catch (thrown) {
    const why = toError(thrown).message.split('\n', 1)[0];
    logger.error(`The field '${field}' of the patch cannot be sent. It is dropped: ${why}`, { error: toError(thrown) });
    onDropped?.(field, describeError(thrown));
    return false;
  }
}
