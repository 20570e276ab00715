/** Writing records into the peering objects: the only objects that are written to here. */
import { type AnyObject, type KubeClient, type Mapping, Patch, type Resource, setOwn } from '@kopf-ts/core';
import { patchObject } from '@kopf-ts/core/engine';
import { type Peer, recordOf } from './peers.js';

/** A peering object, whether it exists or not. */
export interface PeeringAddress {
  readonly client: KubeClient;
  readonly resource: Resource;
  /** Absent for the peerings of the whole cluster. */
  readonly namespace: string | undefined;
  readonly name: string;
}

/** What is there after writing; `undefined` if there is no such object. */
export type Written = { readonly body: AnyObject } | undefined;

/** Tells of a peer that it is alive. With no lifetime, it is not: its record is removed. */
export async function touch(at: PeeringAddress, peer: Peer, signal?: AbortSignal): Promise<Written> {
  if (peer.lifetime <= 0) return await removeRecords(at, [peer.identity], { signal });
  const status: Mapping = {};
  setOwn(status, peer.identity, recordOf(peer));
  return await write(at, { status }, signal);
}

/**
 * Removes the records of any peers. If the version is given, then only if it is still the newest one:
 * else, somebody may have shown a sign of life meanwhile, and it is a conflict.
 */
export async function removeRecords(
  at: PeeringAddress,
  identities: readonly string[],
  options: { readonly version?: string | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<Written> {
  const status: Mapping = {};
  for (const identity of identities) setOwn(status, identity, null);
  const guard = options.version === undefined ? {} : { metadata: { resourceVersion: options.version } };
  return await write(at, { ...guard, status }, options.signal);
}

async function write(at: PeeringAddress, merge: Mapping, signal: AbortSignal | undefined): Promise<Written> {
  const { client, resource, namespace, name } = at;
  // No logger: all peers write all the time, and nobody wants to read of that.
  const { missing, body } = await patchObject(client, resource, { namespace, name, patch: new Patch(merge), signal });
  return missing ? undefined : { body: body ?? {} };
}

/** The peering in the logs: `'default' in 'ns1'`, `'default' cluster-wide`. */
export function describePeering({ name, namespace }: Pick<PeeringAddress, 'name' | 'namespace'>): string {
  return `'${name}' ${namespace === undefined ? 'cluster-wide' : `in '${namespace}'`}`;
}
