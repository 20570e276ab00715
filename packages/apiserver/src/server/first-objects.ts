/** What is in a cluster before anybody comes: namespaces, priorities, and the service by which pods reach the API server. */
import type { KubeClient } from '@kopf-ts/core';
import type { StoreReader } from '../contracts/store.js';
import { SYSTEM_PRIORITIES } from '../kinds/system-priorities.js';
import { parseRevision } from '../store/revision.js';

const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/** Those that are not there yet. */
export async function createNamespaces(client: KubeClient, store: StoreReader): Promise<void> {
  for (const name of NAMESPACES) {
    if (store.get('namespaces', '', name) !== undefined) continue;
    await client.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } });
  }
}

const PRIORITIES = '/apis/scheduling.k8s.io/v1/priorityclasses';

export async function createPriorities(client: KubeClient, store: StoreReader): Promise<void> {
  for (const { name, value, description } of SYSTEM_PRIORITIES) {
    if (store.get('priorityclasses.scheduling.k8s.io', '', name) !== undefined) continue;
    await client.request({ method: 'POST', path: PRIORITIES, body: { metadata: { name }, value, description } });
  }
}

const NAME = 'kubernetes';

/** Or leads the one of an earlier life to the port of this one. */
export async function createOwnService(client: KubeClient, store: StoreReader, targetPort: number): Promise<void> {
  const labels = { component: 'apiserver', provider: 'kubernetes' };
  const ports = [{ name: 'https', protocol: 'TCP', port: 443, targetPort }];
  const spec = {
    type: 'ClusterIP',
    clusterIP: '10.96.0.1',
    ports,
    sessionAffinity: 'None',
    ipFamilyPolicy: 'SingleStack',
  };
  const path = '/api/v1/namespaces/default/services';
  const existing = store.get('services', 'default', NAME);
  if (existing === undefined) {
    await client.request({ method: 'POST', path, body: { metadata: { name: NAME, labels }, spec } });
  } else if (parseRevision(existing)['spec']?.ports?.[0]?.targetPort !== targetPort) {
    const contentType = 'application/merge-patch+json';
    await client.request({ method: 'PATCH', path: `${path}/${NAME}`, body: { spec: { ports } }, contentType });
  }
}
