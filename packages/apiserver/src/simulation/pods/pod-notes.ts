/** What the simulated node tells of the containers of a pod. No image is pulled, but it takes its time. */
import { isMapping, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import { type Note, normal, warning } from '../notes.js';

/** A container with the place where it is written down, and its status before and after. */
interface Told {
  readonly name: string;
  readonly image: string;
  readonly pullPolicy: string | undefined;
  readonly path: string;
  readonly before: Mapping | undefined;
  readonly after: Mapping | undefined;
}

/** The news in the status, in the order in which things have happened. */
export function lifeNotes(pod: ServedObject, status: Mapping): readonly Note[] {
  const inits = containersOf(pod, 'initContainers', status);
  const others = containersOf(pod, 'containers', status);
  return [...inits, ...others].flatMap((one, index) => containerNotes(pod, one, inits.length > 0 && index > 0));
}

function containerNotes(
  { metadata }: ServedObject,
  { name, image, pullPolicy, path, before, after }: Told,
  isLater: boolean,
): Note[] {
  const notes: Note[] = [];
  const hasStarted = after?.['containerID'] !== undefined && after['containerID'] !== before?.['containerID'];
  const isFirst = hasStarted && Number(after['restartCount'] ?? 0) === 0;
  // What comes after others is pulled after them.
  const isPulling = isLater ? isFirst : before === undefined;
  const isPulled = pullPolicy === 'Always' || Number(after?.['restartCount'] ?? 0) === 0;
  if (pullPolicy !== 'Never' && isPulling) notes.push(normal('Pulling', `Pulling image "${image}"`));
  if (hasStarted) {
    if (isPulled && pullPolicy !== 'Never') notes.push(normal('Pulled', `Successfully pulled image "${image}"`));
    else notes.push(normal('Pulled', `Container image "${image}" already present on machine`));
    notes.push(normal('Created', 'Container created'), normal('Started', 'Container started'));
  }
  if (isBackingOff(after) && !isBackingOff(before)) {
    const where = `in pod ${metadata.name}_${metadata.namespace}(${metadata.uid})`;
    notes.push(warning('BackOff', `Back-off restarting failed container ${name} ${where}`));
  }
  return notes.map((note) => ({ ...note, fieldPath: path }));
}

function isBackingOff(status: Mapping | undefined): boolean {
  const { waiting } = (status?.['state'] ?? {}) as { waiting?: { reason?: string } };
  return waiting?.reason === 'CrashLoopBackOff';
}

/** The containers that run are told to stop. */
export function stopNotes(pod: ServedObject): readonly Note[] {
  return containersOf(pod, 'containers', pod.status ?? {})
    .filter(({ before }) => isMapping(before?.['state']) && isMapping(before['state']['running']))
    .map(({ name, path }) => ({ ...normal('Killing', `Stopping container ${name}`), fieldPath: path }));
}

function containersOf(pod: ServedObject, field: 'containers' | 'initContainers', status: Mapping): readonly Told[] {
  const list: readonly { name: string; image?: string; imagePullPolicy?: string }[] = pod.spec[field] ?? [];
  const statuses = field === 'containers' ? 'containerStatuses' : 'initContainerStatuses';
  const find = (from: unknown, wanted: string): Mapping | undefined =>
    (from as readonly Mapping[] | undefined)?.find(({ name }) => name === wanted);
  return list.map(({ name, image = '', imagePullPolicy: pullPolicy }) => ({
    name,
    image,
    pullPolicy,
    path: `spec.${field}{${name}}`,
    before: find(pod.status?.[statuses], name),
    after: find(status[statuses], name),
  }));
}
