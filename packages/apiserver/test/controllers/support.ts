import type { Mapping } from '@kopf-ts/core';
import { manualClock } from '@kopf-ts/testing';
import { type LocalCluster, localCluster } from '../../src/cluster.js';
import type { ServedObject } from '../../src/contracts/objects.js';

/** A cluster without sockets, in which time stands still. */
export async function quietCluster(): Promise<LocalCluster> {
  return await localCluster({ listen: false, clock: manualClock() });
}

export interface OwnerOptions {
  readonly block?: boolean;
  readonly uid?: string;
}

export const ownedBy = ({ apiVersion, kind, metadata }: ServedObject, { block, uid }: OwnerOptions = {}): Mapping => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: uid ?? metadata.uid,
  ...(block === undefined ? {} : { blockOwnerDeletion: block }),
});

export class Workbench {
  readonly cluster: LocalCluster;
  constructor(cluster: LocalCluster) {
    this.cluster = cluster;
  }

  async create(name: string, metadata: Mapping = {}, namespace = 'default'): Promise<ServedObject> {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, ...metadata } };
    return await this.cluster.client.request({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/configmaps`,
      body,
    });
  }

  async remove(name: string, propagationPolicy?: string): Promise<void> {
    const path = `/api/v1/namespaces/default/configmaps/${name}`;
    const body = {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    };
    await this.cluster.client.request({ method: 'DELETE', path, body });
    await this.cluster.settled();
  }

  async patch(name: string, metadata: Mapping): Promise<void> {
    const path = `/api/v1/namespaces/default/configmaps/${name}`;
    const contentType = 'application/merge-patch+json';
    await this.cluster.client.request({ method: 'PATCH', path, contentType, body: { metadata } });
    await this.cluster.settled();
  }

  /** What is there now, by name. */
  async all(): Promise<Record<string, ServedObject>> {
    await this.cluster.settled();
    const list = await this.cluster.client.request<{ items: ServedObject[] }>({
      method: 'GET',
      path: '/api/v1/namespaces/default/configmaps',
    });
    return Object.fromEntries(list.items.map((item) => [item.metadata.name, item]));
  }

  async names(): Promise<string[]> {
    return Object.keys(await this.all());
  }
}
