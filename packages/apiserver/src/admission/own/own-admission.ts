/** The admission that every cluster has without being asked: priorities, tolerations, runtimes, default classes, limits, secure pods, quotas. */
import type { AdmissionAttributes, OwnAdmission } from '../../contracts/admission.js';
import type { Store } from '../../contracts/store.js';
import { securePods } from '../pod-security/pod-security.js';
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
      if (isOfObject(attributes)) refuseBeyondLimits(attributes, store);
      securePods(attributes, store);
      if (isOfObject(attributes)) refuseSecondDefault(attributes, store);
    },
    charge(attributes) {
      if (isOfObject(attributes)) chargeQuotas(attributes, store, track);
    },
  };
}

/** Parts of objects are admitted by nobody, but for those with containers. */
function isOfObject({ subresource, operation }: AdmissionAttributes): boolean {
  return subresource === '' && (operation === 'CREATE' || operation === 'UPDATE');
}
