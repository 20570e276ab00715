/** Subresources of pods that act on them: binding to a node, and eviction. */
import { isMapping } from '@kopf-ts/core';
import type { ApiAnswer } from '../../contracts/request.js';
import { parseWriteOptions } from '../../http/query-options.js';
import { readObject } from '../../http/request-bodies.js';
import { badRequest, conflict } from '../../http/status-errors.js';
import { type Backend, type Call, jsonAnswer, timestampOf } from '../../routing/backend.js';
import { removeObject } from '../delete/delete.js';
import { change } from './changing.js';

const SUCCESS = JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });

export async function bindPod(backend: Backend, call: Call): Promise<ApiAnswer> {
  const binding = await readObject(call.request, 'Binding');
  const node = isMapping(binding.target) ? binding.target.name : undefined;
  if (typeof node !== 'string' || node === '') throw badRequest('the target of the binding is missing');
  await change(backend, call, {
    options: parseWriteOptions(call.query, 'CreateOptions'),
    build(pod) {
      const { nodeName } = pod.spec as { nodeName?: string };
      if (nodeName !== undefined && nodeName !== '') {
        throw conflict(
          { group: '', plural: 'pods/binding' },
          call.name,
          `pod ${call.name} is already assigned to node "${nodeName}"`,
        );
      }
      pod.spec.nodeName = node;
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

export async function evictPod(backend: Backend, call: Call): Promise<ApiAnswer> {
  const eviction = await readObject(call.request, 'Eviction');
  const given = isMapping(eviction.deleteOptions) ? eviction.deleteOptions : {};
  await removeObject(
    backend,
    { ...call, subresource: '' },
    {
      gracePeriodSeconds: typeof given.gracePeriodSeconds === 'number' ? given.gracePeriodSeconds : undefined,
      propagationPolicy: undefined,
      uid: undefined,
      resourceVersion: undefined,
      dryRun: call.query.has('dryRun'),
      orphanDependents: undefined,
      object: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', ...given },
    },
  );
  return jsonAnswer(201, SUCCESS);
}
