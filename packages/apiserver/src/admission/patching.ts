/** Patches in the answers of webhooks. */
import { deepCopy, getOwn, isMapping } from '@kopf-ts/core';
import type { ServedObject } from '../contracts/objects.js';
import { internalError } from '../http/status-errors.js';
import { jsonPatch } from '../patches/json.js';
import { goQuote } from '../text/go-text.js';
import { parseJson } from '../text/json-syntax.js';
import { HookFailure } from './admission-review.js';

const OPERATIONS: ReadonlySet<unknown> = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);

/** The patched copy of the object; `undefined` if there is nothing to patch. */
export function applyReviewPatch(
  hookName: string,
  object: ServedObject | undefined,
  patch: string,
  patchType: string,
): ServedObject | undefined {
  if (patch === '') return undefined;
  const operations = readOperations(patch);
  if (operations.length === 0) return undefined;
  if (object === undefined) {
    const problem = 'attempted to modify the object, which is not supported for this operation';
    throw internalError(`admission webhook ${goQuote(hookName)} ${problem}`);
  }
  if (patchType !== 'JSONPatch') throw new HookFailure(`unsupported patch type ${goQuote(patchType)}`);
  let patched: unknown = deepCopy(object);
  for (const operation of operations) {
    try {
      patched = jsonPatch(patched, [operation]);
    } catch {
      throw internalError(describe(operation));
    }
  }
  if (!isMapping(patched) || !isMapping(patched['metadata'])) {
    throw internalError(`Object 'Kind' is missing in '${JSON.stringify(patched)}'`);
  }
  return patched as ServedObject;
}

function readOperations(patch: string): readonly unknown[] {
  let data: unknown;
  try {
    data = parseJson(patch);
  } catch (error) {
    throw new HookFailure(`received undecodable patch in webhook response: ${(error as Error).message}`);
  }
  if (Array.isArray(data)) return data;
  const type = isMapping(data) ? 'object' : typeof data;
  throw new HookFailure(
    `received undecodable patch in webhook response: json: cannot unmarshal ${type} into Go value of type jsonpatch.Patch`,
  );
}

function describe(operation: unknown): string {
  if (!isMapping(operation)) return 'Unexpected kind: unknown';
  const kind = getOwn(operation, 'op');
  const path = String(getOwn(operation, 'path') ?? '');
  const key = path.slice(path.lastIndexOf('/') + 1);
  if (!OPERATIONS.has(kind)) return `Unexpected kind: ${String(kind ?? 'unknown')}`;
  switch (kind) {
    case 'remove':
      return `error in remove for path: '${path}': Unable to remove nonexistent key: ${key}: missing value`;
    case 'test':
      return `testing value ${path} failed: test failed`;
    default:
      return `${String(kind)} operation does not apply: doc is missing path: ${goQuote(path)}: missing value`;
  }
}
