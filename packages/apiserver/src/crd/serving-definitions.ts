/** Keeps what is served in step with the definitions: names, conditions, versions, and the end of all that. */
import { deepEqual } from '@kopf-ts/core';
import type { ServedObject } from '../contracts/objects.js';
import type { SchemaCompiler } from '../contracts/schema.js';
import type { Revision, StoreEvent } from '../contracts/store.js';
import type { Served } from '../kinds/served.js';
import { type Backend, timestampOf } from '../routing/backend.js';
import { parseRevision } from '../store/revision.js';
import type { TypedDecoder } from '../typed/decode.js';
import { trackOwnManager } from '../verbs/write/field-managers.js';
import { serveDefinition } from './custom-resources.js';
import { DEFINITIONS } from './definitions-collection.js';
import { advanceDefinition, CLEANUP_FINALIZER, isConditionTrue, setCondition } from './name-conflicts.js';

/** For how many seconds watches may still get the last events of a kind that is gone or has changed. */
const TEARDOWN_DELAY = 1;

/**
 * Begins to serve what definitions define, from now on. It happens within the very change of the definition, so
 * that its creator can use it at once. Returns the way to stop.
 */
export function serveDefinitions(
  backend: Backend,
  parts: { readonly decode: TypedDecoder; readonly compiler: SchemaCompiler },
): () => void {
  const { store, catalog, clock, watches } = backend;
  const now = (): string => timestampOf(clock.utc());
  const stopping = new AbortController();
  let schemaEpoch = 0;
  const stops: (() => void)[] = [];

  const onDefinition = (event: StoreEvent): void => {
    const { object: revision, previous } = event;
    const collection = revision.name;
    if (event.type === 'DELETED') {
      catalog.serve(collection, []);
      endWatches(collection);
      return;
    }
    // Only the newest state matters; what was skipped here is in the history anyway.
    if (store.get(DEFINITIONS, '', collection) !== revision) return;
    const definition = parseRevision(revision);
    if (revision.isDeleting) {
      beginCleanup(revision, definition);
      return;
    }
    if (advanceDefinition(definition, others(collection), now())) {
      save(definition, revision);
      return;
    }
    if (!isConditionTrue(definition, 'Established')) return;
    const before = previous === undefined ? undefined : parseRevision(previous);
    const isSame = before !== undefined && isConditionTrue(before, 'Established') && isServedAlike(definition, before);
    if (isSame) return;
    schemaEpoch++;
    catalog.serve(collection, serveDefinition(definition, { ...parts, schemaEpoch }));
    // Watches would go on with the old schema; it is better that they come again.
    if (before !== undefined && isConditionTrue(before, 'Established')) endWatches(collection);
  };

  const save = (definition: ServedObject, revision: Revision): void => {
    const served = catalog.versionsOf(DEFINITIONS)[0] as Served;
    trackOwnManager(backend, { served, subresource: 'status' }, { object: definition, live: parseRevision(revision) });
    store.put(DEFINITIONS, definition, revision);
  };

  const endWatches = (collection: string): void => {
    const end = watches.openOf(collection);
    clock.sleep(TEARDOWN_DELAY, { signal: stopping.signal }).then(end, () => {});
  };

  function* others(name: string): Iterable<ServedObject> {
    for (const revision of store.list(DEFINITIONS)) if (revision.name !== name) yield parseRevision(revision);
  }

  const beginCleanup = (revision: Revision, definition: ServedObject): void => {
    if (!revision.finalizers.includes(CLEANUP_FINALIZER)) return;
    const condition = { type: 'Terminating', status: 'True' } as const;
    const message = 'CustomResource deletion is in progress';
    const inProgress = { ...condition, reason: 'InstanceDeletionInProgress', message };
    const wasPending = JSON.stringify(definition.status).includes('InstanceDeletionPending');
    if (wasPending) {
      setCondition(definition, inProgress, now());
      save(definition, revision);
      return;
    }
    for (const instance of store.list(revision.name)) removeInstance(instance);
    finishCleanup(revision.name);
  };

  const removeInstance = (instance: Revision): void => {
    if (instance.finalizers.length === 0) {
      store.remove(instance);
    } else if (!instance.isDeleting) {
      const object = parseRevision(instance);
      object.metadata.deletionTimestamp = now();
      object.metadata.deletionGracePeriodSeconds = 0;
      if (object.metadata.generation !== undefined) object.metadata.generation++;
      store.put(instance.collection, object, instance, instance.schemaEpoch);
    }
  };

  /** When the last object is gone, the definition goes, too. */
  const finishCleanup = (collection: string): void => {
    const revision = store.get(DEFINITIONS, '', collection);
    if (revision === undefined || !revision.isDeleting || store.count(collection) > 0) return;
    const remaining = revision.finalizers.filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
    if (remaining.length === 0) {
      store.remove(revision);
    } else if (remaining.length < revision.finalizers.length) {
      const definition = parseRevision(revision);
      definition.metadata.finalizers = remaining;
      const outcome = isConditionTrue(definition, 'Established')
        ? { reason: 'InstanceDeletionCompleted', message: 'removed all instances' }
        : { reason: 'NeverEstablished', message: 'resource was never established' };
      setCondition(definition, { type: 'Terminating', status: 'False', ...outcome }, now());
      save(definition, revision);
    }
  };

  // Of an earlier life.
  for (const object of store.list(DEFINITIONS)) {
    onDefinition({ type: 'ADDED', version: object.version, object, previous: undefined });
  }
  stops.push(store.observe(DEFINITIONS, onDefinition));
  stops.push(
    store.observe(undefined, ({ type, object }) => {
      if (type === 'DELETED' && object.collection !== DEFINITIONS) finishCleanup(object.collection);
    }),
  );
  return () => {
    stopping.abort();
    for (const stop of stops) stop();
  };
}

function isServedAlike(a: ServedObject, b: ServedObject): boolean {
  return deepEqual(a.spec, b.spec) && deepEqual(a.status?.acceptedNames, b.status?.acceptedNames);
}
