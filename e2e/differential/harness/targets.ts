import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { localCluster } from '@kopf-ts/apiserver';
import { type ControlPlane, startControlPlane } from '../../controlplane/index.js';

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
export async function startRealTarget(): Promise<Target> {
  const controlPlane = await startControlPlane({
    controllerManager: true,
    controllers: ['garbage-collector-controller', 'namespace-controller'],
    // Accounts of pods and finalizers of volumes are made for controllers that do not run here.
    extraArgs: { apiServer: ['--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection'] },
  });
  return targetOf('real', controlPlane);
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
  const cluster = await localCluster();
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
