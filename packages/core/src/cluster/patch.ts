/** Patching an object: in as few requests as it takes, and never a wrong object. */
import { ApiConflictError, ApiNotFoundError, ApiUnprocessableError, KopfError } from '../errors.js';
import type { KubeClient, KubeRequest } from '../seams/client.js';
import type { Logger } from '../seams/logger.js';
import type { AnyObject, Body } from '../values/body.js';
import { isEmptyMapping, isMapping, type Mapping } from '../values/json.js';
import { subtractExisting } from '../values/merge-patch.js';
import { Patch } from '../values/patch.js';
import { type Resource, resourceUrl } from '../values/resource.js';
import { inconsistenciesOf, versionToExpect } from './patch-checks.js';
import { combinePayloads, opsOfFns, splitStatus, splitStatusOps, withGuards, withTests } from './patch-payloads.js';
import { diffForLog, payloadForLog } from './redaction.js';

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
   * Whether to change only the state that we know, and no newer one: for operators that can be replaced without
   * noticing it. What comes too late remains, be it a merge-patch or functions.
   */
  readonly guardsVersion?: boolean | undefined;
}

export interface PatchOutcome {
  /** The object after the patch; absent if nothing was sent. It is the newest state there is: no need to wait for it. */
  readonly body?: AnyObject;
  /** What was in conflict with changes made by others: to be applied again to a newer state. Usually, functions only. */
  readonly remaining?: Patch;
  /** The version to expect in the watch-stream; absent if nothing was sent. */
  readonly resourceVersion?: string;
  /** There is no such object anymore, or there is another one under its name: nothing was changed in it. */
  readonly missing?: true;
}

/**
 * Applies the patch.
 *
 * 1. The merge-patch goes to the object, then to its status, if that has an address of its own.
 * 2. The functions are applied to the answer, and the changes go as JSON-patches, again to the object and its status.
 *
 * What is not needed, is not sent; so there can be from 0 to 4 requests. Where the merge-patch and the functions change
 * the same part, they go together in one request for the known version of the object, and apart only if that is
 * not the newest one.
 *
 * Functions in conflict with newer changes come back as `remaining`, and a vanished object as `missing`. All other
 * errors are thrown as they are.
 */
export async function patchObject(
  client: KubeClient,
  resource: Resource,
  options: PatchObjectOptions,
): Promise<PatchOutcome> {
  const { patch, logger, compat } = options;
  const body = options.body ?? patch.body;
  const session = patchSession(client, resource, options, body);
  const isExact = compat === 'kopf' || body === undefined;
  const merge = isExact ? patch.merge : subtractExisting(patch.merge, body);
  let remaining: Patch | undefined;
  let mergeIsSent = !isEmptyMapping(merge);
  try {
    const canGoTogether = !isExact && patch.fns.length > 0;
    if (!canGoTogether || !(await session.sendTogether(merge, body))) {
      const { latest } = session;
      await session.sendMerge(latest === undefined ? merge : subtractExisting(merge, latest));
      const isApplied = patch.fns.length === 0 || (await session.sendFns());
      if (!isApplied) remaining = new Patch({}, { fns: patch.fns });
    }
  } catch (error) {
    if (error instanceof GivingUp && error.why === 'not permitted') {
      logger?.debug('Patching was skipped: writing is not permitted at the moment.');
      mergeIsSent = false;
    } else if (error instanceof ApiNotFoundError) {
      logger?.debug('Patching was skipped: the object does not exist anymore.');
      return { missing: true };
    } else if (options.guardsVersion && error instanceof ApiConflictError && !isAboutUid(error)) {
      logger?.debug('Patching was postponed: the object was changed by others meanwhile.');
      remaining = new Patch(merge, { fns: patch.fns });
      mergeIsSent = false;
    } else if (error instanceof GivingUp || isAboutUid(error)) {
      logger?.debug('Patching was skipped: the object does not exist anymore. There is a new one of the same name.');
      return { missing: true };
    } else {
      throw error;
    }
  }
  const { latest } = session;
  if (latest !== undefined && mergeIsSent) warnOfInconsistencies(merge, latest, resource, logger);
  const resourceVersion = versionToExpect(latest);
  return {
    ...(latest === undefined ? {} : { body: latest }),
    ...(remaining === undefined ? {} : { remaining }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

/** A reason to give up in the middle; it never leaves this file. */
class GivingUp extends Error {
  readonly why: 'not permitted' | 'namesake';
  constructor(why: 'not permitted' | 'namesake') {
    super(why);
    this.why = why;
  }
}

/** How many times to try to write the status of an object that others change all the time. */
const MAX_STATUS_ATTEMPTS = 5;

interface PatchSession {
  /** The newest answer. */
  readonly latest: AnyObject | undefined;
  sendMerge(merge: Mapping): Promise<void>;
  /** False if the object has been changed by others meanwhile. */
  sendFns(): Promise<boolean>;
  /** False if the two cannot go together; maybe, a part of them is sent then. */
  sendTogether(merge: Mapping, body: Body): Promise<boolean>;
}

function patchSession(
  client: KubeClient,
  resource: Resource,
  options: PatchObjectOptions,
  body: Body | undefined,
): PatchSession {
  const { name, patch, logger, signal, compat } = options;
  const namespace = options.namespace ?? (resource.namespaced === false ? undefined : body?.metadata?.namespace);
  const uid = compat === 'kopf' ? undefined : body?.metadata?.uid;
  const statusIsSubresource = resource.subresources.has('status');
  let latest: AnyObject | undefined;
  const reference = (): Body => latest ?? body ?? {};
  const knownVersion = (): string | undefined => reference().metadata?.resourceVersion;
  const guardedVersion = (): string | undefined => (options.guardsVersion ? knownVersion() : undefined);

  const send = async (
    verb: 'Merge-patching' | 'JSON-patching',
    target: 'resource' | 'status',
    payload: object,
  ): Promise<void> => {
    if (options.mayWrite?.() === false) throw new GivingUp('not permitted');
    if (logger?.isEnabled?.('debug') ?? true) {
      logger?.debug(`${verb} the ${target} with: ${payloadForLog(resource, payload)}`);
    }
    const contentType = verb === 'JSON-patching' ? 'application/json-patch+json' : 'application/merge-patch+json';
    const subresource = target === 'status' ? 'status' : undefined;
    const request: KubeRequest = {
      method: 'PATCH',
      path: resourceUrl(resource, { namespace, name, subresource }),
      contentType,
      body: payload,
      ...(signal === undefined ? {} : { signal }),
      ...(options.mayWrite === undefined ? {} : { mayBegin: options.mayWrite }),
    };
    const response = await client.request<AnyObject>(request).catch((error: unknown) => {
      throw isForbidden(error) ? new GivingUp('not permitted') : error;
    });
    if (!isMapping(response) || isEmptyMapping(response)) return;
    if (uid !== undefined && response.metadata?.uid !== undefined && response.metadata.uid !== uid)
      throw new GivingUp('namesake');
    latest = response;
  };

  // The status of custom resources is written regardless of the uid in the patch, but only for the right version.
  // When that is outdated, an empty patch of the object tells the new one, or that it is not the same object.
  const mergeStatus = async (payload: Mapping): Promise<void> => {
    if (uid === undefined) {
      return await send('Merge-patching', 'status', withGuards(payload, { resourceVersion: guardedVersion() }));
    }
    for (let attempt = 1; ; attempt++) {
      try {
        return await send('Merge-patching', 'status', withGuards(payload, { uid, resourceVersion: knownVersion() }));
      } catch (error) {
        const isFinal = options.guardsVersion || attempt === MAX_STATUS_ATTEMPTS;
        if (!(error instanceof ApiConflictError) || isAboutUid(error) || isFinal) throw error;
      }
      await send('Merge-patching', 'resource', withGuards({}, { uid }));
    }
  };

  return {
    get latest() {
      return latest;
    },

    async sendMerge(merge) {
      const parts = splitStatus(merge, statusIsSubresource);
      const guards = { uid, resourceVersion: guardedVersion() };
      if (!isEmptyMapping(parts.object)) await send('Merge-patching', 'resource', withGuards(parts.object, guards));
      if (!isEmptyMapping(parts.status)) await mergeStatus(parts.status);
    },

    async sendFns() {
      const parts = splitStatusOps(opsOfFns(patch.fns, reference()), statusIsSubresource);
      const guards = () => ({ uid, resourceVersion: knownVersion() });
      try {
        if (parts.object.length > 0) await send('JSON-patching', 'resource', withTests(parts.object, guards()));
        if (parts.status.length > 0) await send('JSON-patching', 'status', withTests(parts.status, guards()));
        return true;
      } catch (error) {
        // A failed test of the version comes without a word of explanation; what is invalid, comes with the causes.
        const isConflict = error instanceof ApiUnprocessableError && (compat === 'kopf' || !hasCauses(error));
        if (!isConflict) throw error;
        const names = patch.fns.map((fn) => fn.name || 'a function').join(', ');
        logger?.debug(
          'Could not apply the patch in full due to conflicts with newer changes. ' +
            `Will try on the next cycle soon. Remaining: ${names}`,
        );
        return false;
      }
    },

    async sendTogether(merge, knownBody) {
      if (isEmptyMapping(merge) || uid === undefined || knownVersion() === undefined) return false;
      const combined = combinePayloads(merge, patch.fns, knownBody);
      if (combined === undefined) return false;
      const [ofMerge, ofFns, whole] = [merge, combined.ofFns, combined.whole].map((payload) =>
        splitStatus(payload, statusIsSubresource),
      ) as [Parts, Parts, Parts];
      const meetInObject = !isEmptyMapping(ofMerge.object) && !isEmptyMapping(ofFns.object);
      const meetInStatus = !isEmptyMapping(ofMerge.status) && !isEmptyMapping(ofFns.status);
      if (!meetInObject && !meetInStatus) return false;
      try {
        if (!isEmptyMapping(whole.object)) {
          const resourceVersion = isEmptyMapping(ofFns.object) ? guardedVersion() : knownVersion();
          await send('Merge-patching', 'resource', withGuards(whole.object, { uid, resourceVersion }));
        }
        if (!isEmptyMapping(whole.status)) {
          if (isEmptyMapping(ofFns.status)) await mergeStatus(whole.status);
          else
            await send('Merge-patching', 'status', withGuards(whole.status, { uid, resourceVersion: knownVersion() }));
        }
        return true;
      } catch (error) {
        if (!(error instanceof ApiConflictError) || isAboutUid(error) || options.guardsVersion) throw error;
        return false;
      }
    },
  };
}

type Parts = ReturnType<typeof splitStatus>;

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

function hasCauses(error: ApiUnprocessableError): boolean {
  return causesOf(error).length > 0;
}

function causesOf(error: ApiUnprocessableError): readonly unknown[] {
  const causes: unknown = error.details?.causes;
  return Array.isArray(causes) ? causes : [];
}

function warnOfInconsistencies(merge: Mapping, body: AnyObject, resource: Resource, logger: Logger | undefined): void {
  const inconsistencies = inconsistenciesOf(merge, body);
  if (inconsistencies.length === 0) return;
  logger?.warn(`Merge-patching finished with inconsistencies: ${diffForLog(resource, inconsistencies)}`);
}
