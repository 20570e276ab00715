/** Clusters of both sorts, alike: what is true of operators is to be true on each of them. */
import { randomBytes } from 'node:crypto';
import { type LocalCluster, localCluster } from '@kopf-ts/apiserver';
import { type HttpKubeClient, kubeClient } from '@kopf-ts/client';
import type { AnyObject, ConnectionInfo, KubeClient } from '@kopf-ts/core';
import { systemClock } from '@kopf-ts/reactor';
import { recordingLogger } from '@kopf-ts/testing';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import type { ControlPlaneAccess } from '../../controlplane/index.js';
import type {} from '../global-setup.js';
import { newNamespace } from '../objects.js';
import { type KindOptions, newTestKind, type TestKind } from './kinds.js';

export interface TestCluster {
  readonly backend: 'embedded' | 'real';
  /** As the administrator; for operators. */
  readonly connection: ConnectionInfo;
  /** Also as the administrator; for the tests themselves. */
  readonly client: KubeClient;
  /** A namespace of nobody else. */
  newNamespace(): Promise<string>;
  /** A kind of nobody else, in a group of its own unless it is given. */
  newKind(options?: KindOptions): Promise<TestKind>;
  /** Somebody who may do only that, and only in that namespace; and who may discover kinds, as everybody may. */
  newUser(permissions: Permissions): Promise<ConnectionInfo>;
}

interface Permissions {
  readonly namespace: string;
  readonly group: string;
  readonly plural: string;
  /** Without it, they may patch the objects, too. */
  readonly isReadOnly?: boolean;
}

const real = inject('realCluster');

/** The same tests on each sort of cluster; the real one is left out where there is none. */
export function describeOnClusters(title: string, tests: (cluster: () => TestCluster) => void): void {
  describe(`${title} (the embedded server)`, () => {
    tests(shared(startEmbedded));
  });
  describe.skipIf(real.kind === 'unavailable')(`${title} (a real kube-apiserver)`, () => {
    tests(shared(() => Promise.resolve(connectedToReal())));
  });
}

/** The real cluster of the suite, for tests that make no sense on the other one. */
export function connectedToReal(): TestCluster & AsyncDisposable {
  return connectToReal(accessToReal());
}

/** Where the real cluster of the suite is. */
function accessToReal(): ControlPlaneAccess {
  if (real.kind === 'unavailable') throw new Error(`There is no real cluster: ${real.reason}.`);
  return real.access;
}

type Started = TestCluster & AsyncDisposable;

/** One for all tests of the block. */
function shared(start: () => Promise<Started>): () => TestCluster {
  let cluster: Started | undefined;
  beforeAll(async () => {
    cluster = await start();
  });
  afterAll(() => cluster?.[Symbol.asyncDispose]());
  return () => {
    if (cluster === undefined) throw new Error('There is no cluster outside of tests and hooks.');
    return cluster;
  };
}

/** For tests that make no sense on a real one, or would only take longer there. */
export async function startEmbedded(): Promise<Started> {
  const cluster = await localCluster();
  const connection = { server: cluster.url, token: cluster.token };
  const client = clientFor(connection);
  return {
    backend: 'embedded',
    connection,
    client,
    newNamespace: () => newNamespace(client),
    newKind: (options) => newTestKind(client, options),
    newUser: (permissions) => Promise.resolve(addEmbeddedUser(cluster, permissions)),
    async [Symbol.asyncDispose]() {
      await client.close();
      await cluster.stop();
    },
  };
}

function connectToReal({ url, ca, token }: ControlPlaneAccess): Started {
  const connection = { server: url, ca, token };
  const client = clientFor(connection);
  return {
    backend: 'real',
    connection,
    client,
    newNamespace: () => newNamespace(client),
    newKind: (options) => newTestKind(client, options),
    newUser: async (permissions) => ({ server: url, ca, token: await addServiceAccount(client, permissions) }),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function clientFor(connection: ConnectionInfo): HttpKubeClient {
  return kubeClient({ connection, clock: systemClock, logger: recordingLogger() });
}

/** The embedded server lets everybody do everything, so it is made to refuse. */
function addEmbeddedUser(
  cluster: LocalCluster,
  { namespace, group, plural, isReadOnly = false }: Permissions,
): ConnectionInfo {
  const token = cluster.security.addUser({ username: `user-${randomBytes(4).toString('hex')}` });
  const isOfUser = (authorization: string | string[] | undefined): boolean => authorization === `Bearer ${token}`;
  const permitted = new RegExp(`^/apis/${group}/[^/]+/namespaces/${namespace}/${plural}(/|$)`);
  const discovery = /^\/(version|api|api\/v1|apis|apis\/[^/]+|apis\/[^/]+\/[^/]+)$/;
  cluster.faults.add({
    match: {
      where({ method, url, headers }) {
        const path = url.split('?', 1)[0] ?? '';
        if (!isOfUser(headers['authorization'])) return false;
        return (isReadOnly && method === 'PATCH') || (!permitted.test(path) && !discovery.test(path));
      },
    },
    answer: { status: 403 },
  });
  return { server: cluster.url, token };
}

async function addServiceAccount(
  client: KubeClient,
  { namespace, group, plural, isReadOnly = false }: Permissions,
): Promise<string> {
  const name = `user-${randomBytes(4).toString('hex')}`;
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  const post = (path: string, body: AnyObject): Promise<AnyObject> => client.request({ method: 'POST', path, body });
  const verbs = ['list', 'watch', ...(isReadOnly ? [] : ['patch'])];
  await post(accounts, { metadata: { name } });
  await post(`${rbac}/roles`, {
    metadata: { name },
    rules: [{ apiGroups: [group], resources: [plural, `${plural}/status`], verbs }],
  });
  await post(`${rbac}/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  });
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  const answer = await post(`${accounts}/${name}/token`, request);
  return answer['status'].token;
}
