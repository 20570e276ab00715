import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localCluster } from '@kopf-ts/apiserver';
import { startControlPlane } from '../../../controlplane/index.js';
import { comparable } from '../../harness/targets.js';

/** A server, and where the scripts on it have their folders. */
export interface Server extends AsyncDisposable {
  readonly name: string;
  /** Of the administrator, as text. */
  readonly kubeconfig: string;
  readonly kubectl: string;
  readonly folder: string;
}

export async function startRealServer(): Promise<Server> {
  const controlPlane = await startControlPlane({
    ...comparable,
    // Over TLS, namespaces have certificates.
    controllers: [...(comparable.controllers ?? []), 'root-ca-certificate-publisher-controller'],
    // As in usual clusters.
    extraArgs: { apiServer: [...(comparable.extraArgs?.apiServer ?? []), '--allow-privileged=true'] },
  });
  const kubeconfig = await readFile(controlPlane.kubeconfig, 'utf8');
  return serverOf('real', kubeconfig, controlPlane.kubectlPath, () => controlPlane.stop());
}

/** Ours, with the same administrator; by TLS, as kubectl sends no tokens over plain HTTP. */
export async function startEmbeddedServer(kubectl: string): Promise<Server> {
  const cluster = await localCluster({ tls: true, authorize: 'rbac' });
  const kubeconfig = cluster.kubeconfig({ username: 'admin', uid: 'admin', groups: ['system:masters'] });
  return serverOf('embedded', kubeconfig, kubectl, () => cluster.stop());
}

async function serverOf(name: string, kubeconfig: string, kubectl: string, stop: () => Promise<void>): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'kopf-ts-kubectl-'));
  return {
    name,
    kubeconfig,
    kubectl,
    folder,
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
