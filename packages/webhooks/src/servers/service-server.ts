/** A server in a pod, which the API server reaches through a Service. */
import { readFile } from 'node:fs/promises';
import type { WebhookClientConfig, WebhookServer, WebhookServiceReference } from '@kopf-ts/core';
import { badOption, checkOptions, type OptionChecks, PATH, PORT, TEXT } from './option-checks.js';
import {
  type CertificateOptions,
  checkListening,
  checkTlsOptions,
  LISTENING_CHECKS,
  type ListeningOptions,
  TLS_CHECKS,
  type VerificationOptions,
} from './server-options.js';
import { type ServerSurroundings, serveReviews } from './serving.js';
import { tlsMaterials } from './tls-materials.js';

/**
 * Which Service is in front of the server, and how its certificates are shared.
 *
 * ```ts
 * const options: kopf.webhooks.ServiceServerOptions = {
 *   service: { name: 'kopfexamples', namespace: 'operators' },
 *   secret: { name: 'kopfexamples-webhook-ca' },
 * };
 * ```
 */
export interface ServiceServerOptions
  extends ListeningOptions,
    Omit<CertificateOptions, 'secret'>,
    VerificationOptions {
  /** The Service in front of us. */
  readonly service: {
    readonly name: string;
    /** Default: the variable `POD_NAMESPACE`, or the namespace of the pod that this process runs in. */
    readonly namespace?: string | undefined;
    /** Of the Service, not of the pod. Default: 443. */
    readonly port?: number | undefined;
    /** Where admission requests are accepted: `<path>/<handler id>`. Default: directly under the root. */
    readonly path?: string | undefined;
  };
  /** The port of the pod to listen on: what the Service has as its `targetPort`. Default: 9443. */
  readonly port?: number | undefined;
  /** The secret to share the authority through, for several replicas. By default, in the namespace of the service. */
  readonly secret?: { readonly name: string; readonly namespace?: string | undefined } | undefined;
}

const OWNER = 'serviceServer()';
const PORT_OF_POD = 9443;
const NAMESPACE_OF_POD = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

const CHECKS: OptionChecks<ServiceServerOptions> = {
  service: {
    must: 'an object with the name of the service, such as { name: "webhooks", namespace: "default" }',
    accepts: (value) =>
      typeof value === 'object' && value !== null && TEXT.accepts((value as Record<string, unknown>)['name']),
  },
  ...LISTENING_CHECKS,
  ...TLS_CHECKS,
  secret: {
    must: 'an object with the name of the secret, such as { name: "webhooks-certificates" }',
    accepts: (value) =>
      typeof value === 'object' && value !== null && TEXT.accepts((value as Record<string, unknown>)['name']),
  },
};

const SERVICE_CHECKS: OptionChecks<ServiceServerOptions['service']> = {
  name: TEXT,
  namespace: TEXT,
  port: PORT,
  path: PATH,
};

/**
 * An HTTPS server that is announced as a Service instead of a URL, with certificates for the names that the API server
 * uses then. Several replicas need one authority: share it through a `secret`, or give the certificates.
 *
 * Callers are not authenticated, unless `verifyMode: 'required'` and `verifyCafile` say by whom their certificates are
 * signed: anybody who can reach the server can send reviews.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.admission.server = kopf.webhooks.serviceServer({
 *     service: { name: 'kopfexamples', namespace: 'operators' },
 *     secret: { name: 'kopfexamples-webhook-ca' },
 *   });
 * });
 * ```
 */
export function serviceServer(options: ServiceServerOptions): WebhookServer {
  checkOptions(OWNER, options, CHECKS);
  if (options.service === undefined) throw badOption(`${OWNER} needs to know the service: { service: { name } }.`);
  checkOptions(`the service of ${OWNER}`, options.service, SERVICE_CHECKS);
  if (options.secret !== undefined) {
    checkOptions(`the secret of ${OWNER}`, options.secret, { name: TEXT, namespace: TEXT });
  }
  checkListening(OWNER, options);
  const namespace = options.secret?.namespace ?? options.service.namespace ?? '';
  checkTlsOptions(OWNER, { ...options, secret: options.secret && { namespace, name: options.secret.name } });
  return { serve: (at) => serveService(at, options) };
}

async function* serveService(
  at: ServerSurroundings,
  options: ServiceServerOptions,
): AsyncGenerator<WebhookClientConfig, void, void> {
  if (at.signal.aborted) return;
  const { name, port, path = '' } = options.service;
  const namespace = options.service.namespace ?? (await ownNamespace());
  if (namespace === undefined) {
    throw badOption(
      'The namespace of the service is not known, since this process is in no pod: ' +
        `give it to ${OWNER} as { service: { name: ${JSON.stringify(name)}, namespace: … } }.`,
    );
  }
  // The API server appends the id after a slash, whether there is one or not.
  const plainPath = path.replace(/\/+$/, '');
  const service: WebhookServiceReference = {
    namespace,
    name,
    ...(plainPath === '' ? {} : { path: plainPath }),
    ...(port === undefined ? {} : { port }),
  };
  const { secret, extraSans = [], ...rest } = options;
  const hosts = [...namesOfService(name, namespace), ...extraSans];
  const certificates: CertificateOptions =
    secret === undefined ? rest : { ...rest, secret: { namespace: secret.namespace ?? namespace, name: secret.name } };
  yield* serveReviews(at, {
    options: { ...options, port: options.port ?? PORT_OF_POD },
    path: plainPath,
    materials: tlsMaterials(certificates, hosts),
    announce: () => ({ service }),
  });
}

/** The API server uses the one with `.svc`; people and other programs use them all. */
function namesOfService(name: string, namespace: string): readonly string[] {
  const qualified = `${name}.${namespace}`;
  return [`${qualified}.svc`, name, qualified, `${qualified}.svc.cluster.local`];
}

/** The namespace of the pod that this process runs in, if it does. */
export async function ownNamespace(
  env: Readonly<Record<string, string | undefined>> = process.env,
  file: string = NAMESPACE_OF_POD,
): Promise<string | undefined> {
  const named = env['POD_NAMESPACE'];
  if (named) return named;
  try {
    return (await readFile(file, 'utf8')).trim() || undefined;
  } catch {
    return undefined;
  }
}
