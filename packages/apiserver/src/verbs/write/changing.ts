/** The common part of everything that changes an existing object: updates, patches, scales. */
import { deepEqual } from '@kopf-ts/core';
import { refuseEscalation } from '../../authorization/escalation.js';
import type { ServedObject } from '../../contracts/objects.js';
import type { Revision, Store } from '../../contracts/store.js';
import { objectOf, textOf } from '../../http/object-encoding.js';
import type { WriteOptions } from '../../http/query-options.js';
import { conflict, internalError, invalid, notFound, OBJECT_MODIFIED, StatusError } from '../../http/status-errors.js';
import { type Backend, type Call, timestampOf } from '../../routing/backend.js';
import { parseRevision } from '../../store/revision.js';
import { invalidValue } from '../../text/field-causes.js';
import { writeJson } from '../../text/json-writing.js';
import { validateCommon } from '../../validation/metadata.js';
import { type Admission, admitByNamespace, type Face, mutate, validate } from './admitting.js';
import { isUnchanged, trackManagers, withoutManagers } from './field-managers.js';
import { dropRepeatedOwners } from './repeated-owners.js';

export interface Change {
  /** The object as it should be, made from the current one, which may be changed. Called again after a conflict. */
  build(current: ServedObject): ServedObject | Promise<ServedObject>;
  readonly options: WriteOptions;
  /** Where another version is insisted on, the answer is a conflict; where none is, it is tried again. */
  readonly uid?: string | undefined;
  /** If it is not the object itself that is changed, as far as others can see. */
  readonly face?: Face;
  /** Who manages the fields then. By default: the client, as for any update. */
  track?(object: ServedObject, live: ServedObject): void;
}

/** As often as patches are tried again by kube-apiserver. */
const MAX_TRIES = 5;

/** Makes the change. Returns the text of the object as it is then, in the version of the request. */
export async function change(backend: Backend, call: Call, wanted: Change): Promise<string> {
  for (let tries = 1; ; tries++) {
    const revision = backend.store.get(call.served.collection, call.namespace, call.name);
    if (revision === undefined) throw notFound(call.served, call.name);
    const text = await tryToChange(backend, call, wanted, revision);
    if (text !== undefined) return text;
    if (tries >= MAX_TRIES) throw conflict(call.served, call.name, OBJECT_MODIFIED);
  }
}

async function tryToChange(
  backend: Backend,
  call: Call,
  wanted: Change,
  revision: Revision,
): Promise<string | undefined> {
  const { served } = call;
  const { options } = wanted;
  const old = objectOf(served, revision);
  const built = await wanted.build(objectOf(served, revision));
  dropRepeatedOwners(call, built);
  if (wanted.track !== undefined) wanted.track(built, old);
  else trackManagers(backend, call, options, { object: built, live: old });
  if (wanted.uid !== undefined && wanted.uid !== revision.uid) throw wrongUid(call, wanted.uid, revision.uid);

  const admission: Admission = { operation: 'UPDATE', object: built, oldObject: old, options, face: wanted.face };
  admitByNamespace(backend, call, admission);
  const object = await mutate(backend, call, admission);
  refuseEscalation(backend.authorizer, backend.store, { user: call.request.user, served, object, old });

  settleVersion(call, object, revision);
  if (served.isCustom && !object.apiVersion) {
    throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
  }
  prepare(call, object, old, timestampOf(backend.clock.utc()));
  const causes = [
    ...validateCommon(object.metadata, old.metadata, served.namespaced),
    ...served.strategy.validateUpdate(object, old, call.subresource),
  ];
  if (causes.length > 0) throw invalid({ group: reportedGroup(call, object), kind: object.kind }, call.name, causes);
  const release = call.subresource === '' ? allocate(backend, call, object, old) : nothing;
  try {
    if (call.subresource === '') {
      for (const text of served.strategy.warnings?.(object, old) ?? []) call.warnings.push(text);
    }
    await validate(backend, call, { ...admission, object });

    const isSame = isUnchanged(object, old);
    if (isSame) object.metadata.managedFields = old.metadata.managedFields;
    if (options.dryRun) return writeJson(object);
    if (isToBeRemoved(call, object, old)) {
      return backend.store.remove(revision) === undefined ? undefined : writeJson(object);
    }
    if (isSame && isStored(call, object, revision)) return textOf(served, revision);
    const changed = store(backend, call, object, revision);
    return changed === undefined ? undefined : textOf(served, changed);
  } finally {
    release();
  }
}

/** Custom objects are what they say they are, even if that is what is wrong with them. */
function reportedGroup({ served }: Call, { apiVersion }: ServedObject): string {
  if (!served.isCustom) return served.strategy.reportedGroup ?? served.group;
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
}

/** Would it be stored as it is? What reading has changed is written down with the next write, whatever that is. */
function isStored({ served }: Call, object: ServedObject, revision: Revision): boolean {
  const { strategy, storageApiVersion } = served;
  const stored = strategy.toStorage?.(object) ?? { ...object, apiVersion: storageApiVersion };
  return deepEqual(stored, parseRevision(revision));
}

/** Objects that have got something for themselves alone, and are not yet in the store. */
const underWay = new WeakMap<Store, Set<ServedObject>>();
const nothing = (): void => {};

/**
 * Gives the object what no other may have. Until it is in the store, or will never be, others are kept from that: call
 * what is returned then.
 */
export function allocate(
  { store }: Backend,
  { served, query }: Call,
  object: ServedObject,
  old: ServedObject | undefined,
): () => void {
  const { strategy, collection } = served;
  if (strategy.allocate === undefined) return nothing;
  const pending = underWay.get(store) ?? new Set();
  underWay.set(store, pending);
  const others = function* (): Iterable<ServedObject> {
    for (const revision of store.list(collection)) yield parseRevision(revision);
    yield* pending;
  };
  const isDryRun = query.has('dryRun');
  const causes = strategy.allocate(object, old, others, isDryRun);
  if (causes.length > 0) throw invalid(served, object.metadata.name ?? '', causes);
  if (isDryRun) return nothing;
  pending.add(object);
  return () => void pending.delete(object);
}

/** Puts the object into the store; if it is too large, then without its managers, as these are the least of it. */
export function store(
  { store }: Backend,
  { served }: Call,
  object: ServedObject,
  expected: Revision | undefined,
): Revision | undefined {
  const { strategy, collection, storageApiVersion } = served;
  const put = (whole: ServedObject): Revision | undefined => {
    const stored = strategy.toStorage?.(whole) ?? { ...whole, apiVersion: storageApiVersion };
    return store.put(collection, stored, expected, strategy.schemaEpoch);
  };
  try {
    return put(object);
  } catch (error) {
    if (!(error instanceof StatusError) || object.metadata.managedFields === undefined) throw error;
    return put(withoutManagers(object));
  }
}

/** Where the real server keeps kinds whose names have changed since. */
const STORED_AS: Readonly<Record<string, string>> = {
  services: 'services/specs',
  endpoints: 'services/endpoints',
  nodes: 'minions',
  replicationcontrollers: 'controllers',
  'ingresses.networking.k8s.io': 'ingress',
};

export function wrongUid(call: Call, uid: string, actual: string): StatusError {
  const { served, namespace, name } = call;
  const group = served.group === '' || !served.isCustom ? '' : `${served.group}/`;
  const room = STORED_AS[served.collection] ?? served.plural;
  // What is never stored has no prefix there.
  const prefix = call.query.has('dryRun') ? '' : '/registry';
  const key = `${prefix}/${group}${room}/${namespace === '' ? '' : `${namespace}/`}${name}`;
  return conflict(
    served,
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${actual}`,
  );
}

/** The object is based on the current version, or does not care. */
function settleVersion(call: Call, object: ServedObject, revision: Revision): void {
  const { served, name } = call;
  const { resourceVersion = '' } = object.metadata;
  const current = String(revision.version);
  if (resourceVersion === '' || resourceVersion === '0') {
    if (!served.strategy.allowsUnconditionalUpdate) {
      throw invalid({ group: served.group, kind: served.plural }, name, [
        invalidValue('metadata.resourceVersion', 0, 'must be specified for an update'),
      ]);
    }
    object.metadata.resourceVersion = current;
    return;
  }
  refuseUnreadableVersion(resourceVersion);
  if (resourceVersion !== current) {
    throw conflict(served, name, OBJECT_MODIFIED);
  }
}

/** Versions are numbers, though nobody should know. */
export function refuseUnreadableVersion(version = ''): void {
  if (/^\d*$/.test(version)) return;
  throw new StatusError(500, '', `strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`);
}

/** What the server itself says of a changed object, whatever the client says. */
function prepare(call: Call, object: ServedObject, old: ServedObject, timestamp: string): void {
  const { strategy } = call.served;
  const { metadata } = object;
  const before = old.metadata;
  delete metadata.selfLink;
  copyOrDrop(metadata, before, 'generation');
  strategy.prepareForUpdate(object, old, call.subresource, timestamp);
  if (metadata.uid === undefined || metadata.uid === '') copyOrDrop(metadata, before, 'uid');
  copyOrDrop(metadata, before, 'creationTimestamp');
  if (before.deletionTimestamp !== undefined) metadata.deletionTimestamp = before.deletionTimestamp;
  if (metadata.deletionGracePeriodSeconds === undefined) copyOrDrop(metadata, before, 'deletionGracePeriodSeconds');
  if (strategy.countsGenerations && isNewGeneration(call, object, old)) {
    metadata.generation = (before.generation ?? 0) + 1;
  }
}

function copyOrDrop(target: ServedObject['metadata'], source: ServedObject['metadata'], key: string): void {
  if (source[key] === undefined) delete target[key];
  else target[key] = source[key];
}

/** Annotations of deployments count, too: they are copied to the replica sets. */
function isNewGeneration(call: Call, object: ServedObject, old: ServedObject): boolean {
  if (call.subresource === 'binding') return false;
  if (!contentIsEqual(object, old, call.served.strategy.statusIsSeparate)) return true;
  const isDeployment = call.served.collection === 'deployments.apps' && call.subresource === '';
  return isDeployment && !deepEqual(object.metadata.annotations, old.metadata.annotations);
}

function contentIsEqual(a: ServedObject, b: ServedObject, exceptStatus: boolean): boolean {
  const contentOf = (object: ServedObject): object => {
    const { metadata: _metadata, status, ...rest } = object;
    return exceptStatus ? rest : { ...rest, status };
  };
  return deepEqual(contentOf(a), contentOf(b));
}

/** The last finalizer of a deleted object is gone, and nothing else holds it. */
function isToBeRemoved(call: Call, object: ServedObject, old: ServedObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = old.metadata;
  if (deletionTimestamp === undefined || deletionTimestamp === null) return false;
  if ((object.metadata.finalizers ?? []).length > 0 || (deletionGracePeriodSeconds ?? 0) > 0) return false;
  const isNamespace = call.served.group === '' && call.served.plural === 'namespaces';
  return !isNamespace || (object.spec?.finalizers ?? []).length === 0;
}
