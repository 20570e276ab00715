/**
 * A program: reviews through a Service, on a control plane of its own. It is to be run in a network namespace of its
 * own, where the addresses of its arguments are. Tells the results in JSON.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { KubeClient } from '@kopf-ts/core';
import { startControlPlane } from '../../controlplane/index.js';
import { clientOf } from '../../support/client.js';
import { type Place, reviewThroughService } from '../support/services.js';

export interface ServiceProgram {
  readonly addresses: readonly [string, string];
}

const PORT = 9443;

const { addresses } = JSON.parse(process.argv[2] ?? '{}') as ServiceProgram;
// Without that, the API server believes that somebody else leads from services to their endpoints.
const extraArgs = { apiServer: ['--enable-aggregator-routing=true'] };
const controlPlane = await startControlPlane({ extraArgs });
const { url: server, ca, token } = controlPlane;
const client = clientOf(controlPlane);
const results = await reviewThroughService({
  client,
  connection: { server, ca, token },
  places: [
    { addr: addresses[0], port: PORT },
    { addr: addresses[1], port: PORT },
  ],
  async publish({ namespace, name }, places) {
    await publishSlice(client, namespace, name, places);
    // The API server learns of it by watching, and does not tell when it has.
    await pause(1000);
  },
});
await client.close();
await controlPlane.stop();
process.stdout.write(`${JSON.stringify(results)}\n`);

async function publishSlice(
  client: KubeClient,
  namespace: string,
  name: string,
  places: readonly Place[],
): Promise<void> {
  const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
  const endpoints = places.map(({ addr }) => ({ addresses: [addr], conditions: { ready: true } }));
  const body = {
    metadata: { name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints,
    ports: [{ name: 'https', port: PORT, protocol: 'TCP' }],
  };
  try {
    await client.request({ method: 'POST', path, body });
  } catch {
    const patch = { endpoints };
    const contentType = 'application/merge-patch+json';
    await client.request({ method: 'PATCH', path: `${path}/${name}-1`, body: patch, contentType });
  }
}
