import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { localCluster } from '@kopf-ts/apiserver';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../../controlplane/index.js';

/** A server that can be asked. */
export interface Target extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
  readonly token: string;
  readonly agent: HttpAgent;
  compact(): Promise<void>;
}

/**
 * kube-apiserver with etcd; of the controllers, only those whose work is that of the embedded server too.
 * With the others, every namespace and workload would change by itself, at its own pace.
 */
export const comparable: ControlPlaneOptions = {
  controllerManager: true,
  controllers: [
    'garbage-collector-controller',
    'namespace-controller',
    'serviceaccount-controller',
    'clusterrole-aggregation-controller',
    'resourcequota-controller',
  ],
  extraArgs: {
    apiServer: [
      // Tokens in pods and finalizers of volumes are made for controllers that do not run here.
      '--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection',
      '--anonymous-auth=true',
      // As every cluster that is set up by kubeadm has it.
      '--allow-privileged=true',
    ],
  },
};

export async function startRealTarget(): Promise<Target> {
  return targetOf('real', await startControlPlane(comparable));
}

function targetOf(name: string, controlPlane: ControlPlane): Target {
  const agent = new HttpsAgent({ ca: controlPlane.ca, keepAlive: true });
  return {
    name,
    url: controlPlane.url,
    token: controlPlane.token,
    agent,
    compact: () => controlPlane.compact(),
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await controlPlane.stop();
    },
  };
}

/** Ours, over plain HTTP, with the same administrator. */
export async function startEmbeddedTarget(): Promise<Target> {
  const cluster = await localCluster({ authorize: 'rbac' });
  const agent = new HttpAgent({ keepAlive: true });
  return {
    name: 'embedded',
    url: cluster.url,
    token: cluster.security.addUser({ username: 'admin', uid: 'admin', groups: ['system:masters'] }),
    agent,
    compact: async () => cluster.faults.compact(),
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await cluster.stop();
    },
  };
}
