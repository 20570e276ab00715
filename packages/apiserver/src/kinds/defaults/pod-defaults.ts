/** What is set in pods and their templates where nothing else is said. */
import type { Mapping } from '@kopf-ts/core';
import { itemsOf, mappingAt, maybeMapping, setDefault } from './setting.js';

/** Of a template as well as of a pod. */
export function defaultPodSpec(spec: Mapping): void {
  for (const volume of itemsOf(spec, 'volumes')) defaultVolume(volume);
  for (const container of allContainers(spec)) defaultContainer(container);
  setDefault(spec, 'restartPolicy', 'Always');
  setDefault(spec, 'terminationGracePeriodSeconds', 30);
  setDefault(spec, 'dnsPolicy', 'ClusterFirst');
  setDefault(spec, 'securityContext', {});
  setDefault(spec, 'schedulerName', 'default-scheduler');
  // The old name of the field is kept equal to the new one.
  if (typeof spec.serviceAccountName === 'string') spec.serviceAccount = spec.serviceAccountName;
  else if (typeof spec.serviceAccount === 'string') spec.serviceAccountName = spec.serviceAccount;
}

/** Of pods alone. */
export function defaultPod(spec: Mapping): void {
  for (const container of [...itemsOf(spec, 'containers'), ...itemsOf(spec, 'initContainers')]) {
    const resources = maybeMapping(container, 'resources');
    const limits = maybeMapping(resources, 'limits');
    if (resources === undefined || limits === undefined) continue;
    const requests = mappingAt(resources, 'requests');
    for (const [name, value] of Object.entries(limits)) setDefault(requests, name, value);
  }
  setDefault(spec, 'enableServiceLinks', true);
  if (spec.hostNetwork === true) defaultHostPorts(spec);
}

/** The template of a workload: its labels and its pod. */
export function defaultPodTemplate(spec: Mapping): void {
  const template = maybeMapping(spec, 'template');
  if (template !== undefined) defaultPodSpec(mappingAt(template, 'spec'));
}

function allContainers(spec: Mapping): Mapping[] {
  return [...itemsOf(spec, 'initContainers'), ...itemsOf(spec, 'containers'), ...itemsOf(spec, 'ephemeralContainers')];
}

function defaultHostPorts(spec: Mapping): void {
  for (const container of allContainers(spec)) {
    for (const port of itemsOf(container, 'ports')) setDefault(port, 'hostPort', port.containerPort);
  }
}

function defaultContainer(container: Mapping): void {
  setDefault(container, 'imagePullPolicy', isLatest(container.image) ? 'Always' : 'IfNotPresent');
  setDefault(container, 'terminationMessagePath', '/dev/termination-log');
  setDefault(container, 'terminationMessagePolicy', 'File');
  for (const port of itemsOf(container, 'ports')) setDefault(port, 'protocol', 'TCP');
  for (const variable of itemsOf(container, 'env')) {
    const field = maybeMapping(maybeMapping(variable, 'valueFrom'), 'fieldRef');
    if (field !== undefined) setDefault(field, 'apiVersion', 'v1');
  }
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) defaultProbe(maybeMapping(container, name));
  const lifecycle = maybeMapping(container, 'lifecycle');
  for (const name of ['postStart', 'preStop']) {
    defaultHttpGet(maybeMapping(maybeMapping(lifecycle, name), 'httpGet'));
  }
}

function isLatest(image: unknown): boolean {
  if (typeof image !== 'string' || image === '') return false;
  const [name = '', digest] = image.split('@');
  const tag = /:([^/:]+)$/.exec(name)?.[1];
  return tag === 'latest' || (tag === undefined && digest === undefined);
}

function defaultProbe(probe: Mapping | undefined): void {
  if (probe === undefined) return;
  defaultHttpGet(maybeMapping(probe, 'httpGet'));
  const grpc = maybeMapping(probe, 'grpc');
  if (grpc !== undefined) setDefault(grpc, 'service', '');
  setDefault(probe, 'timeoutSeconds', 1);
  setDefault(probe, 'periodSeconds', 10);
  setDefault(probe, 'successThreshold', 1);
  setDefault(probe, 'failureThreshold', 3);
}

function defaultHttpGet(get: Mapping | undefined): void {
  if (get === undefined) return;
  setDefault(get, 'path', '/');
  setDefault(get, 'scheme', 'HTTP');
}

const MODE = 0o644;

function defaultVolume(volume: Mapping): void {
  if (Object.keys(volume).every((key) => key === 'name')) volume.emptyDir = {};
  for (const name of ['secret', 'configMap', 'downwardAPI', 'projected']) {
    const source = maybeMapping(volume, name);
    if (source !== undefined) setDefault(source, 'defaultMode', MODE);
  }
  const hostPath = maybeMapping(volume, 'hostPath');
  if (hostPath !== undefined) setDefault(hostPath, 'type', '');
  const image = maybeMapping(volume, 'image');
  if (image !== undefined) setDefault(image, 'pullPolicy', isLatest(image.reference) ? 'Always' : 'IfNotPresent');
  for (const source of itemsOf(maybeMapping(volume, 'projected'), 'sources')) {
    const token = maybeMapping(source, 'serviceAccountToken');
    if (token !== undefined) setDefault(token, 'expirationSeconds', 3600);
    for (const item of itemsOf(maybeMapping(source, 'downwardAPI'), 'items')) defaultFieldRef(item);
  }
  for (const item of itemsOf(maybeMapping(volume, 'downwardAPI'), 'items')) defaultFieldRef(item);
  const claim = maybeMapping(maybeMapping(maybeMapping(volume, 'ephemeral'), 'volumeClaimTemplate'), 'spec');
  if (claim !== undefined) setDefault(claim, 'volumeMode', 'Filesystem');
}

function defaultFieldRef(item: Mapping): void {
  const field = maybeMapping(item, 'fieldRef');
  if (field !== undefined) setDefault(field, 'apiVersion', 'v1');
}
