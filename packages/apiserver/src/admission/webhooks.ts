/** Admission by webhooks, as an admission plugin of the server. */
import { type Clock, deepCopy, deepEqual, getOwn, type Mapping } from '@kopf-ts/core';
import type { AdmissionAttributes, AdmissionPlugin } from '../contracts/admission.js';
import type { ServedObject } from '../contracts/objects.js';
import type { Catalog, ResourceInfo } from '../contracts/resource.js';
import type { Collection, StoreReader } from '../contracts/store.js';
import { badRequest, internalError, StatusError } from '../http/status-errors.js';
import { goQuote } from '../text/go-text.js';
import { composeReview, type Decision, HookFailure, readDecision } from './admission-review.js';
import { HookCaller, type ServiceResolver } from './calling.js';
import { type Hook, parseHooks } from './hooks.js';
import { isExempt, matchHook } from './matching.js';
import { applyReviewPatch } from './patching.js';

export interface WebhookAdmissionOptions {
  readonly store: StoreReader;
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** Where services listen; without it, webhooks with services fail as for services that do not exist. */
  readonly resolveService?: ServiceResolver;
  /** Between versions of one kind; by default, only the API version is replaced. */
  readonly convert?: (object: ServedObject, from: ResourceInfo, to: ResourceInfo) => ServedObject;
}

export interface WebhookAdmission extends AdmissionPlugin {
  /** Closes the connections, and stops following the configurations. */
  close(): void;
}

const MUTATING: Collection = 'mutatingwebhookconfigurations.admissionregistration.k8s.io';
const VALIDATING: Collection = 'validatingwebhookconfigurations.admissionregistration.k8s.io';

/** Calls the webhooks of the configurations that are in the store. */
export function webhookAdmission(options: WebhookAdmissionOptions): WebhookAdmission {
  const { store, catalog } = options;
  const caller = new HookCaller(options.clock, options.resolveService ?? (() => undefined));
  const mutating = followHooks(store, MUTATING, caller);
  const validating = followHooks(store, VALIDATING, caller);
  const labelsOf = (namespace: string): Readonly<Record<string, string>> | undefined =>
    store.get('namespaces', '', namespace)?.labels;
  const match = (hook: Hook, attributes: AdmissionAttributes): ResourceInfo | undefined =>
    matchHook(hook, attributes, catalog, labelsOf);
  const ask = async (
    hook: Hook,
    attributes: AdmissionAttributes,
    resource: ResourceInfo,
    isMutating: boolean,
  ): Promise<Decision> => {
    if (attributes.dryRun && hook.hasSideEffects) {
      throw badRequest(`admission webhook ${goQuote(hook.name)} does not support dry run`);
    }
    const review = composeReview(hook, attributes, resource, (object) => seenBy(object, attributes, resource));
    const decision = readDecision(await caller.call(hook, review.body, attributes.signal), review, isMutating);
    for (const warning of decision.warnings) attributes.warn(warning);
    if (!decision.isAllowed) throw denial(hook.name, decision.status);
    return decision;
  };
  /** Objects of other kinds than the resource have no other versions. */
  const seenBy = (object: ServedObject, { kind, resource }: AdmissionAttributes, wanted: ResourceInfo): ServedObject =>
    kind === undefined ? convert(object, resource, wanted) : object;
  const convert = (object: ServedObject, from: ResourceInfo, to: ResourceInfo): ServedObject => {
    if (from === to) return object;
    if (options.convert !== undefined) return options.convert(object, from, to);
    return { ...object, apiVersion: to.group === '' ? to.version : `${to.group}/${to.version}` };
  };

  return {
    isInterested(attributes) {
      if (mutating.hooks.length === 0 && validating.hooks.length === 0) return false;
      if (isExempt(attributes)) return false;
      return [...mutating.hooks, ...validating.hooks].some((hook) => match(hook, attributes) !== undefined);
    },
    async mutate(attributes) {
      if (isExempt(attributes)) return attributes.object;
      let object = attributes.object;
      const isInvoked = new Set<string>();
      const isToBeReinvoked = new Set<string>();
      for (const round of [0, 1]) {
        for (const hook of mutating.hooks) {
          if (round === 1 && !isToBeReinvoked.has(hook.id)) continue;
          const current: AdmissionAttributes = { ...attributes, object };
          const resource = match(hook, current);
          if (resource === undefined) continue;
          const changed = await forgiving(hook, async () => {
            const { patch, patchType } = await ask(hook, current, resource, true);
            const shown = object === undefined ? undefined : seenBy(object, attributes, resource);
            const patched = applyReviewPatch(hook.name, shown, patch, patchType);
            return patched === undefined || attributes.kind !== undefined
              ? patched
              : convert(patched, resource, attributes.resource);
          });
          if (changed !== undefined && !deepEqual(changed, object)) {
            object = changed;
            for (const id of isInvoked) isToBeReinvoked.add(id);
            isInvoked.clear();
          }
          if (hook.isReinvocable) isInvoked.add(hook.id);
        }
      }
      return object;
    },
    async validate(attributes) {
      if (isExempt(attributes)) return;
      const calls = validating.hooks.flatMap((hook) => {
        const resource = match(hook, attributes);
        if (resource === undefined) return [];
        return [forgiving(hook, async () => void (await ask(hook, attributes, resource, false)))];
      });
      // All of them are asked and waited for, even if the first one refuses.
      const results = await Promise.allSettled(calls);
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    },
    close() {
      mutating.stop();
      validating.stop();
      caller.close();
    },
  };
}

/** The webhooks of all configurations of a kind, by the names of the configurations; always up to date. */
function followHooks(
  store: StoreReader,
  collection: Collection,
  caller: HookCaller,
): { readonly hooks: readonly Hook[]; stop(): void } {
  let hooks: readonly Hook[] | undefined;
  const stop = store.observe(collection, () => {
    hooks = undefined;
    caller.renew();
  });
  return {
    get hooks() {
      hooks ??= store.list(collection).flatMap(({ json }) => parseHooks(JSON.parse(json) as Mapping));
      return hooks;
    },
    stop,
  };
}

/** Applies the failure policy: what failed is either ignored or the end of the request. Refusals are never ignored. */
async function forgiving<T>(hook: Hook, action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof HookFailure)) throw error;
    if (hook.ignoresFailures) return undefined;
    throw internalError(`failed calling webhook ${goQuote(hook.name)}: ${error.message}`);
  }
}

/** The refusal with whatever the webhook tells about it. */
function denial(name: string, given: Mapping | undefined): StatusError {
  const status: Mapping = given === undefined ? {} : deepCopy(given);
  const [message, reason] = [String(getOwn(status, 'message') ?? ''), String(getOwn(status, 'reason') ?? '')];
  const deniedBy = `admission webhook ${goQuote(name)} denied the request`;
  const explanation = message || reason;
  const text = explanation === '' ? `${deniedBy} without explanation` : `${deniedBy}: ${explanation}`;
  const code = Number(getOwn(status, 'code') ?? 0);
  const details = getOwn(status, 'details');
  return new StatusError(Math.max(code, 400), reason, text, (details ?? undefined) as StatusError['status']['details']);
}
