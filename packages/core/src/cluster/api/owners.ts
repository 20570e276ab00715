/**
 * Writes objects that have an owner: a component that tracks their state, as the reactor of an operator does.
 *
 * Each write targets a version whose body is known. So nobody else can have changed anything between that body and the
 * response, and the owner can tell our own changes from those of others. A write waits only for the server: a handler
 * may write its own object while it is being handled.
 */
import { ApiConflictError, ApplyConflictError, KopfError } from '../../errors.js';
import type { ApiFor } from '../../seams/api.js';
import type { Awaitable } from '../../seams/awaitable.js';
import type { EndTurn } from '../../sync/turns.js';
import { deepCopy, isMapping, type Mapping } from '../../values/json.js';
import type { AnyObject, Body } from '../../values/objects/body.js';
import { compareVersions } from '../../values/objects/versions.js';
import { Patch } from '../../values/patches/patch.js';
import type { Resource } from '../../values/resources/resource.js';
import type { OwnWrite } from '../patching/patch-object.js';
import type { VerbRequest } from './verb-requests.js';

/** The owner of one object. */
export interface ObjectOwner {
  readonly uid: string | undefined;
  /** The resource in the version that is handled. */
  readonly resource: Resource;
  /** Whether another operator may take over at any moment: if so, nothing is ever written without a version check. */
  readonly isAlwaysGuarded: boolean;
  /** Checked right before each request. */
  mayWrite(): boolean;
  /** The newest known state, if any. */
  newest(): Body | undefined;
  /** Waits until our other changes of the object are confirmed, so that they do not conflict. */
  takeTurn(): Awaitable<EndTurn>;
  /** Marks the start of a change; returns a function that reports its result. */
  beginWrite(): () => void;
  noteWrite(write: AskedWrite): void;
  /** The same for a new object of the same name, which is not known yet but will be. */
  passOn(write: AskedWrite): void;
}

/** A change by a verb. */
interface AskedWrite extends OwnWrite {
  /** The requested part of the change: the rest was made by the server. */
  readonly asked: Patch;
  /** The change or event handler that requested it, if any. */
  readonly by: Parameters<ApiFor>[0]['by'];
}

/** Finds the owner of an object; `undefined` if there is none. */
export type OwnerOf = (object: {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string;
}) => ObjectOwner | undefined;

/** Makes the requests of the verbs, with their titles and signals. */
export interface OwnedWriteMeans {
  send(request: VerbRequest, mayBegin?: () => boolean): Promise<AnyObject>;
  /** The current object in that version of its kind; `undefined` if it does not exist. */
  find(resource: Resource): Promise<AnyObject | undefined>;
  /** The pause before another try, after so many consecutive conflicts. */
  pause(conflicts: number): Promise<unknown>;
  /** The change or event handler that writes, if any. */
  readonly by: Parameters<ApiFor>[0]['by'];
  /** The current owner of the object of that name: it may be another object by now. */
  owner(): ObjectOwner | undefined;
}

/**
 * The number of conflicts after which a write that does not depend on the object's state is sent without a version
 * check.
 */
const GUARDED_TRIES = 5;
/**
 * The number of conflicts after which the write fails: others change the object faster than we can. With the pauses,
 * that is about a minute.
 */
const MAX_TRIES = 70;

/** Patches of any form: for the newest known version, and again for a newer one while that is outdated. */
export async function writeOwned(
  firstOwner: ObjectOwner,
  resource: Resource,
  request: VerbRequest,
  means: OwnedWriteMeans,
): Promise<AnyObject> {
  let owner = firstOwner;
  let outdated: Body | undefined;
  for (let conflicts = 0; ; ) {
    const tried = await tryOwned(owner, resource, request, means, { conflicts, outdated });
    if ('answer' in tried) return tried.answer;
    conflicts += 1;
    outdated = tried.outdated;
    await means.pause(conflicts);
    // Another object may have the name by now, and so another owner.
    owner = means.owner() ?? owner;
  }
}

interface Before {
  /** Consecutive conflicts. */
  readonly conflicts: number;
  /** The error of the latest conflict. */
  readonly outdated: Body | undefined;
}

async function tryOwned(
  owner: ObjectOwner,
  resource: Resource,
  request: VerbRequest,
  means: OwnedWriteMeans,
  { conflicts, outdated }: Before,
): Promise<{ readonly answer: AnyObject } | { readonly outdated: Body }> {
  const given = versionIn(request);
  const endTurn = await owner.takeTurn();
  const endWrite = owner.beginWrite();
  try {
    const newest = owner.newest();
    const isKnown = newest !== undefined && (outdated === undefined || isNewer(newest, outdated));
    // To know what it was before, if that is what the user means.
    const isMeant = given === undefined || versionOf(newest) === given;
    const known = isKnown && isMeant ? newest : await means.find(owner.resource);
    // If there is none, that is what the server will say.
    if (known === undefined) return { answer: await means.send(request, mayWrite(owner)) };
    const isGuarded = given === undefined && (owner.isAlwaysGuarded || conflicts < GUARDED_TRIES);
    try {
      const sent = isGuarded ? guarded(request, known) : given === undefined ? unguarded(request, known) : request;
      const answer = await means.send(sent, mayWrite(owner));
      if (isGuarded || given === versionOf(known)) await note(owner, resource, request, known, answer, means);
      return { answer };
    } catch (error) {
      const isOutdated = error instanceof ApiConflictError && !(error instanceof ApplyConflictError);
      if (!isGuarded || !isOutdated || conflicts + 1 >= MAX_TRIES) throw error;
      return { outdated: known };
    }
  } finally {
    endWrite();
    endTurn();
  }
}

/** A whole object, changed by a function: for the version that it was read in. */
export async function replaceOwned(
  owner: ObjectOwner,
  resource: Resource,
  request: VerbRequest & { readonly body: AnyObject },
  read: Body,
  means: OwnedWriteMeans,
): Promise<AnyObject> {
  const endWrite = owner.beginWrite();
  try {
    const answer = await means.send(request, mayWrite(owner));
    // In other versions of the kind, the object looks different from the handled one.
    const isKnown = versionIn(request) === versionOf(read) && resource.version === owner.resource.version;
    if (isKnown) await note(owner, resource, request, read, answer, means);
    return answer;
  } finally {
    endWrite();
  }
}

async function note(
  owner: ObjectOwner,
  resource: Resource,
  request: VerbRequest,
  before: Body,
  answer: AnyObject,
  means: OwnedWriteMeans,
): Promise<void> {
  const version = versionOf(answer);
  // Nothing has changed: it was already in that state.
  if (version === undefined || version === versionOf(before)) return;
  const isObject = request.subresource !== 'scale' && resource.version === owner.resource.version;
  // What does not look like the handled object says only of which version that is now.
  const after = isObject ? answer : await means.find(owner.resource).catch(() => undefined);
  if (after === undefined || versionOf(after) !== version) return;
  const isOf = (one: ObjectOwner | undefined): boolean => one !== undefined && one.uid === after.metadata?.uid;
  const write: AskedWrite = { before, after, asked: askedBy(request, after, isObject), by: means.by };
  // The object may have been created during the write.
  const now = isOf(owner) ? owner : means.owner();
  if (now !== undefined && isOf(now)) now.noteWrite(write);
  else owner.passOn(write);
}

/** The part of the change requested by the user. The rest was made by the server, whatever it does with every write. */
function askedBy({ body, contentType, subresource }: VerbRequest, after: Body, isObject: boolean): Patch {
  const isStatus = subresource === 'status';
  if (isObject && isMapping(body) && contentType !== undefined) {
    const { metadata, ...rest } = body as AnyObject;
    const { resourceVersion: _, ...meta } = isMapping(metadata) ? metadata : {};
    return new Patch(isStatus ? { status: rest['status'] } : { ...rest, metadata: meta });
  }
  // By operations, a whole object, or by other words: all that has come of it.
  const wanted = isMapping(body) && isObject ? (body as Mapping) : (after as Mapping);
  const takeOver = (object: AnyObject): void => {
    if (!isStatus) for (const key of Object.keys(object)) delete object[key];
    Object.assign(object, deepCopy(isStatus ? { status: wanted['status'] } : wanted));
  };
  return new Patch({}, { fns: [takeOver] });
}

function mayWrite(owner: ObjectOwner): () => boolean {
  if (owner.mayWrite()) return () => owner.mayWrite();
  throw new KopfError('Another operator may be at work now.', { code: 'KOPF_PAUSED' });
}

/** The same for that very version. A metadata that is none is for the server to refuse. */
function guarded(request: VerbRequest, known: Body): VerbRequest {
  const { body } = request;
  const resourceVersion = versionOf(known);
  if (resourceVersion === undefined) return request;
  if (Array.isArray(body)) {
    return { ...request, body: [...body, { op: 'replace', path: VERSION_POINTER, value: resourceVersion }] };
  }
  return withMetadata(request, { ...uidFor(request, known), resourceVersion });
}

/** The precondition on the identity of the object, as far as it is known: never write to a new one of the same name. */
function unguarded(request: VerbRequest, known: Body): VerbRequest {
  return Array.isArray(request.body) ? request : withMetadata(request, uidFor(request, known));
}

function uidFor({ contentType }: VerbRequest, { metadata }: Body): Mapping {
  const isMerge = contentType === 'application/merge-patch+json';
  return isMerge && metadata?.uid !== undefined ? { uid: metadata.uid } : {};
}

function withMetadata(request: VerbRequest, more: Mapping): VerbRequest {
  const { metadata = {}, ...rest } = request.body as AnyObject;
  // Preconditions set by the user come first.
  return isMapping(metadata) ? { ...request, body: { ...rest, metadata: { ...more, ...metadata } } } : request;
}

const VERSION_POINTER = '/metadata/resourceVersion';

/** The version required by the user, if any. */
function versionIn({ body }: VerbRequest): string | undefined {
  if (!Array.isArray(body)) return versionOf(body as AnyObject);
  const op: unknown = body.find((one: unknown) => isMapping(one) && one['path'] === VERSION_POINTER);
  return isMapping(op) ? String(op['value']) : undefined;
}

function versionOf(body: Body | undefined): string | undefined {
  return body?.metadata?.resourceVersion;
}

function isNewer(newest: Body, known: Body): boolean {
  return (compareVersions(versionOf(newest), versionOf(known)) ?? 0) > 0;
}
