/** Sends patches to the handled objects: nothing else in the reactor writes to them. */
import type { Awaitable, Body, Clock, KubeClient, Logger, Patch, Resource, SentRequest, Settings } from '@kopf-ts/core';
import { ApiError, isMapping, KopfError } from '@kopf-ts/core';
import {
  type Address,
  childController,
  conflictPause,
  type EndTurn,
  type Facts,
  findByName,
  formatResource,
  NO_FACTS,
  type OwnWrite,
  type PatchOutcome,
  patchObject,
  setsConditions,
  type ToggleView,
  toError,
} from '@kopf-ts/core/engine';
import { tellerOfDropped, toldPatches } from '../observing/patch-facts.js';
import type { WriteGuards } from '../write-guards.js';

export interface ApplyOptions {
  readonly resource: Resource;
  /** The newest known state of the object. */
  readonly body: Body;
  readonly patch: Patch;
  readonly logger: Logger;
  readonly signal?: AbortSignal | undefined;
  /** Which endpoint is written last, if both are. */
  readonly last?: Address | undefined;
  /** A newer state, if one has arrived meanwhile; otherwise, the cluster is asked. */
  readonly newerThan?: ((body: Body) => Body | undefined) | undefined;
  /** Waits for its turn among our own changes of the object. */
  readonly turn?: (() => Awaitable<EndTurn>) | undefined;
  readonly onWrite?: ((write: OwnWrite) => void) | undefined;
  readonly onRequest?: ((request: SentRequest) => void) | undefined;
}

/** Sends the patch, or its sound parts. An empty patch is not sent. */
export type ApplyFn = (options: ApplyOptions) => Promise<PatchOutcome>;

/** Facts about kinds: which keys of their status the cluster silently drops. */
interface PruningKnowledge {
  prunes(resource: Resource, key: string): boolean;
}

export interface ApplierOptions {
  readonly client: KubeClient;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The field manager of the operator: the same as that of its verbs. */
  readonly fieldManager?: (() => string) | undefined;
  readonly random?: (() => number) | undefined;
  readonly writeGuards?: WriteGuards | undefined;
  readonly statusSchemas?: PruningKnowledge | undefined;
  /** On while another operator does the work. */
  readonly paused?: ToggleView | undefined;
  readonly facts?: Facts | undefined;
}

export function applier(options: ApplierOptions): ApplyFn {
  const { client, settings, clock, logger, writeGuards, statusSchemas, paused, random = Math.random } = options;
  const { facts = NO_FACTS, fieldManager } = options;
  const reported = new Set<string>();
  /** The kinds whose objects cannot be written at the moment. */
  const failing = new Set<string>();

  /** The cluster would not keep them, so that they would be sent again and again. */
  const dropDoomed = (resource: Resource, body: Body, patch: Patch): void => {
    const { fns, merge } = patch;
    if (statusSchemas === undefined) return;
    if (fns.some(setsConditions) && statusSchemas.prunes(resource, 'conditions')) {
      fns.splice(0, fns.length, ...fns.filter((fn) => !setsConditions(fn)));
      tellDoomed(resource, body, 'conditions');
    }
    const { status } = merge;
    if (!isMapping(status)) return;
    for (const key of Object.keys(status)) {
      if (!statusSchemas.prunes(resource, key)) continue;
      delete status[key];
      tellDoomed(resource, body, key);
    }
    if (Object.keys(status).length === 0) delete merge.status;
  };

  const tellDoomed = (resource: Resource, body: Body, key: string): void => {
    if (facts.wants['patch.dropped']) {
      tellerOfDropped(facts, { resource, body })(`status.${key}`, 'the schema of the kind does not permit it');
    }
    const what = `${formatResource(resource)} ${key}`;
    if (reported.has(what)) return;
    reported.add(what);
    logger.warn(
      `Results in status.${key} of ${formatResource(resource)} are not stored: the schema of the kind does not ` +
        'permit that field. Add the field to the CRD, or x-kubernetes-preserve-unknown-fields to its status; ' +
        'or stop returning and patching it in the handlers.',
    );
  };

  const tellFailure = (resource: Resource, error: unknown): void => {
    const isAboutOneObject = error instanceof ApiError && [404, 409, 413, 422].includes(error.status);
    if (isAboutOneObject || isBrokenOffByPause(error)) return;
    failing.add(formatResource(resource));
    if (facts.wants['writes.failed']) facts.tell({ kind: 'writes.failed', resource, error: toError(error) });
  };

  const tellRecovery = (resource: Resource): void => {
    if (!failing.delete(formatResource(resource))) return;
    if (facts.wants['writes.recovered']) facts.tell({ kind: 'writes.recovered', resource });
  };

  const apply: ApplyFn = async (options) => {
    const { resource, body, patch, logger: objectLogger, signal, last, newerThan, turn, onWrite, onRequest } = options;
    const { compat } = settings.persistence;
    if (compat === undefined) dropDoomed(resource, body, patch);
    const name = body.metadata?.name;
    if (patch.isEmpty || name === undefined) return {};
    const namespace = body.metadata?.namespace;
    const newest = async (known: Body): Promise<Body | undefined> =>
      newerThan?.(known) ?? (await findByName(client, resource, { namespace, name, known, signal }));
    // The first conflict is mostly with what is already known; after more of them, wait until the others are done.
    const pause = async (conflicts: number): Promise<void> => {
      if (conflicts > 1) await clock.sleep(conflictPause(conflicts, random()), signal === undefined ? {} : { signal });
    };
    const guards = writeGuards?.isGuarded ? guardsOf(writeGuards, paused, signal) : undefined;
    try {
      const outcome = await patchObject(client, resource, {
        namespace,
        name,
        patch,
        body,
        compat,
        fieldManager: fieldManager?.(),
        logger: objectLogger,
        signal: guards?.signal ?? signal,
        mayWrite: guards?.mayWrite,
        isAlwaysGuarded: guards !== undefined,
        last,
        newest,
        newerThan,
        turn,
        pause,
        onWrite,
        onRequest,
      });
      if (failing.size > 0 && outcome.resourceVersion !== undefined) tellRecovery(resource);
      // Not the same as having nothing to send: what was to be remembered is not.
      if (guards?.isForbidden()) throw pausedError();
      return outcome;
    } catch (error) {
      tellFailure(resource, error);
      throw error;
    } finally {
      guards?.end();
    }
  };
  return toldPatches(apply, facts, clock);
}

/**
 * Another operator can have taken over without our noticing it. Nothing of ours must be written after that: what is on its
 * way is broken off as soon as we know, and what is not is refused by the cluster as outdated.
 */
function guardsOf(writeGuards: WriteGuards, paused: ToggleView | undefined, signal: AbortSignal | undefined) {
  const sending = childController(signal);
  paused?.whenOn(sending.signal).then(
    () => sending.abort(pausedError()),
    () => {},
  );
  let isForbidden = false;
  return {
    signal: sending.signal,
    mayWrite: (): boolean => {
      isForbidden = !writeGuards.mayWrite();
      return !isForbidden;
    },
    isForbidden: () => isForbidden,
    end: () => sending.abort(),
  };
}

function pausedError(): KopfError {
  return new KopfError('Another operator may be at work now.', { code: 'KOPF_PAUSED' });
}

/** Whether a patch was not sent because the operator is paused: it is outdated, whenever the operator goes on. */
export function isBrokenOffByPause(error: unknown): boolean {
  return error instanceof KopfError && error.code === 'KOPF_PAUSED';
}
