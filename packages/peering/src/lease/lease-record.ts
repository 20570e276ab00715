/** Leases as they are stored, and whose they are: all that can be told without asking the cluster. */
import type { AnyObject, Seconds } from '@kopf-ts/core';

export interface LeaseSpec {
  readonly holderIdentity?: string | null;
  readonly leaseDurationSeconds?: number | null;
  readonly acquireTime?: string | null;
  readonly renewTime?: string | null;
  readonly leaseTransitions?: number | null;
}

export interface Lease extends AnyObject {
  spec?: LeaseSpec;
}

/** A lease, and since when it is as it is, by our monotonic clock: the clocks of the others are not trusted. */
export interface ObservedLease {
  readonly lease: Lease;
  readonly since: Seconds;
}

/** The lease as it is now. It counts as the same one, and since the same time, until anything in it changes. */
export function observeLease(lease: Lease, now: Seconds, previous: ObservedLease | undefined): ObservedLease {
  const isSame =
    previous !== undefined &&
    previous.lease.metadata?.uid === lease.metadata?.uid &&
    JSON.stringify(previous.lease.spec) === JSON.stringify(lease.spec);
  return { lease, since: isSame ? previous.since : now };
}

export function holderOf({ lease }: ObservedLease): string {
  return lease.spec?.holderIdentity ?? '';
}

/** When the lease is free for all, unless its holder renews it. In the past if nobody holds it. */
export function freeSince(observed: ObservedLease): Seconds {
  if (holderOf(observed) === '') return Number.NEGATIVE_INFINITY;
  return observed.since + (observed.lease.spec?.leaseDurationSeconds ?? 0);
}

/** The spec of a lease that we hold from now on, or still. */
export function heldSpec(
  previous: LeaseSpec | undefined,
  { identity, leaseDuration, utc }: { readonly identity: string; readonly leaseDuration: Seconds; readonly utc: Date },
): LeaseSpec {
  const now = formatMicroTime(utc);
  const isStillOurs = previous?.holderIdentity === identity;
  const transitions = previous?.leaseTransitions ?? 0;
  return {
    ...previous,
    holderIdentity: identity,
    leaseDurationSeconds: leaseDuration,
    acquireTime: isStillOurs ? (previous.acquireTime ?? now) : now,
    renewTime: now,
    leaseTransitions: previous === undefined || isStillOurs ? transitions : transitions + 1,
  };
}

/** The spec of a lease that nobody holds: others need not wait for its end. */
export function releasedSpec(previous: LeaseSpec | undefined, utc: Date): LeaseSpec {
  const now = formatMicroTime(utc);
  return { ...previous, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
}

/** As `MicroTime` of Kubernetes: always with six digits of the fraction. */
function formatMicroTime(utc: Date): string {
  return `${utc.toISOString().slice(0, -1)}000Z`;
}
