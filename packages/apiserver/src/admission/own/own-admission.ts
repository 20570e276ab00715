/** The admission that every cluster has without being asked: priorities, tolerations, runtimes, default classes, limits, quotas. */
import type { AdmissionAttributes, OwnAdmission } from '../../contracts/admission.js';
import type { Store } from '../../contracts/store.js';
import { setDefaultClass } from './default-classes.js';
import { refuseBeyondLimits, setLimitDefaults } from './limit-ranges.js';
import { refuseSecondDefault, setPriority } from './pod-priorities.js';
import { setRuntime } from './pod-runtimes.js';
import { setTolerations } from './pod-tolerations.js';
import { chargeQuotas, type TrackStatus } from './quotas.js';

/** In the order of the real server: what one of them sets, the next ones see. */
export function ownAdmission(store: Store, track: TrackStatus): OwnAdmission {
  return {
    mutate(attributes) {
      if (!isOfObject(attributes)) return;
      setLimitDefaults(attributes, store);
      if (attributes.resource.collection === 'pods') {
        setPriority(attributes, store);
        setTolerations(attributes);
        setRuntime(attributes, store);
      }
      setDefaultClass(attributes, store);
    },
    validate(attributes) {
      if (!isOfObject(attributes)) return;
      refuseBeyondLimits(attributes, store);
      refuseSecondDefault(attributes, store);
      chargeQuotas(attributes, store, track);
    },
  };
}

/** Parts of objects are admitted by nobody. */
function isOfObject({ subresource, operation }: AdmissionAttributes): boolean {
  return subresource === '' && (operation === 'CREATE' || operation === 'UPDATE');
}
