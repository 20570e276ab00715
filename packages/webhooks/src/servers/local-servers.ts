/** Servers on the developer's own machine, for clusters that run in containers or virtual machines of that machine. */
import type { WebhookServer } from '@kopf-ts/core';
import type { WebhookServerOptions } from './server-options.js';
import { flavouredServer } from './webhook-server.js';

/** The names of the developer's machine inside the clusters of these tools. */
export const K3D_HOST = 'host.k3d.internal';
export const MINIKUBE_HOST = 'host.minikube.internal';
export const DOCKER_DESKTOP_HOST = 'host.docker.internal';

/** A server for an operator beside a cluster in k3d or k3s. */
export function k3dServer(options: WebhookServerOptions = {}): WebhookServer {
  return flavouredServer(options, { owner: 'k3dServer()', defaultHost: K3D_HOST });
}

/** A server for an operator beside a cluster in Minikube. */
export function minikubeServer(options: WebhookServerOptions = {}): WebhookServer {
  return flavouredServer(options, { owner: 'minikubeServer()', defaultHost: MINIKUBE_HOST });
}

/** A server for an operator beside the cluster of Docker Desktop. */
export function dockerDesktopServer(options: WebhookServerOptions = {}): WebhookServer {
  return flavouredServer(options, { owner: 'dockerDesktopServer()', defaultHost: DOCKER_DESKTOP_HOST });
}
