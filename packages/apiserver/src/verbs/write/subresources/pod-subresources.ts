/** Subresources of pods that act on them: binding to a node, and eviction. */
import { isMapping, type Mapping } from '@kopf-ts/core';
import type { ApiAnswer } from '../../../contracts/request.js';
import { parseWriteOptions } from '../../../http/query-options.js';
import { readObject } from '../../../http/request-bodies.js';
import { badRequest, conflict, StatusError } from '../../../http/status-errors.js';
import { maybeMapping } from '../../../kinds/defaults/setting.js';
import { type Backend, type Call, jsonAnswer, timestampOf } from '../../../routing/backend.js';
import { parseRevision } from '../../../store/revision.js';
import { notSupported, required } from '../../../text/field-causes.js';
import { removeObject } from '../../delete/delete.js';
import { find } from '../../read/get.js';
import { change, wrongUid } from '../changing.js';
import { keepManagers } from '../field-managers.js';
import { checkType } from '../requested-object.js';
import { spendBudget } from './disruption-budgets.js';

const SUCCESS = JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });

export async function bindPod(backend: Backend, call: Call): Promise<ApiAnswer> {
  const binding = await readObject(call.request, 'Binding');
  const target = isMapping(binding.target) ? binding.target : {};
  const { name, labels, annotations, uid } = maybeMapping(binding, 'metadata') ?? {};
  if (name !== undefined && name !== call.name) throw badRequest('name in URL does not match name in Binding object');
  refuseTarget(target);
  const node = String(target.name);
  await change(backend, call, {
    options: parseWriteOptions(call.query, 'CreateOptions'),
    track: keepManagers,
    build(pod) {
      const { nodeName } = pod.spec as { nodeName?: string };
      if (nodeName !== undefined && nodeName !== '') {
        throw conflict(
          { group: '', plural: 'pods/binding' },
          call.name,
          `pod ${call.name} is already assigned to node "${nodeName}"`,
        );
      }
      if (isGiven(uid) && uid !== pod.metadata.uid) throw wrongUid(call, String(uid), String(pod.metadata.uid));
      pod.spec.nodeName = node;
      if (isMapping(labels)) pod.metadata.labels = { ...pod.metadata.labels, ...(labels as Texts) };
      if (isMapping(annotations)) pod.metadata.annotations = { ...pod.metadata.annotations, ...(annotations as Texts) };
      const scheduled = {
        type: 'PodScheduled',
        status: 'True',
        lastProbeTime: null,
        lastTransitionTime: timestampOf(backend.clock.utc()),
      };
      pod.status = { ...pod.status, conditions: [...(pod.status?.conditions ?? []), scheduled] };
      return pod;
    },
  });
  return jsonAnswer(201, SUCCESS);
}

type Texts = Record<string, string>;

const isGiven = (value: unknown): boolean => value !== undefined && value !== '';

/** As there: it is told as a failure of the server. */
function refuseTarget({ kind, name }: Mapping): void {
  const problems = [
    ...(isGiven(kind) && kind !== 'Node' ? [notSupported('target.kind', kind, ['Node', '<empty>'])] : []),
    ...(isGiven(name) ? [] : [required('target.name')]),
  ].map(({ field, message }) => `${field}: ${message}`);
  if (problems.length === 0) return;
  throw new StatusError(500, '', problems.length === 1 ? String(problems[0]) : `[${problems.join(', ')}]`);
}

/** Before it is deleted, a pod is told why; webhooks are asked about the deletion only. */
function tellOfEviction(backend: Backend, { served, namespace, name }: Call): void {
  const revision = backend.store.get(served.collection, namespace, name);
  if (revision === undefined || revision.isDeleting) return;
  const pod = parseRevision(revision);
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timestampOf(backend.clock.utc()),
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  };
  pod.status = { ...pod.status, conditions: [...(pod.status?.conditions ?? []), condition] };
  backend.store.put(served.collection, pod, revision);
}

const EVICTIONS = new Set(['policy/v1', 'policy/v1beta1']);

export async function evictPod(backend: Backend, call: Call): Promise<ApiAnswer> {
  const eviction = await readObject(call.request, 'Eviction');
  const { apiVersion, kind } = eviction;
  if (kind !== 'Eviction' || !EVICTIONS.has(String(apiVersion))) {
    const served = { ...call.served, group: 'policy', apiVersion: 'policy/v1', kind: 'Eviction' };
    checkType(backend, { ...call, served }, eviction);
  }
  if (maybeMapping(eviction, 'metadata')?.name !== call.name) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
  const given = isMapping(eviction.deleteOptions) ? eviction.deleteOptions : {};
  const { uid, resourceVersion } = maybeMapping(given, 'preconditions') ?? {};
  const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  const dryRun = call.query.has('dryRun') || (Array.isArray(given.dryRun) && given.dryRun.length > 0);
  const pod = parseRevision(find(backend, call));
  spendBudget(backend, call, pod, dryRun);
  if (!dryRun) tellOfEviction(backend, call);
  await removeObject(
    backend,
    { ...call, subresource: '' },
    {
      gracePeriodSeconds: typeof given.gracePeriodSeconds === 'number' ? given.gracePeriodSeconds : undefined,
      propagationPolicy: undefined,
      uid: textOf(uid),
      resourceVersion: textOf(resourceVersion),
      dryRun,
      orphanDependents: undefined,
      object: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', ...given },
    },
  );
  return jsonAnswer(201, SUCCESS);
}
