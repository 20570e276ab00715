/** What budgets say of the eviction of a pod, and what they note of it. */
import { isMapping, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../../contracts/objects.js';
import type { Revision } from '../../../contracts/store.js';
import { StatusError } from '../../../http/status-errors.js';
import { itemsOf, maybeMapping } from '../../../kinds/defaults/setting.js';
import type { Served } from '../../../kinds/served.js';
import { type Backend, type Call, timestampOf } from '../../../routing/backend.js';
import { parseSelectorObject } from '../../../selectors/label-selector-objects.js';
import { parseRevision } from '../../../store/revision.js';
import { trackOwnManager } from '../field-managers.js';

const BUDGETS = 'poddisruptionbudgets.policy';
const RETRY_SECONDS = 10;

/** Throws if a budget does not allow the eviction; otherwise the eviction is counted, unless it is only tried. */
export function spendBudget(backend: Backend, call: Call, pod: ServedObject, dryRun: boolean): void {
  if (isOutOfService(pod)) return;
  const found = backend.store.list(BUDGETS, call.namespace).filter((one) => covers(one, pod));
  const [revision] = found;
  if (revision === undefined) return;
  if (found.length > 1) {
    const why = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    throw new StatusError(500, '', why);
  }
  const budget = parseRevision(revision);
  if (isFreeToGo(pod, budget)) return;
  refuseBeyond(budget);
  if (!dryRun) spend(backend, revision, pod);
}

/** Nobody relies on it any more, or yet. */
function isOutOfService({ metadata, status }: ServedObject): boolean {
  const { phase } = isMapping(status) ? status : {};
  const isDeleting = metadata.deletionTimestamp !== undefined;
  return isDeleting || phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending';
}

function covers(revision: Revision, pod: ServedObject): boolean {
  const selector = maybeMapping(maybeMapping(parseRevision(revision), 'spec'), 'selector');
  if (selector === undefined) return false;
  return parseSelectorObject(selector)?.(pod.metadata.labels) ?? true;
}

/** A pod that is not ready counts for nothing, if the budget is kept without it or does not care. */
function isFreeToGo(pod: ServedObject, budget: ServedObject): boolean {
  const isReady = itemsOf(pod.status, 'conditions').some(({ type, status }) => type === 'Ready' && status === 'True');
  if (isReady) return false;
  if (maybeMapping(budget, 'spec')?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = (budget.status ?? {}) as Record<string, number>;
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}

function refuseBeyond({ metadata, status }: ServedObject): void {
  const {
    observedGeneration = 0,
    disruptionsAllowed = 0,
    currentHealthy = 0,
    desiredHealthy = 0,
  } = (status ?? {}) as Record<string, number>;
  const budget = `The disruption budget ${metadata.name}`;
  if (observedGeneration < (metadata.generation ?? 0)) {
    throw tooMany(`${budget} is still being processed by the server.`, RETRY_SECONDS);
  }
  if (disruptionsAllowed > 0) return;
  throw tooMany(
    currentHealthy > desiredHealthy
      ? `${budget} does not allow evicting pods currently`
      : `${budget} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
  );
}

function tooMany(message: string, seconds?: number): StatusError {
  // biome-ignore lint/suspicious/noExplicitAny: this one has no field
  const causes = [{ reason: 'DisruptionBudget', message } as any];
  const details = { causes, ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }) };
  const headers: Record<string, string> = seconds === undefined ? {} : { 'retry-after': String(seconds) };
  const text = "Cannot evict pod as it would violate the pod's disruption budget.";
  return new StatusError(429, 'TooManyRequests', text, details, headers);
}

/** Until whoever watches over the budget sees the pod go, it is noted as going. */
function spend(backend: Backend, revision: Revision, pod: ServedObject): void {
  const served = backend.catalog.find('policy', 'v1', 'poddisruptionbudgets') as Served;
  const [live, object] = [parseRevision(revision), parseRevision(revision)];
  const now = timestampOf(backend.clock.utc());
  const status = (object.status ?? {}) as Mapping;
  const allowed = Number(status.disruptionsAllowed ?? 0) - 1;
  object.status = {
    ...status,
    disruptionsAllowed: allowed,
    disruptedPods: { ...maybeMapping(status, 'disruptedPods'), [String(pod.metadata.name)]: now },
    ...(allowed === 0 ? { conditions: withCondition(status, now) } : {}),
  };
  trackOwnManager(backend, { served, subresource: 'status' }, { object, live });
  backend.store.put(BUDGETS, object, revision);
}

function withCondition(status: Mapping, now: string): readonly Mapping[] {
  const others = itemsOf(status, 'conditions');
  const known = others.find(({ type }) => type === 'DisruptionAllowed');
  const condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    ...(status.observedGeneration === undefined ? {} : { observedGeneration: status.observedGeneration }),
    lastTransitionTime: known?.status === 'False' ? known.lastTransitionTime : now,
    reason: 'InsufficientPods',
    message: '',
  };
  return [...others.filter((one) => one !== known), condition];
}
