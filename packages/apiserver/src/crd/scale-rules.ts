/** What a scaled custom object must have at the paths that its definition names. */
import { getOwn, isMapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../contracts/objects.js';
import type { ScalePaths } from '../kinds/served.js';
import { invalidValue } from '../text/field-causes.js';
import { goText, goTypeOf } from '../text/go-values.js';

const MOST = 2 ** 31 - 1;

/** An update of the status does not look at the rest. */
export function validateScale(object: ServedObject, scale: ScalePaths | undefined, part?: 'status'): readonly Cause[] {
  if (scale === undefined) return [];
  const { specReplicas, statusReplicas, labelSelector } = scale;
  return [
    ...(part === 'status' ? [] : replicasProblems(object, specReplicas)),
    ...replicasProblems(object, statusReplicas),
    ...(labelSelector === undefined ? [] : selectorProblems(object, labelSelector)),
  ];
}

function replicasProblems(object: ServedObject, path: string): readonly Cause[] {
  const { value, problem } = accessed(object, path, 'int64', Number.isSafeInteger);
  if (problem !== undefined) return [invalidValue(path, 0, problem)];
  const replicas = (value ?? 0) as number;
  if (replicas < 0) return [invalidValue(path, replicas, 'should be a non-negative integer')];
  return replicas > MOST ? [invalidValue(path, replicas, `should be less than or equal to ${MOST}`)] : [];
}

function selectorProblems(object: ServedObject, path: string): readonly Cause[] {
  const { problem } = accessed(object, path, 'string', (value) => typeof value === 'string');
  return problem === undefined ? [] : [invalidValue(path, '', problem)];
}

/** The value at the path, if there is a way to it, and it is of the type. */
function accessed(
  object: ServedObject,
  path: string,
  type: string,
  isRight: (value: unknown) => boolean,
): { readonly value?: unknown; readonly problem?: string } {
  const keys = path.split('.').filter((key) => key !== '');
  let value: unknown = object;
  for (const [index, key] of keys.entries()) {
    if (value === null) return {};
    if (!isMapping(value)) {
      return { problem: problemOf(keys.slice(0, index + 1), value, 'map[string]interface{}') };
    }
    if (!Object.hasOwn(value, key)) return {};
    value = getOwn(value, key);
  }
  return isRight(value) ? { value } : { problem: problemOf(keys, value, type) };
}

const problemOf = (keys: readonly string[], value: unknown, expected: string): string =>
  `.${keys.join('.')} accessor error: ${goText(value)} is of the type ${goTypeOf(value)}, expected ${expected}`;
