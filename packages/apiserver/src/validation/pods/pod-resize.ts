/** Changes of what a pod asks for, while it runs. */
import { deepCopy, deepEqual, type Mapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../../contracts/objects.js';
import { itemsOf, mappingAt, maybeMapping } from '../../kinds/defaults/setting.js';
import { qualityOf } from '../../kinds/pod-quality.js';
import { forbiddenField, invalidValue } from '../../text/field-causes.js';

const LISTS = ['containers', 'initContainers'];
const RESIZED = ['cpu', 'memory'];

/** Beside what is wrong with any pod. */
export function validateResize(object: ServedObject, old: ServedObject): readonly Cause[] {
  const [spec, before] = [mappingAt(object, 'spec'), mappingAt(old, 'spec')];
  const quality = maybeMapping(old, 'status')?.qosClass ?? qualityOf(before);
  const why = 'Pod QOS Class may not change as a result of resizing';
  const causes = [
    ...(quality === qualityOf(spec) ? [] : [invalidValue('spec', quality, why)]),
    ...(isSupported(old) ? [] : [forbiddenField('spec', 'Pod running on node without support for resize')]),
  ];
  const ofOrder = LISTS.flatMap((list) => orderProblems(spec, before, list));
  if (ofOrder.length > 0) return [...causes, ...ofOrder];
  const isResizable = (list: string, index: number): boolean =>
    list === 'containers' || itemsOf(before, list)[index]?.restartPolicy === 'Always';
  const ofParts = ['initContainers', 'containers'].flatMap((list) =>
    itemsOf(before, list).flatMap((container, index) =>
      isResizable(list, index)
        ? removals(itemsOf(spec, list)[index] ?? {}, container, `spec.${list}[${index}].resources`)
        : [],
    ),
  );
  return [...causes, ...ofParts, ...otherChanges(spec, before)];
}

/** Where a container runs, its node has told what it runs with. */
function isSupported(old: ServedObject): boolean {
  const statuses = itemsOf(maybeMapping(old, 'status'), 'containerStatuses');
  const running = statuses.find((one) => maybeMapping(maybeMapping(one, 'state'), 'running') !== undefined);
  return running === undefined || running.resources !== undefined;
}

function orderProblems(spec: Mapping, before: Mapping, list: string): readonly Cause[] {
  const [now, then] = [itemsOf(spec, list), itemsOf(before, list)];
  if (now.length !== then.length)
    return [forbiddenField(`spec.${list}`, `${list} may not be added or removed on resize`)];
  return then.flatMap(({ name }, index) =>
    now[index]?.name === name
      ? []
      : [forbiddenField(`spec.${list}[${index}].name`, `${list} may not be renamed or reordered on resize`)],
  );
}

function removals(container: Mapping, before: Mapping, path: string): readonly Cause[] {
  const [now, then] = [maybeMapping(container, 'resources'), maybeMapping(before, 'resources')];
  return ['requests', 'limits'].flatMap((list) => {
    const left = maybeMapping(now, list) ?? {};
    const isRemoved = Object.keys(maybeMapping(then, list) ?? {}).some((name) => left[name] === undefined);
    return isRemoved ? [forbiddenField(`${path}.${list}`, `resource ${list} cannot be removed`)] : [];
  });
}

/** What else has changed, if anything. */
function otherChanges(spec: Mapping, before: Mapping): readonly Cause[] {
  return LISTS.flatMap((list) =>
    itemsOf(spec, list).flatMap((container, index) => {
      const old = itemsOf(before, list)[index] ?? {};
      if (list === 'containers') {
        if (deepEqual(unsized(container), unsized(old))) return [];
        return [forbiddenField('spec', 'only cpu and memory resources are mutable')];
      }
      if (deepEqual(container, old)) return [];
      if (old.restartPolicy !== 'Always')
        return [forbiddenField('spec', 'resources for non-sidecar init containers are immutable')];
      if (deepEqual(unsized(container), unsized(old))) return [];
      const why = 'only cpu and memory resources for init or sidecar containers are mutable';
      return [forbiddenField(`spec.${list}[${index}]`, why)];
    }),
  );
}

function unsized(container: Mapping): Mapping {
  const { resizePolicy: _, ...copy } = deepCopy(container);
  for (const list of ['requests', 'limits']) {
    const amounts = maybeMapping(maybeMapping(copy, 'resources'), list);
    if (amounts === undefined) continue;
    for (const name of RESIZED) delete amounts[name];
    if (Object.keys(amounts).length === 0) delete mappingAt(copy, 'resources')[list];
  }
  return copy;
}

/** The rest of the pod stays as it was, whatever is sent; but that containers come or go is refused later. */
export function keepAllButSizes(object: ServedObject, old: ServedObject): void {
  const spec = mappingAt(object, 'spec');
  const before = deepCopy(mappingAt(old, 'spec'));
  if (LISTS.some((list) => itemsOf(spec, list).length !== itemsOf(before, list).length)) return;
  for (const list of LISTS) {
    const [sent, then] = [itemsOf(spec, list), itemsOf(before, list)];
    if (sent.some(({ name }, index) => name !== then[index]?.name)) {
      before[list] = spec[list];
      continue;
    }
    for (const [index, container] of then.entries())
      copyKeys(container, sent[index] ?? {}, ['resources', 'resizePolicy']);
  }
  object.spec = before;
  copyKeys(object, deepCopy(old), ['status']);
  copyKeys(object.metadata, deepCopy(old.metadata), ['labels', 'annotations', 'finalizers', 'ownerReferences']);
}

function copyKeys(target: Mapping, source: Mapping, keys: readonly string[]): void {
  for (const key of keys) {
    if (source[key] === undefined) delete target[key];
    else target[key] = source[key];
  }
}
