/** The `scale` subresource: replicas of anything that has them, as one kind. */
import { getOwn, isMapping, type Mapping, setOwn } from '@kopf-ts/core';
import { type Backend, type Call, jsonAnswer } from '../backend.js';
import { readObject } from '../bodies.js';
import { invalidValue } from '../causes.js';
import type { ServedObject } from '../contracts/objects.js';
import type { ApiAnswer } from '../contracts/pipeline.js';
import { objectOf } from '../encoding.js';
import type { ScalePaths } from '../kinds/served.js';
import { parseWriteOptions } from '../options.js';
import { badRequest, invalid } from '../status.js';
import { DecodingError } from '../typed/decode.js';
import { find } from './get.js';
import { readApplicable } from './patch.js';
import { change } from './updating.js';

export function getScale(backend: Backend, call: Call): ApiAnswer {
  return jsonAnswer(200, JSON.stringify(scaleOf(objectOf(call.served, find(backend, call)), pathsOf(call))));
}

export async function updateScale(backend: Backend, call: Call): Promise<ApiAnswer> {
  const raw = await readObject(call.request, 'Scale');
  return await changeScale(backend, call, 'UpdateOptions', () => raw);
}

export async function patchScale(backend: Backend, call: Call): Promise<ApiAnswer> {
  const apply = await readApplicable(call);
  return await changeScale(backend, call, 'PatchOptions', (current) => apply(current));
}

async function changeScale(
  backend: Backend,
  call: Call,
  optionsKind: string,
  build: (current: ServedObject) => unknown,
): Promise<ApiAnswer> {
  const paths = pathsOf(call);
  const text = await change(backend, call, {
    options: parseWriteOptions(call.query, optionsKind),
    build(object) {
      const wanted = build(scaleOf(object, paths));
      if (!isMapping(wanted)) throw badRequest('the scale is no object');
      const metadata = isMapping(wanted.metadata) ? wanted.metadata : {};
      const { name = call.name, resourceVersion } = metadata;
      if (name !== call.name) {
        throw badRequest(`the name of the object (${String(name)}) does not match the name on the URL (${call.name})`);
      }
      if (typeof resourceVersion === 'string') object.metadata.resourceVersion = resourceVersion;
      const replicas = replicasOf(backend, wanted);
      if (replicas < 0) {
        throw invalid({ group: 'autoscaling', kind: 'Scale' }, call.name, [
          invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0'),
        ]);
      }
      setPath(object, paths.specReplicas, replicas);
      return object;
    },
  });
  return jsonAnswer(200, JSON.stringify(scaleOf(JSON.parse(text) as ServedObject, paths)));
}

function replicasOf(backend: Backend, scale: Mapping): number {
  try {
    const { spec } = backend.decode('autoscaling.Scale', scale).object;
    return isMapping(spec) && typeof spec.replicas === 'number' ? spec.replicas : 0;
  } catch (error) {
    if (!(error instanceof DecodingError)) throw error;
    throw badRequest(`Scale in version "v1" cannot be handled as a Scale: ${error.message}`);
  }
}

function pathsOf(call: Call): ScalePaths {
  return call.served.strategy.scale as ScalePaths;
}

function scaleOf(object: ServedObject, paths: ScalePaths): ServedObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = getPath(object, paths.specReplicas);
  const selector = paths.labelSelector === undefined ? undefined : getPath(object, paths.labelSelector);
  const selectorText = isMapping(selector) ? formatSelector(selector) : selector;
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: typeof replicas === 'number' && replicas !== 0 ? { replicas } : {},
    status: {
      replicas: Number(getPath(object, paths.statusReplicas) ?? 0),
      ...(typeof selectorText === 'string' && selectorText !== '' ? { selector: selectorText } : {}),
    },
  };
}

/** A selector of an object as the text of a query. */
function formatSelector(selector: Mapping): string {
  const isNested = isMapping(selector.matchLabels) || Array.isArray(selector.matchExpressions);
  const labels = isNested ? selector.matchLabels : selector;
  const terms = isMapping(labels) ? Object.entries(labels).map(([key, value]) => `${key}=${String(value)}`) : [];
  const expressions = Array.isArray(selector.matchExpressions) ? selector.matchExpressions.filter(isMapping) : [];
  for (const { key, operator, values } of expressions) {
    const list = Array.isArray(values) ? `(${[...values].sort().join(',')})` : '';
    if (operator === 'In') terms.push(`${String(key)} in ${list}`);
    if (operator === 'NotIn') terms.push(`${String(key)} notin ${list}`);
    if (operator === 'Exists') terms.push(String(key));
    if (operator === 'DoesNotExist') terms.push(`!${String(key)}`);
  }
  return terms.sort().join(',');
}

const keysOf = (path: string): string[] => path.split('.').filter((key) => key !== '');

function getPath(object: object, path: string): unknown {
  let value: unknown = object;
  for (const key of keysOf(path)) value = isMapping(value) ? getOwn(value, key) : undefined;
  return value;
}

function setPath(object: Mapping, path: string, value: unknown): void {
  const keys = keysOf(path);
  let target = object;
  for (const key of keys.slice(0, -1)) {
    const existing = getOwn(target, key);
    const next = isMapping(existing) ? existing : {};
    setOwn(target, key, next);
    target = next;
  }
  setOwn(target, keys.at(-1) as string, value);
}
