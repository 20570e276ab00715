/** The `scale` subresource: replicas of anything that has them, as one kind. */
import { isMapping, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import type { ApiAnswer } from '../../contracts/request.js';
import { objectOf } from '../../http/object-encoding.js';
import { parseWriteOptions } from '../../http/query-options.js';
import { readObject } from '../../http/request-bodies.js';
import { badRequest, internalError, invalid, type StatusError } from '../../http/status-errors.js';
import type { ScalePaths } from '../../kinds/served.js';
import { type Backend, type Call, jsonAnswer } from '../../routing/backend.js';
import { invalidValue } from '../../text/field-causes.js';
import { setValueAt, valueAt } from '../../text/field-paths.js';
import { DecodingError } from '../../typed/decode.js';
import { find } from '../read/get.js';
import type { Face } from './admitting.js';
import { change } from './changing.js';
import { readApplicable } from './patch.js';
import { checkType } from './requested-object.js';

export function getScale(backend: Backend, call: Call): ApiAnswer {
  const object = objectOf(call.served, find(backend, call));
  const paths = pathsOf(call);
  if (call.served.isCustom && valueAt(object, paths.specReplicas) === undefined) {
    throw internalError(`the spec replicas field "${paths.specReplicas}" does not exist`);
  }
  return jsonAnswer(200, JSON.stringify(scaleOf(object, paths)));
}

export async function updateScale(backend: Backend, call: Call): Promise<ApiAnswer> {
  const raw = await readObject(call.request, 'Scale');
  const scale = { group: 'autoscaling', version: 'v1', apiVersion: 'autoscaling/v1', kind: 'Scale' };
  checkType(backend, { ...call, served: { ...call.served, ...scale, isCustom: false } }, raw);
  return await changeScale(backend, call, 'UpdateOptions', () => raw);
}

export async function patchScale(backend: Backend, call: Call): Promise<ApiAnswer> {
  const apply = await readApplicable(call);
  const refuse = (error: DecodingError, scale: Mapping): StatusError =>
    invalid({ group: '', kind: '' }, '', [invalidValue('patch', JSON.stringify(scale), error.message)]);
  return await changeScale(backend, call, 'PatchOptions', (current) => apply(current), refuse);
}

async function changeScale(
  backend: Backend,
  call: Call,
  optionsKind: string,
  build: (current: ServedObject) => unknown,
  refuse: (error: DecodingError, scale: Mapping) => StatusError = (error) =>
    badRequest(`Scale in version "v1" cannot be handled as a Scale: ${error.message}`),
): Promise<ApiAnswer> {
  const face = faceOf(backend, call);
  const text = await change(backend, call, {
    options: parseWriteOptions(call.query, optionsKind),
    face,
    build(object) {
      const wanted = build(face.of(object));
      if (!isMapping(wanted)) throw badRequest('the scale is no object');
      const { name = call.name } = isMapping(wanted.metadata) ? wanted.metadata : {};
      if (name !== call.name) {
        throw badRequest(`the name of the object (${String(name)}) does not match the name on the URL (${call.name})`);
      }
      try {
        return face.put(wanted, object);
      } catch (error) {
        throw error instanceof DecodingError ? refuse(error, wanted) : error;
      }
    },
  });
  return jsonAnswer(200, JSON.stringify(face.of(JSON.parse(text) as ServedObject)));
}

/** Whatever is scaled, it looks like a `Scale`. */
function faceOf(backend: Backend, call: Call): Face {
  const paths = pathsOf(call);
  return {
    kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    of: (object) => scaleOf(object, paths),
    put(scale, object) {
      const { spec } = backend.decode('autoscaling.Scale', scale).object;
      const replicas = isMapping(spec) && typeof spec.replicas === 'number' ? spec.replicas : 0;
      if (replicas < 0 && !call.served.isCustom) {
        throw invalid({ group: 'autoscaling', kind: 'Scale' }, call.name, [
          invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0'),
        ]);
      }
      const { resourceVersion } = isMapping(scale.metadata) ? scale.metadata : {};
      if (typeof resourceVersion === 'string') object.metadata.resourceVersion = resourceVersion;
      setValueAt(object, paths.specReplicas, replicas);
      return object;
    },
  };
}

function pathsOf(call: Call): ScalePaths {
  return call.served.strategy.scale as ScalePaths;
}

function scaleOf(object: ServedObject, paths: ScalePaths): ServedObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = valueAt(object, paths.specReplicas);
  const selector = paths.labelSelector === undefined ? undefined : valueAt(object, paths.labelSelector);
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
      replicas: Number(valueAt(object, paths.statusReplicas) ?? 0),
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
