/** Patching an object: one request for each of its addresses, for the very state that is known, and never a wrong object. */
import { ApiConflictError, type ApiError, ApiNotFoundError, ApiUnprocessableError, KopfError } from '../../errors.js';
import type { Awaitable } from '../../seams/awaitable.js';
import type { KubeClient, KubeRequest } from '../../seams/client.js';
import type { SentRequest } from '../../seams/inspection/observer.js';
import type { Logger } from '../../seams/logger.js';
import { isThenable } from '../../sync/awaiting.js';
import type { EndTurn } from '../../sync/turns.js';
import { isEmptyMapping, isMapping, type Mapping } from '../../values/json.js';
import { lostInJson } from '../../values/json-text.js';
import type { AnyObject, Body } from '../../values/objects/body.js';
import { finalizingOf } from '../../values/objects/finalizers.js';
import { subtractExisting } from '../../values/patches/merge-patch.js';
import { Patch } from '../../values/patches/patch.js';
import { type Resource, resourceUrl } from '../../values/resources/resource.js';
import { findByName } from '../find.js';
import { isDenied } from '../retryable.js';
import { inconsistenciesOf, versionToExpect } from './patch-checks.js';
import {
  type Address,
  haveEffect,
  isOfFinalizers,
  opsFor,
  overlaid,
  type Payload,
  payloadFor,
  splitStatus,
  splitStatusOps,
  withGuards,
  withTests,
  withTestsOfFinalizers,
} from './patch-payloads.js';
import { diffForLog, payloadForLog } from './payload-logging.js';

export interface PatchObjectOptions {
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly patch: Patch;
  /** The newest known state of the object; by default, the one that the patch was begun with. */
  readonly body?: Body | undefined;
  /** Sends exactly what Kopf would: all that is in the patch, with no word of whose object it is for. */
  readonly compat?: 'kopf' | undefined;
  /** Without it, patching is silent. */
  readonly logger?: Logger | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Asked before each request. If not, the rest of the patch is dropped: e.g. when another operator has taken over. */
  readonly mayWrite?: (() => boolean) | undefined;
  /**
   * Whether to never write for the uid alone, however many conflicts there are: for operators that can be replaced
   * without noticing it. By default, a merge-patch without functions goes through after three conflicts.
   */
  readonly isAlwaysGuarded?: boolean | undefined;
  /** As whom to be known in the managed fields. By default, and in the way of Kopf, it is up to the server. */
  readonly fieldManager?: string | undefined;
  /** Which address is written last, if both are. Default: the status. */
  readonly last?: Address | undefined;
  /**
   * The newest state of the object, when the known one is outdated; nothing if there is no such object. By default, it
   * is listed by its name: an account that watches objects may list them, but not necessarily get them.
   */
  readonly newest?: ((known: Body) => Awaitable<Body | undefined>) | undefined;
  /** Waits for its turn among those who change the same object; returns how to end it. By default, nobody else does. */
  readonly turn?: (() => Awaitable<EndTurn>) | undefined;
  /** What is known by now to be newer than that, if anything is: looked at when the turn has come. */
  readonly newerThan?: ((known: Body) => Body | undefined) | undefined;
  /** Waits before another try, after so many conflicts in a row. By default, it is tried at once. */
  readonly pause?: ((conflicts: number) => Promise<void>) | undefined;
  /** Told of each request that was applied, as soon as it is answered. */
  readonly onWrite?: ((write: OwnWrite) => void) | undefined;
  /** Told of each request, with what was sent. */
  readonly onRequest?: ((request: SentRequest) => void) | undefined;
}

/** A change of the object that is ours, and what the server has made of it: nobody else has changed anything between. */
export interface OwnWrite {
  readonly before: Body;
  readonly after: Body;
}

export interface PatchOutcome {
  /**
   * The object after the patch: it is the newest state there is, no need to wait for it. Absent if nothing was sent,
   * unless it was found to be newer than it was known, with all that is wanted there already.
   */
  readonly body?: AnyObject;
  /** In the way of Kopf: what was in conflict with changes made by others, to be applied again to a newer state. */
  readonly remaining?: Patch;
  /** The version to expect in the watch-stream; absent if nothing was sent. */
  readonly resourceVersion?: string;
  /** There is no such object anymore, or there is another one under its name: nothing was changed in it. */
  readonly missing?: true;
}

const CONFLICT = 'Could not apply the patch in full due to conflicts with newer changes.';

/** How many conflicts in a row a merge-patch of an object takes before it goes for the uid alone. */
const GUARDED_TRIES = 3;

/** How many conflicts in a row others take: these cannot go unguarded, but nobody should try for ever in one go. */
const MAX_TRIES = 10;

/** Others change the object faster than it can be patched. Nothing is wrong with the patch: try again, but not at once. */
export class OutpacedError extends ApiConflictError {
  constructor(latest: ApiError) {
    const { payload } = latest;
    // A failed test of the version in a JSON-patch comes as another error, which would tell of a wrong patch.
    super(
      latest instanceof ApiConflictError ? { status: 409, payload } : { status: 409, payload: CONFLICT, cause: latest },
    );
  }
}

/**
 * Applies the patch: the merge-patch, and then the functions to what it makes of the object.
 *
 * Each address of the object (its own, and that of its status where that is a subresource) gets one request, with all
 * that is to be changed there; an address with nothing to change gets none. Every request is for the version of the
 * known state. If that is outdated, the newest one is taken, and what to change is decided anew.
 *
 * A vanished object comes back as `missing`. If others change the object again and again, so that it cannot be patched,
 * an `OutpacedError` is thrown; all other errors are thrown as they are.
 */
export async function patchObject(
  client: KubeClient,
  resource: Resource,
  options: PatchObjectOptions,
): Promise<PatchOutcome> {
  const { patch, logger, compat } = options;
  const body = options.body ?? patch.body;
  refuseLosses(patch.merge);
  const session = new PatchSession(client, resource, options, body);
  try {
    // What is not known cannot be compared with, nor guarded.
    if (compat === 'kopf' || body === undefined) return session.outcome(await session.sendAsKopf());
    await session.sendAll(patch);
    session.warnOfInconsistencies(body);
    // Functions that had nothing to do at first may have something to do with what the server has added.
    if (session.isChanged && !haveEffect(patch, body)) await session.sendAll(new Patch({}, { fns: patch.fns }));
    return session.outcome();
  } catch (error) {
    if (error instanceof GivingUp && error.why === 'not permitted') {
      logger?.debug('Patching was skipped: writing is not permitted at the moment.');
      return session.outcome();
    }
    if (error instanceof GivingUp && error.why === 'missing') {
      logger?.debug('Patching was skipped: the object does not exist anymore.');
      return { missing: true };
    }
    if (error instanceof GivingUp || isAboutUid(error)) {
      logger?.debug('Patching was skipped: the object does not exist anymore. There is a new one of the same name.');
      return { missing: true };
    }
    throw error;
  }
}

type WhyGivenUp = 'not permitted' | 'missing' | 'namesake';

/** A reason to give up in the middle; it never leaves this file. */
class GivingUp extends Error {
  readonly why: WhyGivenUp;
  constructor(why: WhyGivenUp) {
    super(why);
    this.why = why;
  }
}

class PatchSession {
  readonly #client: KubeClient;
  readonly #resource: Resource;
  readonly #options: PatchObjectOptions;
  readonly #namespace: string | undefined;
  readonly #uid: string | undefined;
  readonly #statusIsSubresource: boolean;
  /** The newest state that we know. */
  #known: Body | undefined;
  #answer: AnyObject | undefined;
  /** What the object turned out to be, when it was not as it was known. */
  #found: AnyObject | undefined;

  constructor(client: KubeClient, resource: Resource, options: PatchObjectOptions, body: Body | undefined) {
    this.#client = client;
    this.#resource = resource;
    this.#options = options;
    this.#known = body;
    this.#namespace = options.namespace ?? (resource.namespaced === false ? undefined : body?.metadata?.namespace);
    this.#uid = options.compat === 'kopf' ? undefined : body?.metadata?.uid;
    this.#statusIsSubresource = resource.subresources.has('status');
  }

  outcome(remaining?: Patch): PatchOutcome {
    const resourceVersion = versionToExpect(this.#answer);
    const newest = this.#answer ?? this.#found;
    return {
      ...(newest === undefined ? {} : { body: newest }),
      ...(remaining === undefined ? {} : { remaining }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
  }

  /** Whether anything was sent so far. */
  get isChanged(): boolean {
    return this.#answer !== undefined;
  }

  /** First the merge-patch, then the functions by JSON-patches. What functions are in conflict with, is left for later. */
  async sendAsKopf(): Promise<Patch | undefined> {
    const { patch, logger, isAlwaysGuarded } = this.#options;
    const parts = splitStatus(patch.merge, this.#statusIsSubresource);
    for (const address of ['object', 'status'] as const) {
      if (isEmptyMapping(parts[address])) continue;
      const resourceVersion = isAlwaysGuarded ? versionIn(this.#known) : undefined;
      await this.#request(address, { type: 'merge', merge: withGuards(parts[address], { resourceVersion }) });
    }
    if (!isEmptyMapping(patch.merge)) this.#warnOf(patch.merge);
    if (patch.fns.length === 0) return undefined;
    const ops = splitStatusOps(opsFor(new Patch({}, { fns: patch.fns }), this.#known ?? {}), this.#statusIsSubresource);
    try {
      for (const address of ['object', 'status'] as const) {
        if (ops[address].length === 0) continue;
        const tests = withTests(ops[address], { resourceVersion: versionIn(this.#known), uid: this.#uid });
        await this.#request(address, { type: 'json', ops: tests });
      }
      return undefined;
    } catch (error) {
      if (!(error instanceof ApiUnprocessableError)) throw error;
      logger?.debug(`${CONFLICT} Will try on the next cycle soon. Remaining: ${namesOf(patch)}`);
      return new Patch({}, { fns: patch.fns });
    }
  }

  get #addresses(): readonly Address[] {
    if (!this.#statusIsSubresource) return OBJECT_ONLY;
    return this.#options.last === 'object' ? OBJECT_LAST : STATUS_LAST;
  }

  /**
   * One request for each address that needs one. If others change the object meanwhile, all that is not sent yet is
   * decided anew: what was there already may be gone, and must be there before the last request.
   */
  async sendAll(patch: Patch): Promise<void> {
    const { pause, turn } = this.#options;
    const progress: Progress = { sent: new Set(), conflicts: 0 };
    for (;;) {
      const taking = turn?.();
      const endTurn = isThenable(taking) ? await this.#waited(taking) : taking;
      try {
        // In one turn for all of them: whoever else wants to change the object would only get in between.
        let step = await this.#sendNext(patch, progress);
        while (step === 'sent') step = await this.#sendNext(patch, progress);
        if (step === 'done') return;
      } finally {
        endTurn?.();
      }
      await pause?.(progress.conflicts);
    }
  }

  /** Those before us have changed the object. */
  async #waited(taking: PromiseLike<EndTurn>): Promise<EndTurn> {
    const endTurn = await taking;
    const known = this.#known as Body;
    this.#known = this.#options.newerThan?.(known) ?? known;
    return endTurn;
  }

  async #sendNext(patch: Patch, progress: Progress): Promise<'done' | 'sent' | 'conflict'> {
    const { logger } = this.#options;
    const { sent, conflicts } = progress;
    const known = this.#known as Body;
    const next = this.#nextRequest(patch, known, this.#addresses, sent);
    if (next === undefined) return 'done';
    const { address, payload, isRestLater } = conflicts < GUARDED_TRIES ? next : this.#persistent(next, patch, known);
    try {
      const isGuarded = this.#isGuarded(address, payload, conflicts);
      const answer = await this.#request(address, this.#guarded(payload, known, isGuarded));
      if (answer !== undefined) this.#tell(known, answer, isGuarded ? undefined : payload);
      if (isRestLater) return 'sent';
      sent.add(address);
      progress.conflicts = 0;
      return 'sent';
    } catch (error) {
      const newest = await this.#newestAfter(error, payload, known);
      progress.conflicts += 1;
      // Nothing is wrong with the patch; but the caller may have other things to do.
      if (progress.conflicts >= MAX_TRIES) throw isNewer(newest, known) ? new OutpacedError(error as ApiError) : error;
      if (progress.conflicts === 1 && patch.fns.length > 0)
        logger?.debug(`${CONFLICT} Trying again: ${namesOf(patch)}`);
      this.#known = newest;
      this.#found = newest as AnyObject;
      return 'conflict';
    }
  }

  #nextRequest(
    patch: Patch,
    known: Body,
    addresses: readonly Address[],
    sent: ReadonlySet<Address>,
  ): NextRequest | undefined {
    for (const address of addresses) {
      const payload = sent.has(address) ? undefined : payloadFor(patch, known, address, this.#statusIsSubresource);
      if (payload !== undefined) return { address, payload };
    }
    return undefined;
  }

  /**
   * Others change the object all the time, and still our finalizer must get there before the object is gone: so what the
   * finalizer is sent with goes by itself and first. A finalizer is never taken off before all the rest is stored, though.
   */
  #persistent(next: NextRequest, patch: Patch, known: Body): NextRequest {
    const { address, payload } = next;
    const isBlocking = patch.fns.length > 0 && patch.fns.every((fn) => finalizingOf(fn) === 'block');
    if (!isBlocking || address !== 'object' || isOfFinalizers(payload)) return next;
    const rest = payloadFor(new Patch(patch.merge), known, address, this.#statusIsSubresource);
    return rest === undefined ? next : { address, payload: rest, isRestLater: true };
  }

  #guarded(payload: Payload, known: Body, isGuarded: boolean): Payload {
    if (!isGuarded && this.#uid !== undefined && isOfFinalizers(payload)) {
      return { type: 'json', ops: withTestsOfFinalizers(payload.ops, this.#uid, known) };
    }
    return guarded(payload, { uid: this.#uid, resourceVersion: isGuarded ? versionIn(known) : undefined });
  }

  #isGuarded(address: Address, payload: Payload, conflicts: number): boolean {
    // The uid is not checked in the status of custom resources; and lists are not to be changed blindly: neither by
    // JSON-patches nor by what functions have made of the known state, as finalizers of others would be lost. Of our
    // own finalizer, it is known what it depends on.
    const isOurs = this.#options.patch.fns.every((fn) => finalizingOf(fn) !== undefined);
    const isBlind = payload.type === 'merge' ? !payload.isOfFunctions : isOurs && isOfFinalizers(payload);
    const mayGoUnguarded = isBlind && address === 'object' && this.#uid !== undefined;
    return Boolean(this.#options.isAlwaysGuarded) || !mayGoUnguarded || conflicts < GUARDED_TRIES;
  }

  /** What the object is by now, if the error is because of that; otherwise, throws it. */
  async #newestAfter(error: unknown, payload: Payload, known: Body): Promise<Body> {
    const isConflict = error instanceof ApiConflictError && !isAboutUid(error);
    // A failed test of the version comes without a word of explanation.
    const isSuspected = payload.type === 'json' && error instanceof ApiUnprocessableError && !isExplained(error);
    const isGone = error instanceof ApiNotFoundError;
    if (!isConflict && !isSuspected && !isGone) throw error;
    const newest = await (isGone ? this.#find(known) : this.#newest(known));
    if (newest === undefined) throw new GivingUp('missing');
    if (this.#uid !== undefined && newest.metadata?.uid !== this.#uid) throw new GivingUp('namesake');
    const hasChanged = isNewer(newest, known);
    // It is there, whatever one of the servers says; or nobody has changed it, so that something else is wrong.
    if (isGone || (isSuspected && !hasChanged)) throw error;
    return newest;
  }

  async #newest(known: Body): Promise<Body | undefined> {
    const { newest } = this.#options;
    return newest === undefined ? await this.#find(known) : await newest(known);
  }

  #find(known: Body): Promise<Body | undefined> {
    const { name, signal } = this.#options;
    return findByName(this.#client, this.#resource, { namespace: this.#namespace, name, known, signal });
  }

  #tell(before: Body, answer: AnyObject, unguarded: Payload | undefined): void {
    // Without the guard, others may have changed it, too: only what we have written is surely ours. So it is taken for
    // being as it is now but for that; of which version it was then is not known.
    const merge = unguarded?.type === 'json' ? OF_FINALIZERS : unguarded?.merge;
    const known = merge === undefined ? before : withoutVersion(overlaid(answer, before, merge));
    this.#options.onWrite?.({ before: known, after: answer });
  }

  async #request(address: Address, payload: Payload): Promise<AnyObject | undefined> {
    const { name, logger, signal, mayWrite } = this.#options;
    if (mayWrite?.() === false) throw new GivingUp('not permitted');
    refuseLossesOfFunctions(payload);
    const [verb, content, contentType] =
      payload.type === 'json'
        ? (['JSON-patching', payload.ops, 'application/json-patch+json'] as const)
        : (['Merge-patching', payload.merge, 'application/merge-patch+json'] as const);
    if (logger?.isEnabled?.('debug') ?? true) {
      const target = address === 'status' ? 'status' : 'resource';
      logger?.debug(`${verb} the ${target} with: ${payloadForLog(this.#resource, content)}`);
    }
    const subresource = address === 'status' ? 'status' : undefined;
    const { fieldManager, compat } = this.#options;
    const query = compat === 'kopf' || fieldManager === undefined ? undefined : { fieldManager };
    const path = resourceUrl(this.#resource, { namespace: this.#namespace, name, subresource, query });
    const request: KubeRequest = { method: 'PATCH', path, contentType, body: content, signal, mayBegin: mayWrite };
    let response: AnyObject;
    try {
      response = await this.#client.request<AnyObject>(request);
    } catch (error) {
      if (isForbidden(error)) throw new GivingUp('not permitted');
      throw error instanceof ApiNotFoundError && this.#uid === undefined ? new GivingUp('missing') : error;
    }
    const { onRequest } = this.#options;
    onRequest?.({ address, type: payload.type, content, version: response?.metadata?.resourceVersion });
    if (!isMapping(response) || isEmptyMapping(response)) return undefined;
    const uid = response.metadata?.uid;
    if (this.#uid !== undefined && uid !== undefined && uid !== this.#uid) throw new GivingUp('namesake');
    this.#answer = response;
    this.#known = response;
    return response;
  }

  /** Where the object is not as it was asked for, though the server has accepted it. */
  warnOfInconsistencies(before: Body): void {
    const { merge } = this.#options.patch;
    // Mostly there are none. Otherwise, only what was changed counts.
    if (this.#answer === undefined || inconsistenciesOf(merge, this.#answer).length === 0) return;
    this.#warnOf(subtractExisting(merge, before));
  }

  #warnOf(merge: Mapping): void {
    if (this.#answer === undefined) return;
    const inconsistencies = inconsistenciesOf(merge, this.#answer);
    if (inconsistencies.length === 0) return;
    const text = diffForLog(this.#resource, inconsistencies);
    this.#options.logger?.warn(`Merge-patching finished with inconsistencies: ${text}`);
  }
}

/** What was asked for by values is checked before anything is sent. */
function refuseLossesOfFunctions(payload: Payload): void {
  if (payload.type === 'json') refuseLosses(payload.ops.map(({ path, ...op }) => ({ [path]: op })));
  else if (payload.isOfFunctions) refuseLosses(payload.merge);
}

function refuseLosses(content: unknown): void {
  const lost = lostInJson(content);
  if (lost !== undefined) throw new TypeError(`It cannot be sent as JSON: ${lost}`);
}

const OF_FINALIZERS: Mapping = { metadata: { finalizers: [] } };

interface NextRequest {
  readonly address: Address;
  readonly payload: Payload;
  /** There will be more for this address. */
  readonly isRestLater?: boolean;
}

/** How far the sending of a patch has come. */
interface Progress {
  readonly sent: Set<Address>;
  /** In a row. */
  conflicts: number;
}

const OBJECT_ONLY: readonly Address[] = ['object'];
const OBJECT_LAST: readonly Address[] = ['status', 'object'];
const STATUS_LAST: readonly Address[] = ['object', 'status'];

function namesOf({ fns }: Patch): string {
  return fns.map((fn) => fn.name || 'a function').join(', ');
}

function guarded(payload: Payload, guards: Parameters<typeof withGuards>[1]): Payload {
  return payload.type === 'json'
    ? { type: 'json', ops: withTests(payload.ops, guards) }
    : { ...payload, merge: withGuards(payload.merge, guards) };
}

function withoutVersion(body: AnyObject): AnyObject {
  const { resourceVersion: _, ...metadata } = body.metadata ?? {};
  return { ...body, metadata };
}

function versionIn(body: Body | undefined): string | undefined {
  return body?.metadata?.resourceVersion;
}

/** Whether others have changed it. */
function isNewer(newest: Body, known: Body): boolean {
  return versionIn(newest) !== versionIn(known);
}

/** By ourselves, while it was waiting to be sent. */
function isForbidden(error: unknown): boolean {
  return error instanceof KopfError && error.code === 'KOPF_REQUEST_FORBIDDEN';
}

/** The server refuses to change the uid of an object: so, it is not our object. */
function isAboutUid(error: unknown): boolean {
  if (error instanceof ApiConflictError) return error.message.includes('UID in precondition');
  if (!(error instanceof ApiUnprocessableError)) return false;
  return causesOf(error).some((cause) => isMapping(cause) && cause.field === 'metadata.uid');
}

/** Whether it says what is wrong with the patch. */
function isExplained(error: ApiUnprocessableError): boolean {
  return causesOf(error).length > 0 || isDenied(error);
}

function causesOf(error: ApiUnprocessableError): readonly unknown[] {
  const causes: unknown = error.details?.causes;
  return Array.isArray(causes) ? causes : [];
}
