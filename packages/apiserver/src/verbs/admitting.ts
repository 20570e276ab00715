/** Admission in the write path: the life of namespaces, then whatever plugins there are. */
import type { Backend, Call } from '../backend.js';
import type { AdmissionAttributes } from '../contracts/admission.js';
import type { ServedObject } from '../contracts/objects.js';
import type { WriteOptions } from '../options.js';
import { forbidden, notFound } from '../status.js';

const IMMORTAL = new Set(['default', 'kube-system', 'kube-public']);
const NAMESPACES = { group: '', plural: 'namespaces' };

export interface Admission {
  readonly operation: AdmissionAttributes['operation'];
  readonly object: ServedObject | undefined;
  readonly oldObject: ServedObject | undefined;
  readonly options: Pick<WriteOptions, 'dryRun' | 'object'>;
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
  const interested = backend.admission.filter((plugin) => plugin.isInterested(attributesOf(call, admission)));
  if (interested.length === 0) return object;
  return (async () => {
    let current = object;
    for (const plugin of interested) {
      current = (await plugin.mutate(attributesOf(call, { ...admission, object: current }))) ?? current;
    }
    return current;
  })();
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
  return {
    operation: admission.operation,
    resource: served,
    subresource: call.subresource,
    namespace: call.namespace,
    name: admission.object?.metadata.name ?? call.name,
    object: admission.object,
    oldObject: admission.oldObject,
    options: admission.options.object,
    dryRun: admission.options.dryRun,
    userInfo: request.user,
    warn: (text) => void call.warnings.push(text),
    signal: request.signal,
  };
}
