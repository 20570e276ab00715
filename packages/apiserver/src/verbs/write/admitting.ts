/** Admission in the write path: the life of namespaces, then whatever plugins there are. */
import type { Mapping } from '@kopf-ts/core';
import type { AdmissionAttributes } from '../../contracts/admission.js';
import type { ServedObject } from '../../contracts/objects.js';
import type { WriteOptions } from '../../http/query-options.js';
import { forbidden, internalError, notFound } from '../../http/status-errors.js';
import type { Backend, Call } from '../../routing/backend.js';
import { DecodingError } from '../../typed/decode.js';

const IMMORTAL = new Set(['default', 'kube-system', 'kube-public']);
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
  /** The object with such a face; it may be changed for that. Throws a `DecodingError` if that is no face. */
  put(face: Mapping, object: ServedObject): ServedObject;
}

/** Whatever is created, is created in a living namespace; some namespaces live for ever. */
export function admitByNamespace(backend: Backend, call: Call, admission: Admission): void {
  const { served, namespace, name } = call;
  if (served.group === '' && served.plural === 'namespaces') {
    if (admission.operation === 'DELETE' && IMMORTAL.has(name)) {
      throw forbidden(served, name, 'this namespace may not be deleted');
    }
    return;
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
  const interested = backend.admission.filter((plugin) => plugin.isInterested(attributes));
  if (interested.length === 0) return object;
  return (async () => {
    let current = attributes.object;
    for (const plugin of interested) {
      current = (await plugin.mutate({ ...attributes, object: current })) ?? current;
    }
    return current === undefined || current === attributes.object ? object : adopted(call, admission, current);
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
  const interested = backend.admission.filter((plugin) => plugin.isInterested(attributes));
  if (interested.length === 0) return undefined;
  return (async () => {
    for (const plugin of interested) await plugin.validate(attributes);
  })();
}

function attributesOf(call: Call, admission: Admission): AdmissionAttributes {
  const { request, served } = call;
  const { face } = admission;
  const seen = (object: ServedObject | undefined): ServedObject | undefined =>
    face === undefined || object === undefined ? object : face.of(object);
  return {
    operation: admission.operation,
    resource: served,
    ...(face === undefined ? {} : { kind: face.kind }),
    subresource: call.subresource,
    namespace: call.namespace,
    name: admission.object?.metadata.name ?? call.name,
    object: seen(admission.object),
    oldObject: seen(admission.oldObject),
    options: admission.options.object,
    dryRun: admission.options.dryRun,
    userInfo: request.user,
    warn: (text) => void call.warnings.push(text),
    signal: request.signal,
  };
}
