/** What users have put into a patch, but what can never be sent: it must not keep the rest of the patch from it. */
import { type AnyObject, type Body, deepCopy, type Logger, type Mapping, Patch, type PatchFn } from '@kopf-ts/core';
import { describeError, toError } from '@kopf-ts/core/engine';

/**
 * The patch without what is broken in it: functions that throw, and fields that are not JSON. `undefined` if nothing
 * is broken, so that it is not the patch that has failed. What is dropped is told of, since nobody else will.
 */
export function withoutBroken(patch: Patch, body: Body, logger: Logger): Patch | undefined {
  const fns = patch.fns.filter((fn) => isWorking(fn, body, logger));
  const merge: Mapping = {};
  const fields = Object.keys(patch.merge).filter((field) => isJson(field, patch.merge[field], logger));
  if (fns.length === patch.fns.length && fields.length === Object.keys(patch.merge).length) return undefined;
  for (const field of fields) merge[field] = patch.merge[field];
  return new Patch(merge, { body: patch.body, fns });
}

function isWorking(fn: PatchFn, body: Body, logger: Logger): boolean {
  try {
    fn(deepCopy(body) as AnyObject);
    return true;
  } catch (thrown) {
    const name = fn.name === '' ? 'A function' : `The function '${fn.name}'`;
    logger.error(`${name} of the patch has failed. It is dropped: ${describeError(thrown)}`, {
      error: toError(thrown),
    });
    return false;
  }
}

function isJson(field: string, value: unknown, logger: Logger): boolean {
  try {
    if (JSON.stringify(value) !== undefined) return true;
    throw new TypeError(`a ${typeof value} is not JSON`);
  } catch (thrown) {
    const why = toError(thrown).message.split('\n', 1)[0];
    logger.error(`The field '${field}' of the patch cannot be sent. It is dropped: ${why}`, { error: toError(thrown) });
    return false;
  }
}
