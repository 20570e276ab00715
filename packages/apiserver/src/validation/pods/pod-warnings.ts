/** What is fine in pods and templates of pods, but most likely not meant so. */
import type { Mapping } from '@kopf-ts/core';
import { itemsOf } from '../../kinds/defaults/setting.js';

export function podWarnings(spec: Mapping | undefined, path: string): readonly string[] {
  return ['initContainers', 'containers'].flatMap((key) =>
    itemsOf(spec, key).flatMap((container, index) => [
      ...repeatedPorts(container, `${path}.${key}[${index}].ports`),
      ...hiddenVariables(container, `${path}.${key}[${index}].env`),
    ]),
  );
}

function repeatedPorts(container: Mapping, path: string): readonly string[] {
  const seen = new Map<string, number>();
  return itemsOf(container, 'ports').flatMap(({ containerPort, protocol, hostPort = 0, hostIP = '' }, index) => {
    const key = JSON.stringify([containerPort, protocol, hostPort, hostIP]);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, index);
    return first === undefined ? [] : [`${path}[${index}]: duplicate port definition with ${path}[${first}]`];
  });
}

function hiddenVariables(container: Mapping, path: string): readonly string[] {
  const seen = new Set<unknown>();
  return itemsOf(container, 'env').flatMap(({ name }, index) => {
    const isRepeated = seen.has(name);
    seen.add(name);
    const why = `hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`;
    return isRepeated ? [`${path}[${index}]: ${why}`] : [];
  });
}
