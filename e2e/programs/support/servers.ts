/** The two servers on which a program runs, and what it left there. */
import { type LocalClusterOptions, localCluster } from '@kopf-ts/apiserver';
import type { AnyObject, KubeClient } from '@kopf-ts/core';
import { inject, onTestFinished, type TestContext } from 'vitest';
import { clientOf } from '../../support/client.js';
import type {} from './real-server.js';

export interface Server {
  readonly name: 'embedded' | 'real';
  /** The path of a kubeconfig of an administrator. */
  readonly kubeconfig: string;
  readonly client: KubeClient;
}

/** By TLS: what is made with client-go sends no tokens over plain HTTP. It ends with the test. */
export async function embeddedServer(options: LocalClusterOptions = {}): Promise<Server> {
  const cluster = await localCluster({ tls: true, authorize: 'rbac', ...options });
  onTestFinished(() => cluster.stop());
  return { name: 'embedded', kubeconfig: await cluster.kubeconfigFile(), client: cluster.client };
}

/** The test is skipped where there is none. */
export function realServer({ skip }: Pick<TestContext, 'skip'>): Server {
  const found = inject('realServer');
  if (found.kind === 'unavailable') skip(found.reason);
  const access = (found as Extract<typeof found, { kind: 'installed' }>).it;
  const client = clientOf(access);
  onTestFinished(() => client.close());
  return { name: 'real', kubeconfig: access.kubeconfig, client };
}

/** A namespace for the program; on the real server, it is gone in the end. */
export async function makeNamespace({ client }: Server, name: string): Promise<void> {
  await client.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } });
}

/** All objects of these kinds in the order of their names; what is given as `deployments.apps/v1`, or `pods.v1`. */
export async function objectsIn(
  { client }: Server,
  namespace: string,
  kinds: readonly string[],
): Promise<Record<string, AnyObject[]>> {
  const found: Record<string, AnyObject[]> = {};
  for (const kind of kinds) {
    const [, plural = '', , group, version = ''] = /^(\w+)\.((.+)\/)?(\w+)$/.exec(kind) ?? [];
    const home = group === undefined ? `/api/${version}` : `/apis/${group}/${version}`;
    const path = `${home}/namespaces/${namespace}/${plural}`;
    const { items } = await client.request<{ items: AnyObject[] }>({ method: 'GET', path });
    found[plural] = items;
  }
  return found;
}
