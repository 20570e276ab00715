/**
 * The agreement between operators of the same cluster: who is alive, who has priority, who pauses.
 * It leaves the pausing itself to the watchers, and the requests to the given `KubeClient`.
 */
// biome-ignore-all assist/source/organizeImports: a table of contents, in the order of reading

// Ways to agree.
export { standalone } from './standalone.js';
export { kopfPeering, type KopfPeeringOptions } from './kopf/kopf-peering.js';
export { leasePeering, type LeasePeeringOptions } from './lease/lease-peering.js';

// Who we are.
export { detectIdentity, type IdentityOptions } from './identity/identity.js';
export type { HostNames } from './identity/hostnames.js';

// Pausing others by hand.
export { type Announcement, freeze, type FreezeOptions, resume, type ResumeOptions } from './freeze.js';
