/** Owners that are given twice. */
import { deepEqual } from '@kopf-ts/core';
import type { ServedObject } from '../../contracts/objects.js';
import type { Call } from '../../routing/backend.js';

/** Each is kept once, and the client gets a warning. */
export function dropRepeatedOwners(call: Call, { metadata }: ServedObject): void {
  const owners = metadata.ownerReferences;
  if (owners === undefined || owners === null || owners.length < 2) return;
  const kept = owners.filter((owner, index) => !owners.slice(0, index).some((before) => deepEqual(before, owner)));
  const uids = owners.map(({ uid }) => uid);
  const repeated = [...new Set(uids.filter((uid, index) => uids.indexOf(uid) !== index))];
  if (repeated.length === 0) return;
  metadata.ownerReferences = kept;
  call.warnings.push(
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${repeated.join(', ')}`,
  );
}
