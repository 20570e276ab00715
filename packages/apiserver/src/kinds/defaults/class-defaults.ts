/** What is set in the classes and drivers of storage, in priorities and in slices where nothing else is said. */
import type { ServedObject } from '../../contracts/objects.js';
import { itemsOf, mappingAt, setDefault } from './setting.js';

export function defaultStorageClass(object: ServedObject): void {
  setDefault(object, 'reclaimPolicy', 'Delete');
  setDefault(object, 'volumeBindingMode', 'Immediate');
}

export function defaultDriver(object: ServedObject): void {
  const spec = mappingAt(object, 'spec');
  setDefault(spec, 'attachRequired', true);
  setDefault(spec, 'podInfoOnMount', false);
  setDefault(spec, 'storageCapacity', false);
  setDefault(spec, 'fsGroupPolicy', 'ReadWriteOnceWithFSType');
  setDefault(spec, 'requiresRepublish', false);
  setDefault(spec, 'seLinuxMount', false);
  if (!Array.isArray(spec.volumeLifecycleModes) || spec.volumeLifecycleModes.length === 0) {
    spec.volumeLifecycleModes = ['Persistent'];
  }
}

export function defaultPriorityClass(object: ServedObject): void {
  setDefault(object, 'preemptionPolicy', 'PreemptLowerPriority');
}

export function defaultSlice(object: ServedObject): void {
  for (const port of itemsOf(object, 'ports')) {
    setDefault(port, 'name', '');
    setDefault(port, 'protocol', 'TCP');
  }
}
