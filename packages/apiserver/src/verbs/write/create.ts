/** Creation of objects. */
import { randomInt, randomUUID } from 'node:crypto';
import { deepCopy } from '@kopf-ts/core';
import { refuseEscalation } from '../../authorization/escalation.js';
import { accessForbidden } from '../../authorization/refusals.js';
import type { ServedObject } from '../../contracts/objects.js';
import type { ApiAnswer } from '../../contracts/request.js';
import { DEFINITIONS } from '../../crd/definitions-collection.js';
import { textOf } from '../../http/object-encoding.js';
import { parseWriteOptions, type WriteOptions } from '../../http/query-options.js';
import { alreadyExists, forbidden, invalid, StatusError } from '../../http/status-errors.js';
import { type Backend, type Call, jsonAnswer, timestampOf } from '../../routing/backend.js';
import { parseRevision } from '../../store/revision.js';
import { writeJson } from '../../text/json-writing.js';
import { validateMetadata } from '../../validation/metadata.js';
import { pathSegment } from '../../validation/names.js';
import { type Admission, admitByNamespace, mutate, validate } from './admitting.js';
import { allocate, store } from './changing.js';
import { trackManagers } from './field-managers.js';
import { dropRepeatedOwners } from './repeated-owners.js';
import { readRequested, settleNamespace } from './requested-object.js';

export async function create(backend: Backend, call: Call): Promise<ApiAnswer> {
  const options = parseWriteOptions(call.query, 'CreateOptions');
  const object = await readRequested(backend, call, options);
  return await createObject(backend, call, object, options);
}

/** Also when something is created by an update or an application; the latter has seen to the managers. */
export async function createObject(
  backend: Backend,
  call: Call,
  requested: ServedObject,
  options: WriteOptions,
  isTracked = false,
): Promise<ApiAnswer> {
  const { served } = call;
  settleNamespace(call, requested);
  dropRepeatedOwners(call, requested);
  refuseWhileTerminating(backend, call, requested);
  if (!isTracked) for (const key of OF_THE_SERVER) delete requested.metadata[key];
  if (!isTracked) trackManagers(backend, call, options, { object: requested, live: undefined });
  const admission: Admission = { operation: 'CREATE', object: requested, oldObject: undefined, options };
  admitByNamespace(backend, call, admission);
  const object = await mutate(backend, call, admission);
  const { user } = call.request;
  refuseEscalation(backend.authorizer, backend.store, { user, served, object, old: undefined });

  const { resourceVersion } = object.metadata;
  prepare(backend, call, object);
  refuseInvalid(backend, call, object);
  const release = call.subresource === '' ? allocate(backend, call, object, undefined) : undefined;
  try {
    for (const text of served.strategy.warnings?.(object, undefined) ?? []) call.warnings.push(text);
    if (call.name !== '') refuseSecretCreation(backend, call);
    await validate(backend, call, { ...admission, object });

    const { name = '' } = object.metadata;
    if (resourceVersion !== undefined && resourceVersion !== '' && resourceVersion !== '0') {
      throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created');
    }
    const existing = backend.store.get(served.collection, call.namespace, name);
    if (existing !== undefined) throw alreadyExists(served, name, existing.isDeleting);
    if (options.dryRun) return jsonAnswer(201, writeJson(object));

    const revision = store(backend, call, object, undefined);
    if (revision === undefined) throw alreadyExists(served, name);
    return jsonAnswer(201, textOf(served, revision));
  } finally {
    release?.();
  }
}

/** Who may change what is there may not yet create it that way. */
function refuseSecretCreation({ authorizer }: Backend, { request: { user }, served, namespace, name }: Call): void {
  const { group, plural: resource } = served;
  const access = { kind: 'resource', verb: 'create', group, resource, subresource: '', namespace, name } as const;
  const { isAllowed, reason } = authorizer.decide(user, access);
  if (!isAllowed) throw accessForbidden(user, access, reason);
}

/** Nothing comes into a kind that is about to go. */
function refuseWhileTerminating({ store }: Backend, { served }: Call, object: ServedObject): void {
  if (!served.isCustom || store.get(DEFINITIONS, '', served.collection)?.isDeleting !== true) return;
  const why = 'create not allowed while custom resource definition is terminating';
  throw forbidden(served, object.metadata.name ?? '', why);
}

const OF_THE_SERVER = ['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink'];

/** What the server itself says of a new object. */
function prepare(backend: Backend, call: Call, object: ServedObject): void {
  const { metadata } = object;
  const timestamp = timestampOf(backend.clock.utc());
  for (const key of ['resourceVersion', ...OF_THE_SERVER]) delete metadata[key];
  metadata.creationTimestamp = timestamp;
  metadata.uid = randomUUID();
  const { name = '', generateName = '' } = metadata;
  if (name === '' && generateName !== '') metadata.name = generated(generateName);
  call.served.strategy.prepareForCreate(object, {
    timestamp,
    user: call.request.user,
    warn: (text) => void call.warnings.push(text),
    read: (collection, namespace, other) => {
      const revision = backend.store.get(collection, namespace, other);
      return revision === undefined ? undefined : parseRevision(revision);
    },
  });
  if (call.served.strategy.countsGenerations) metadata.generation = 1;
}

/** Without vowels and look-alikes: no words arise by chance. */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const MAX_PREFIX = 58;

function generated(prefix: string): string {
  let suffix = '';
  for (let count = 0; count < 5; count++) suffix += LETTERS[randomInt(LETTERS.length)];
  return `${prefix.slice(0, MAX_PREFIX)}${suffix}`;
}

/** About what is allocated for services, or about what decides on it. */
const OF_ALLOCATION = /^spec\.(clusterIP|ipFamil|type)/;

function refuseInvalid(backend: Backend, call: Call, object: ServedObject): void {
  const { served } = call;
  const { name = '' } = object.metadata;
  const own = served.strategy.validate(object);
  const causes = own.length > 0 ? own : validateMetadata(object.metadata, served.namespaced, pathSegment);
  // What cannot be had is told before everything else that is wrong.
  if (causes.length > 0 && !causes.some(({ field }) => OF_ALLOCATION.test(field))) {
    allocate(backend, call, deepCopy(object), undefined)();
  }
  if (causes.length > 0)
    throw invalid({ group: served.strategy.reportedGroup ?? served.group, kind: object.kind }, name, causes);
}
