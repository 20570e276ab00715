/** The manifests of the example of a deployment, on a real API server: what they promise, and what they permit. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { HttpKubeClient } from '@kopf-ts/client';
import { type AnyObject, type ConnectionInfo, createRegistry } from 'kopf-ts';
import { type OperatorRunner, operatorRunner } from 'kopf-ts/testing';
import { afterAll, beforeAll, expect, it, onTestFailed } from 'vitest';
import { runKubectl } from '../controlplane/index.js';
import { clientOf } from '../support/client.js';
import { newNamespace } from '../support/objects.js';
import { absentIfNotFound } from '../support/operators/kinds.js';
import { eventually } from '../support/operators/operators.js';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';
import { requestsOf } from './audit.js';

const examples = new URL('../../examples/', import.meta.url);
const file = (name: string): URL => new URL(name, examples);
const HANDLERS = file('25-deployment/handlers.ts');
const NAME = 'greetings-operator';
const USERNAME = `system:serviceaccount:${NAME}:${NAME}`;

describeOnRealCluster('the manifests of a deployment', () => {
  let client: HttpKubeClient;
  beforeAll(async () => {
    client = clientOf(realCluster());
    // In the order of the README. Objects are refused until their kinds are served, and namespaces may come late.
    for (const name of ['peering.yaml', ...['crd', 'rbac', 'peering', 'deployment'].map(deployed)]) {
      const applying = ['apply', '--server-side', '--force-conflicts', '-f', fileURLToPath(file(name))];
      await eventually(() => runKubectl(realCluster(), applying), 60);
    }
  });
  afterAll(() => client?.close());

  it('are accepted by the server, together with the pod that they ask for', async () => {
    const { items } = await eventually(async () => {
      const path = `/api/v1/namespaces/${NAME}/pods?labelSelector=app%3D${NAME}`;
      const pods = await client.request<{ items: AnyObject[] }>({ method: 'GET', path });
      // The namespace enforces the strictest standard: a pod that asks for too much would never be there.
      expect(pods.items).toHaveLength(1);
      return pods;
    });
    expect(items[0]?.['spec']).toMatchObject({ serviceAccountName: NAME, securityContext: { runAsNonRoot: true } });
  });

  it('permit all that the operator does, and nothing else', { timeout: 120_000 }, async () => {
    const namespace = await newNamespace(client);
    const liveness = `http://127.0.0.1:${await freePort()}/healthz`;
    const operator = await startAsPod(await connectionOf(client), liveness);
    for (const path of ['/healthz', '/readyz']) {
      await eventually(async () => expect((await fetch(new URL(path, liveness))).status).toBe(200));
    }
    await tellStory(client, namespace);
    await operator.stop();
    expect(operator.exitCode).toBe(0);

    const requests = await requestsOf(realCluster().auditLog ?? '', USERNAME);
    expect(requests.filter(({ code }) => code === 401 || code === 403)).toEqual([]);
    // Newer servers list by watching.
    const done = requests
      .filter(isAccepted)
      .flatMap((it) => (it.verb === 'watch' ? [it, { ...it, verb: 'list' }] : it));
    const used = new Set(done.map(({ group, resource, verb }) => `${verb} ${group}/${resource}`));
    const permitted = await permissionsOf(client);
    expect(permitted.filter((permission) => !used.has(permission))).toEqual([]);
  });
});

const deployed = (name: string): string => `25-deployment/deploy/${name}.yaml`;
const isAccepted = ({ code }: { code: number }): boolean => code >= 200 && code < 300;

/** All that the role has in it, one by one. */
async function permissionsOf(client: HttpKubeClient): Promise<readonly string[]> {
  const path = `/apis/rbac.authorization.k8s.io/v1/clusterroles/${NAME}`;
  const { rules } = await client.request<{ rules: Record<string, string[]>[] }>({ method: 'GET', path });
  return rules.flatMap(({ apiGroups = [], resources = [], verbs = [] }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`))),
  );
}

/** With the token of the account, as it is in the pod. */
async function connectionOf(client: HttpKubeClient): Promise<ConnectionInfo> {
  const path = `/api/v1/namespaces/${NAME}/serviceaccounts/${NAME}/token`;
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  const { status } = await client.request<{ status: { token: string } }>({ method: 'POST', path, body });
  const { url: server, ca } = realCluster();
  return { server, ca, token: status.token };
}

/** With the options of the Deployment. */
async function startAsPod(connection: ConnectionInfo, liveness: string): Promise<OperatorRunner> {
  const registry = createRegistry();
  registry.on.login(function mounted() {
    return connection;
  });
  const options = { clusterwide: true, peeringName: 'greetings', identity: `${NAME}-abc`, liveness };
  const operator = await operatorRunner({ registry, handlers: HANDLERS, ...options });
  onTestFailed(() => console.log(operator.output));
  await operator.ready;
  return operator;
}

/** Created, published, revised, deleted: all that can happen to a greeting. */
async function tellStory(client: HttpKubeClient, namespace: string): Promise<void> {
  const greetings = `/apis/example.com/v1/namespaces/${namespace}/greetings`;
  const path = `${greetings}/hello`;
  const get = <T = AnyObject>(at: string): Promise<T> => client.request<T>({ method: 'GET', path: at });
  const greeting = { apiVersion: 'example.com/v1', kind: 'Greeting', metadata: { name: 'hello' } };
  await client.request({ method: 'POST', path: greetings, body: { ...greeting, spec: { text: 'Hello!' } } });
  const published = await eventually(async () => {
    const { metadata, status } = await get(path);
    expect(metadata?.finalizers).toEqual(['greetings.example.com/finalizer']);
    expect(status?.published).toMatch(/^hello-/);
    return status.published as string;
  });
  await eventually(async () => {
    const { items } = await get<{ items: AnyObject[] }>(`/api/v1/namespaces/${namespace}/events`);
    expect(items.map(({ reason }) => reason)).toContain('Published');
  });
  await client.request({
    method: 'PATCH',
    path,
    body: { spec: { text: 'Good morning!' } },
    contentType: 'application/merge-patch+json',
  });
  await eventually(async () => {
    const { data } = await get(`/api/v1/namespaces/${namespace}/configmaps/${published}`);
    expect(data).toEqual({ text: 'Good morning!' });
  });
  await client.request({ method: 'DELETE', path });
  await eventually(async () => expect(await absentIfNotFound(get(path))).toBeUndefined());
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
