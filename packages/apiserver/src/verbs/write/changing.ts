/** The common part of everything that changes an existing object: updates, patches, scales. */
import { deepEqual } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import type { Revision } from '../../contracts/store.js';
import { objectOf, textOf } from '../../http/object-encoding.js';
import type { WriteOptions } from '../../http/query-options.js';
import { conflict, invalid, notFound, OBJECT_MODIFIED, StatusError } from '../../http/status-errors.js';
import type { Backend, Call } from '../../routing/backend.js';
import { invalidValue } from '../../text/field-causes.js';
import { validateCommon } from '../../validation/metadata.js';
import { type Admission, admitByNamespace, type Face, mutate, validate } from './admitting.js';
import { dropRepeatedOwners } from './repeated-owners.js';

export interface Change {
  /** The object as it should be, made from the current one, which may be changed. Called again after a conflict. */
  build(current: ServedObject): ServedObject | Promise<ServedObject>;
  readonly options: WriteOptions;
  /** Where another version is insisted on, the answer is a conflict; where none is, it is tried again. */
  readonly uid?: string | undefined;
  /** If it is not the object itself that is changed, as far as others can see. */
  readonly face?: Face;
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
  if (wanted.uid !== undefined && wanted.uid !== revision.uid) throw wrongUid(call, wanted.uid, revision);

  const admission: Admission = { operation: 'UPDATE', object: built, oldObject: old, options, face: wanted.face };
  admitByNamespace(backend, call, admission);
  const object = await mutate(backend, call, admission);

  settleVersion(call, object, revision);
  prepare(call, object, old);
  const causes = [
    ...validateCommon(object.metadata, old.metadata, served.namespaced),
    ...served.strategy.validateUpdate(object, old, call.subresource),
  ];
  if (causes.length > 0)
    throw invalid({ group: served.strategy.reportedGroup ?? served.group, kind: object.kind }, call.name, causes);
  for (const text of served.strategy.warnings?.(object, old) ?? []) call.warnings.push(text);
  await validate(backend, call, { ...admission, object });

  if (options.dryRun) return JSON.stringify(object);
  if (isToBeRemoved(call, object, old)) {
    return backend.store.remove(revision) === undefined ? undefined : JSON.stringify(object);
  }
  if (deepEqual(object, old)) return textOf(served, revision);
  const stored = served.strategy.toStorage?.(object) ?? { ...object, apiVersion: served.storageApiVersion };
  const changed = backend.store.put(served.collection, stored, revision, served.strategy.schemaEpoch);
  return changed === undefined ? undefined : textOf(served, changed);
}

function wrongUid(call: Call, uid: string, revision: Revision): StatusError {
  const { served, namespace, name } = call;
  const group = served.group === '' || !served.isCustom ? '' : `${served.group}/`;
  const key = `/registry/${group}${served.plural}/${namespace === '' ? '' : `${namespace}/`}${name}`;
  return conflict(
    served,
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${revision.uid}`,
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
  } else if (!/^\d+$/.test(resourceVersion)) {
    throw new StatusError(500, '', `strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`);
  } else if (resourceVersion !== current) {
    throw conflict(served, name, OBJECT_MODIFIED);
  }
}

/** What the server itself says of a changed object, whatever the client says. */
function prepare(call: Call, object: ServedObject, old: ServedObject): void {
  const { strategy } = call.served;
  const { metadata } = object;
  const before = old.metadata;
  delete metadata.managedFields;
  delete metadata.selfLink;
  copyOrDrop(metadata, before, 'generation');
  strategy.prepareForUpdate(object, old, call.subresource);
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
