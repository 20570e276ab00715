/** Servers on the developer's own machine, for clusters that run in containers or virtual machines of that machine. */
import type { WebhookServer } from '@kopf-ts/core';
import type { WebhookServerOptions } from './server-options.js';
import { flavouredServer } from './webhook-server.js';

/** The names of the developer's machine inside the clusters of these tools. */
export const K3D_HOST = 'host.k3d.internal';
export const MINIKUBE_HOST = 'host.minikube.internal';
export const DOCKER_DESKTOP_HOST = 'host.docker.internal';

/**
 * A server for an operator beside a cluster in k3d or k3s. Callers are not authenticated by default:
 * see `verifyMode`.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.admission.server = kopf.webhooks.k3dServer({ cadump: 'ca.pem' });
 * });
 * ```
 */
export function k3dServer(options: WebhookServerOptions = {}): WebhookServer {
  return flavouredServer(options, { owner: 'k3dServer()', defaultHost: K3D_HOST });
}

/**
 * A server for an operator beside a cluster in Minikube. Callers are not authenticated by default:
 * see `verifyMode`.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.admission.server = kopf.webhooks.minikubeServer({ port: 9443 });
 * });
 * ```
 */
export function minikubeServer(options: WebhookServerOptions = {}): WebhookServer {
  return flavouredServer(options, { owner: 'minikubeServer()', defaultHost: MINIKUBE_HOST });
}

/**
 * A server for an operator beside the cluster of Docker Desktop. Callers are not authenticated by default:
 * see `verifyMode`.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.admission.server = kopf.webhooks.dockerDesktopServer();
 * });
 * ```
 */
export function dockerDesktopServer(options: WebhookServerOptions = {}): WebhookServer {
  return flavouredServer(options, { owner: 'dockerDesktopServer()', defaultHost: DOCKER_DESKTOP_HOST });
}
