/** Deletion of objects: at once, or by a mark that waits for finalizers and grace periods. */
import { deepEqual } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import type { ApiAnswer } from '../../contracts/request.js';
import type { Revision } from '../../contracts/store.js';
import { DEFINITIONS } from '../../crd/definitions-collection.js';
import { markForCleanup } from '../../crd/name-conflicts.js';
import { objectOf, textOf } from '../../http/object-encoding.js';
import { conflict, notFound } from '../../http/status-errors.js';
import { type Backend, type Call, jsonAnswer, timestampOf } from '../../routing/backend.js';
import { find } from '../read/get.js';
import { admitByNamespace, validate } from '../write/admitting.js';
import { type DeleteOptions, readDeleteOptions } from './delete-options.js';

export async function remove(backend: Backend, call: Call): Promise<ApiAnswer> {
  const options = await readDeleteOptions(backend, call);
  warnOfOrphans(call, options);
  find(backend, call);
  return await removeObject(backend, call, options);
}

/** Tries until nobody interferes. */
export async function removeObject(backend: Backend, call: Call, options: DeleteOptions): Promise<ApiAnswer> {
  for (;;) {
    const revision = backend.store.get(call.served.collection, call.namespace, call.name);
    if (revision === undefined) throw notFound(call.served, call.name);
    const answer = await tryToRemove(backend, call, options, revision);
    if (answer !== undefined) return answer;
  }
}

async function tryToRemove(
  backend: Backend,
  call: Call,
  options: DeleteOptions,
  revision: Revision,
): Promise<ApiAnswer | undefined> {
  const { served } = call;
  const old = objectOf(served, revision);
  checkPreconditions(call, options, revision);
  const admission = { operation: 'DELETE', object: undefined, oldObject: old, options } as const;
  admitByNamespace(backend, call, admission);
  await validate(backend, call, admission);

  const effective = withDefaultPolicy(call, options);
  const marked = markOf(backend, call, objectOf(served, revision), effective);
  if (marked === undefined) {
    const last = options.dryRun ? revision : withoutGrace(backend, call, revision);
    const removed = options.dryRun || last === undefined ? last : backend.store.remove(last);
    if (removed === undefined) return undefined;
    return jsonAnswer(
      200,
      served.strategy.returnsDeleted ? deletedText(backend, call, removed) : successText(call, revision),
    );
  }
  const status = options.orphanDependents === false ? 202 : 200;
  if (deepEqual(marked, old)) return jsonAnswer(status, textOf(served, revision));
  if (options.dryRun) return jsonAnswer(status, JSON.stringify(marked));
  const stored = served.strategy.toStorage?.(marked) ?? { ...marked, apiVersion: served.storageApiVersion };
  const changed = backend.store.put(served.collection, stored, revision, served.strategy.schemaEpoch);
  return changed === undefined ? undefined : jsonAnswer(status, textOf(served, changed));
}

function checkPreconditions(call: Call, options: DeleteOptions, revision: Revision): void {
  const { uid, resourceVersion } = options;
  const kind = { group: call.served.group, plural: call.served.kind };
  if (uid !== undefined && uid !== revision.uid) {
    throw conflict(
      kind,
      call.name,
      `the UID in the precondition (${uid}) does not match the UID in record (${revision.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== String(revision.version)) {
    throw conflict(
      kind,
      call.name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${revision.version}). The object might have been modified`,
    );
  }
}

/** Some kinds orphan their dependents unless told otherwise, as they did before there was a garbage collector. */
function withDefaultPolicy(call: Call, options: DeleteOptions): DeleteOptions {
  const { strategy } = call.served;
  if (!strategy.orphansByDefault || options.propagationPolicy !== undefined) return options;
  return { ...options, propagationPolicy: 'Orphan' };
}

/** Told before the job is even looked for. */
export function warnOfOrphans({ served, warnings }: Call, options: DeleteOptions): void {
  const isSilent = options.propagationPolicy !== undefined || options.orphanDependents !== undefined;
  if (served.collection !== 'jobs.batch' || isSilent) return;
  warnings.push(
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  );
}

/** What may have a grace period, but gets none, is first seen with a period that is over, and then no more. */
function withoutGrace(backend: Backend, call: Call, revision: Revision): Revision | undefined {
  const { served } = call;
  if (served.strategy.gracePeriod === undefined) return revision;
  const marked = markedAsOver(backend, objectOf(served, revision));
  const stored = served.strategy.toStorage?.(marked) ?? { ...marked, apiVersion: served.storageApiVersion };
  return backend.store.put(served.collection, stored, revision, served.strategy.schemaEpoch);
}

function markedAsOver(backend: Backend, object: ServedObject): ServedObject {
  const { metadata } = object;
  if (metadata.deletionTimestamp === undefined && metadata.generation !== undefined) metadata.generation++;
  metadata.deletionTimestamp = timestampOf(backend.clock.utc());
  metadata.deletionGracePeriodSeconds = 0;
  return object;
}

function deletedText(backend: Backend, call: Call, removed: Revision): string {
  const { served } = call;
  if (served.strategy.gracePeriod === undefined) return textOf(served, removed);
  const object = objectOf(served, removed);
  return JSON.stringify(object.metadata.deletionGracePeriodSeconds === 0 ? object : markedAsOver(backend, object));
}

function successText(call: Call, revision: Revision): string {
  const { group, plural } = call.served;
  return JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name: call.name, ...(group === '' ? {} : { group }), kind: plural, uid: revision.uid },
  });
}

/** The object as it waits for its removal; `undefined` if there is nothing to wait for. */
function markOf(backend: Backend, call: Call, object: ServedObject, options: DeleteOptions): ServedObject | undefined {
  const { served } = call;
  const now = backend.clock.utc();
  if (served.collection === 'namespaces') return markNamespace(object, options, timestampOf(now));
  if (served.collection === DEFINITIONS) {
    return markDefinition(object, timestampOf(now));
  }
  const { metadata } = object;
  const grace = served.strategy.gracePeriod?.(object, options.gracePeriodSeconds) ?? 0;
  // Nobody owns anything by an event.
  if (served.collection !== 'events') setFinalizers(object, options);
  const isMarked = metadata.deletionTimestamp !== undefined;
  const pending = metadata.deletionGracePeriodSeconds ?? 0;
  const hasFinalizers = (metadata.finalizers ?? []).length > 0;
  if (!hasFinalizers && (grace === 0 || (isMarked && pending === 0))) return undefined;
  if (isMarked && grace >= pending) return object;
  metadata.deletionTimestamp = timestampOf(new Date(now.getTime() + grace * 1000));
  metadata.deletionGracePeriodSeconds = grace;
  if (!isMarked && (metadata.generation ?? 0) > 0) metadata.generation = (metadata.generation ?? 0) + 1;
  return object;
}

/** Definitions always wait: until all their objects are gone. */
function markDefinition(object: ServedObject, timestamp: string): ServedObject {
  if (object.metadata.deletionTimestamp !== undefined) return object;
  object.metadata.deletionTimestamp = timestamp;
  markForCleanup(object, timestamp);
  return object;
}

/** Namespaces are emptied first; who does it, says so by removing the finalizer. */
function markNamespace(object: ServedObject, options: DeleteOptions, timestamp: string): ServedObject | undefined {
  setFinalizers(object, options);
  const isHeld = (object.spec?.finalizers ?? []).length > 0 || (object.metadata.finalizers ?? []).length > 0;
  if (!isHeld) return undefined;
  object.metadata.deletionTimestamp ??= timestamp;
  object.status = { ...object.status, phase: 'Terminating' };
  return object;
}

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** The garbage collector learns by finalizers what to do with the dependents. */
function setFinalizers(object: ServedObject, options: DeleteOptions): void {
  const { metadata } = object;
  const existing = metadata.finalizers ?? [];
  const policy = options.propagationPolicy;
  const isToOrphan = policy === 'Orphan' || (policy === undefined && existing.includes(ORPHAN));
  const isForeground = policy === 'Foreground' || (policy === undefined && existing.includes(FOREGROUND));
  const others = existing.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  const wanted = [...others, ...(isToOrphan ? [ORPHAN] : []), ...(isForeground ? [FOREGROUND] : [])];
  const isSame = wanted.length === existing.length && wanted.every((finalizer) => existing.includes(finalizer));
  if (isSame) return;
  if (wanted.length > 0) metadata.finalizers = wanted;
  else delete metadata.finalizers;
}
