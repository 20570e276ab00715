/** Admission in the write path: the life of namespaces, then whatever plugins there are. */
import type { Mapping } from '@kopf-ts/core';
import type { AdmissionAttributes } from '../../contracts/admission.js';
import type { ServedObject } from '../../contracts/objects.js';
import type { WriteOptions } from '../../http/query-options.js';
import { forbidden, internalError, notFound } from '../../http/status-errors.js';
import type { Backend, Call } from '../../routing/backend.js';
import { DecodingError } from '../../typed/decode.js';
import { settleManagers } from './field-managers.js';

const IMMORTAL = new Set(['default', 'kube-system', 'kube-public']);
const PRIORITIES = 'priorityclasses.scheduling.k8s.io';
const NAMESPACES = { group: '', plural: 'namespaces' };

export interface Admission {
  readonly operation: AdmissionAttributes['operation'];
  readonly object: ServedObject | undefined;
  readonly oldObject: ServedObject | undefined;
  readonly options: Pick<WriteOptions, 'dryRun' | 'object'>;
  /** How others see the object, if not as it is. */
  readonly face?: Face | undefined;
}

/** A part of an object that looks like an object of another kind, such as a `Scale`. */
export interface Face {
  readonly kind: NonNullable<AdmissionAttributes['kind']>;
  of(object: ServedObject): ServedObject;
  /** The same as admission plugins get it: with its managers. */
  reviewed(object: ServedObject, isOld: boolean): ServedObject;
  /** The object with such a face; it may be changed for that. Throws a `DecodingError` if that is no face. */
  put(face: Mapping, object: ServedObject): ServedObject;
}

/** Whatever is created, is created in a living namespace; some namespaces live for ever, and so do the highest priorities. */
export function admitByNamespace(backend: Backend, call: Call, admission: Admission): void {
  const { served, namespace, name } = call;
  if (served.group === '' && served.plural === 'namespaces') {
    if (admission.operation === 'DELETE' && IMMORTAL.has(name)) {
      throw forbidden(served, name, 'this namespace may not be deleted');
    }
    return;
  }
  if (admission.operation === 'DELETE' && served.collection === PRIORITIES && name.startsWith('system-')) {
    throw forbidden(served, name, 'this is a system priority class and cannot be deleted');
  }
  if (!served.namespaced || admission.operation === 'DELETE') return;
  const existing = backend.store.get('namespaces', '', namespace);
  if (existing === undefined) throw notFound(NAMESPACES, namespace);
  if (admission.operation === 'CREATE' && existing.isDeleting) {
    const subject = admission.object?.metadata.name ?? name;
    throw forbidden(
      served,
      subject,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
      [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    );
  }
}

/** The object as the plugins want it. Nothing is awaited if nobody is interested. */
export function mutate(backend: Backend, call: Call, admission: Admission): ServedObject | Promise<ServedObject> {
  const object = admission.object as ServedObject;
  const attributes = attributesOf(call, admission);
  backend.ownAdmission.mutate(attributes);
  const interested = backend.admission.filter((plugin) => plugin.isInterested(attributes));
  if (interested.length === 0) return object;
  return (async () => {
    let current = attributes.object;
    for (const plugin of interested) {
      current = (await plugin.mutate({ ...attributes, object: current })) ?? current;
      // Nobody waits for the answer any more: nothing is to come of it.
      call.request.signal.throwIfAborted();
    }
    if (current === undefined || current === attributes.object) return object;
    const mutated = adopted(call, admission, current);
    if (admission.face === undefined) settleManagers(call, mutated, object);
    return mutated;
  })();
}

/** A webhook may have removed a default, added an unknown field, or spoiled the object altogether. */
function adopted(call: Call, { face, object }: Admission, mutated: ServedObject): ServedObject {
  try {
    if (face !== undefined) return face.put(mutated, object as ServedObject);
    return call.served.strategy.decode(mutated).object;
  } catch (error) {
    if (!(error instanceof DecodingError)) throw error;
    throw internalError(error.message);
  }
}

/** Resolves if nobody objects. */
export function validate(backend: Backend, call: Call, admission: Admission): undefined | Promise<void> {
  const attributes = attributesOf(call, admission);
  backend.ownAdmission.validate(attributes);
  const interested = backend.admission.filter((plugin) => plugin.isInterested(attributes));
  if (interested.length === 0) {
    backend.ownAdmission.charge(attributes);
    return undefined;
  }
  return (async () => {
    for (const plugin of interested) await plugin.validate(attributes);
    call.request.signal.throwIfAborted();
    backend.ownAdmission.charge(attributes);
  })();
}

function attributesOf(call: Call, admission: Admission): AdmissionAttributes {
  const { request, served } = call;
  const { face } = admission;
  const seen = (object: ServedObject | undefined, isOld: boolean): ServedObject | undefined =>
    face === undefined || object === undefined ? object : face.reviewed(object, isOld);
  return {
    operation: admission.operation,
    resource: served,
    ...(face === undefined ? {} : { kind: face.kind }),
    subresource: call.subresource,
    namespace: call.namespace,
    name: admission.object?.metadata.name ?? call.name,
    object: seen(admission.object, false),
    oldObject: seen(admission.oldObject, true),
    options: admission.options.object,
    dryRun: admission.options.dryRun,
    userInfo: request.user,
    warn: (text) => void call.warnings.push(text),
    // Making it costs more than all the rest: on demand, then.
    get signal() {
      return request.signal;
    },
  };
}
