/**
 * The kinds of coordination.k8s.io/v1, and what they are made of.
 *
 * Written by `npm run schemas`, by what Kubernetes 1.36 says of itself; not to be edited by hand.
 */
import type { ResourceToken } from '@kopf-ts/core';
import type { MicroTime, ObjectMeta } from '../../meta.k8s.io/v1/index.js';

/** Lease defines a lease concept. */
export interface Lease {
  apiVersion?: 'coordination.k8s.io/v1';
  kind?: 'Lease';
  /** More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata */
  metadata: ObjectMeta;
  /** spec contains the specification of the Lease. */
  spec: LeaseSpec;
}
/** The leases of `coordination.k8s.io/v1`. They are in namespaces. */
export const Lease: ResourceToken<Lease, string> = { selector: { group: 'coordination.k8s.io', version: 'v1', plural: 'leases' }, namespaced: true };

/** LeaseSpec is a specification of a Lease. */
export interface LeaseSpec {
  /** acquireTime is a time when the current lease was acquired. */
  acquireTime?: MicroTime;
  /** holderIdentity contains the identity of the holder of a current lease. */
  holderIdentity?: string;
  /** leaseDurationSeconds is a duration that candidates for a lease need to wait to force acquire it. */
  leaseDurationSeconds?: number;
  /** leaseTransitions is the number of transitions of a lease between holders. */
  leaseTransitions?: number;
  /** PreferredHolder signals to a lease holder that the lease has a more optimal holder and should be given up. */
  preferredHolder?: string;
  /** renewTime is a time when the current holder of a lease has last updated the lease. */
  renewTime?: MicroTime;
  /** Strategy indicates the strategy for picking the leader for coordinated leader election. */
  strategy?: string;
}
