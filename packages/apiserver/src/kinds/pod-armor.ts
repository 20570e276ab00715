/** Profiles of AppArmor in annotations, where they were before there was a field for them. */
import { deepEqual, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../contracts/objects.js';
import { appArmorProblems } from '../validation/pods/security-contexts.js';
import { itemsOf, mappingAt, maybeMapping } from './defaults/setting.js';

export const ARMOR = 'container.apparmor.security.beta.kubernetes.io/';

/** What an annotation means as a field; nothing if it means nothing. */
export function armorOf(annotation: unknown): Mapping | undefined {
  const text = String(annotation);
  if (text === 'unconfined') return { type: 'Unconfined' };
  if (text === 'runtime/default') return { type: 'RuntimeDefault' };
  const [, file] = /^localhost\/(.*)$/s.exec(text) ?? [];
  return file === undefined ? undefined : { type: 'Localhost', localhostProfile: file };
}

export const armorWarning = (key: string, path: string): string =>
  `${path}[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`;

/** Sets the fields of a pod by its annotations, where there are none. */
export function applyArmor(pod: ServedObject, warn: (text: string) => void): void {
  const spec = mappingAt(pod, 'spec');
  const { annotations = {} } = pod.metadata;
  if (maybeMapping(spec, 'os')?.name === 'windows' || !Object.keys(annotations).some((key) => key.startsWith(ARMOR)))
    return;
  const ofPod = maybeMapping(maybeMapping(spec, 'securityContext'), 'appArmorProfile');
  for (const container of ['initContainers', 'containers', 'ephemeralContainers'].flatMap((key) =>
    itemsOf(spec, key),
  )) {
    const key = `${ARMOR}${String(container.name)}`;
    const annotation = annotations[key];
    const isSaid = maybeMapping(maybeMapping(container, 'securityContext'), 'appArmorProfile') !== undefined;
    if (annotation === undefined || isSaid) continue;
    const profile = armorOf(annotation);
    const isUsable = profile !== undefined && appArmorProblems(profile, '').length === 0;
    if (isUsable && deepEqual(profile, ofPod)) continue;
    if (isUsable) mappingAt(container, 'securityContext').appArmorProfile = profile;
    warn(armorWarning(key, 'metadata.annotations'));
  }
}
