/** What is set in workloads where nothing else is said. */
import type { Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { defaultPodTemplate } from './pod-defaults.js';
import { itemsOf, mappingAt, maybeMapping, setDefault } from './setting.js';

export function defaultDeployment(object: ServedObject): void {
  const spec = mappingAt(object, 'spec');
  defaultPodTemplate(spec);
  setDefault(spec, 'replicas', 1);
  const strategy = mappingAt(spec, 'strategy');
  if (setDefault(strategy, 'type', 'RollingUpdate') === 'RollingUpdate') {
    const rolling = mappingAt(strategy, 'rollingUpdate');
    setDefault(rolling, 'maxUnavailable', '25%');
    setDefault(rolling, 'maxSurge', '25%');
  }
  setDefault(spec, 'revisionHistoryLimit', 10);
  setDefault(spec, 'progressDeadlineSeconds', 600);
}

export function defaultReplicaSet(object: ServedObject): void {
  const spec = mappingAt(object, 'spec');
  defaultPodTemplate(spec);
  setDefault(spec, 'replicas', 1);
}

export function defaultReplicationController(object: ServedObject): void {
  const spec = mappingAt(object, 'spec');
  defaultPodTemplate(spec);
  setDefault(spec, 'replicas', 1);
  const labels = maybeMapping(maybeMapping(maybeMapping(spec, 'template'), 'metadata'), 'labels');
  if (labels === undefined) return;
  setDefault(spec, 'selector', { ...labels });
  setDefault(object.metadata, 'labels', { ...labels });
}

export function defaultDaemonSet(object: ServedObject): void {
  const spec = mappingAt(object, 'spec');
  defaultPodTemplate(spec);
  const strategy = mappingAt(spec, 'updateStrategy');
  if (setDefault(strategy, 'type', 'RollingUpdate') === 'RollingUpdate') {
    const rolling = mappingAt(strategy, 'rollingUpdate');
    setDefault(rolling, 'maxUnavailable', 1);
    setDefault(rolling, 'maxSurge', 0);
  }
  setDefault(spec, 'revisionHistoryLimit', 10);
  // As it is counted within the server, nobody can write a set without it.
  setDefault(mappingAt(object.metadata, 'annotations'), 'deprecated.daemonset.template.generation', '0');
}

export function defaultStatefulSet(object: ServedObject): void {
  const spec = mappingAt(object, 'spec');
  defaultPodTemplate(spec);
  setDefault(spec, 'podManagementPolicy', 'OrderedReady');
  const strategy = mappingAt(spec, 'updateStrategy');
  if (strategy.type === undefined) {
    strategy.type = 'RollingUpdate';
    mappingAt(strategy, 'rollingUpdate');
  }
  const rolling = maybeMapping(strategy, 'rollingUpdate');
  if (strategy.type === 'RollingUpdate' && rolling !== undefined) {
    setDefault(rolling, 'partition', 0);
  }
  const retention = mappingAt(spec, 'persistentVolumeClaimRetentionPolicy');
  setDefault(retention, 'whenDeleted', 'Retain');
  setDefault(retention, 'whenScaled', 'Retain');
  setDefault(spec, 'replicas', 1);
  setDefault(spec, 'revisionHistoryLimit', 10);
  for (const claim of itemsOf(spec, 'volumeClaimTemplates')) {
    setDefault(claim, 'apiVersion', 'v1');
    setDefault(claim, 'kind', 'PersistentVolumeClaim');
    setDefault(mappingAt(claim, 'spec'), 'volumeMode', 'Filesystem');
    setDefault(mappingAt(claim, 'status'), 'phase', 'Pending');
  }
}

function defaultJobSpec(spec: Mapping): void {
  defaultPodTemplate(spec);
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  setDefault(spec, 'parallelism', 1);
  setDefault(spec, 'backoffLimit', spec.backoffLimitPerIndex === undefined ? 6 : 2 ** 31 - 1);
  setDefault(spec, 'completionMode', 'NonIndexed');
  setDefault(spec, 'suspend', false);
  setDefault(spec, 'podReplacementPolicy', spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed');
  setDefault(spec, 'manualSelector', false);
}

export function defaultJob(object: ServedObject): void {
  const spec = mappingAt(object, 'spec');
  defaultJobSpec(spec);
  const labels = maybeMapping(maybeMapping(maybeMapping(spec, 'template'), 'metadata'), 'labels');
  if (labels !== undefined && Object.keys(object.metadata.labels ?? {}).length === 0) {
    // The very same ones: what is added to the template is added to the job.
    object.metadata.labels = labels as Record<string, string>;
  }
}

export function defaultCronJob(object: ServedObject): void {
  const spec = mappingAt(object, 'spec');
  const template = maybeMapping(maybeMapping(spec, 'jobTemplate'), 'spec');
  if (template !== undefined) defaultPodTemplate(template);
  setDefault(spec, 'concurrencyPolicy', 'Allow');
  setDefault(spec, 'suspend', false);
  setDefault(spec, 'successfulJobsHistoryLimit', 3);
  setDefault(spec, 'failedJobsHistoryLimit', 1);
}
