/** Which local cluster it is, and by which name it knows the machine that it runs on. */
import { connect, type PeerCertificate } from 'node:tls';
import { type Clock, type ConnectionInfo, isMapping, type KubeClient, type Logger, type Seconds } from '@kopf-ts/core';
import { alarm, describeError, onAbort } from '@kopf-ts/core/engine';
import { DOCKER_DESKTOP_HOST, K3D_HOST, MINIKUBE_HOST } from './local-servers.js';

export interface DetectionParts {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  connection(): Promise<ConnectionInfo>;
}

/** A certificate, as far as it tells of the cluster. */
export type TellingCertificate = Pick<PeerCertificate, 'subject' | 'issuer' | 'subjectaltname'>;

const CONNECT_TIMEOUT: Seconds = 5;

/**
 * The name of this machine inside the cluster, if that is one of the local clusters that we know: by the certificate
 * of the API server, or else by its version. Failures only mean that it is not known; unless aborted.
 */
export async function detectHost(parts: DetectionParts): Promise<string | undefined> {
  const byCertificate = await attempted('certificate', parts, async () => {
    const certificate = await certificateOf(await parts.connection(), parts);
    return certificate && hostByCertificate(certificate);
  });
  return byCertificate ?? (await attempted('version', parts, async () => hostByVersion(await versionOf(parts))));
}

async function attempted(
  what: string,
  { logger, signal }: DetectionParts,
  attempt: () => Promise<string | undefined>,
): Promise<string | undefined> {
  try {
    return await attempt();
  } catch (error) {
    signal.throwIfAborted();
    logger.debug(`The ${what} of the API server does not identify the kind of cluster: ${describeError(error)}`);
    return undefined;
  }
}

/** Every tool has its own habits of naming things. */
export function hostByCertificate({ subject, issuer, subjectaltname }: TellingCertificate): string | undefined {
  const has = (names: string | string[] | undefined, name: string): boolean => [names ?? []].flat().includes(name);
  const [ownName, ownOrganization, issuerName] = [subject?.CN, subject?.O, issuer?.CN];
  if (has(ownName, 'k3s') || has(ownOrganization, 'k3s')) return K3D_HOST;
  if ([issuerName ?? []].flat().some((name) => name.startsWith('k3s-'))) return K3D_HOST;
  if (has(ownName, 'minikube') || has(issuerName, 'minikubeCA')) return MINIKUBE_HOST;
  if ((subjectaltname ?? '').split(', ').includes('DNS:docker-for-desktop')) return DOCKER_DESKTOP_HOST;
  return undefined;
}

export function hostByVersion(gitVersion: string): string | undefined {
  return gitVersion.includes('+k3s') ? K3D_HOST : undefined;
}

async function versionOf({ client, signal }: DetectionParts): Promise<string> {
  const version = await client.request({ method: 'GET', path: '/version', retries: 'none', signal });
  const gitVersion = isMapping(version) ? version['gitVersion'] : undefined;
  return typeof gitVersion === 'string' ? gitVersion : '';
}

/** Nothing is sent, and nothing is believed but for which name to use: so nothing has to be verified. */
async function certificateOf(
  { server, serverName }: ConnectionInfo,
  { clock, signal }: DetectionParts,
): Promise<TellingCertificate | undefined> {
  const { protocol, hostname, port } = new URL(server);
  if (protocol !== 'https:') return undefined;
  signal.throwIfAborted();
  return await new Promise((resolve, reject) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || 443),
      rejectUnauthorized: false,
      ...(serverName === undefined ? {} : { servername: serverName }),
    });
    const leave = (): void => {
      cancel();
      forget();
      socket.destroy();
    };
    const fail = (error: unknown): void => {
      leave();
      reject(error);
    };
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerCertificate();
      leave();
      resolve(certificate);
    });
    // Not once: what happens to a connection that is given up is of no interest, but still an error.
    socket.on('error', fail);
    const cancel = alarm(clock, CONNECT_TIMEOUT, () =>
      fail(new Error('The API server did not complete the TLS handshake in time.')),
    );
    const forget = onAbort(signal, fail);
  });
}
