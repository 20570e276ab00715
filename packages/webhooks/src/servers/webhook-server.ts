/** The server that all others are made of. */
import type { WebhookServer } from '@kopf-ts/core';
import { checkServerOptions, type WebhookServerOptions } from './server-options.js';
import { accessibleAddress, formatUrl } from './server-urls.js';
import { serveReviews } from './serving.js';
import { plainMaterials, tlsMaterials } from './tls-materials.js';

/**
 * An HTTPS server in this process. By default, it listens on all interfaces, on any free port, with a certificate that
 * it makes and renews by itself; and says that it is reached as `localhost`: which holds for API servers on the same
 * machine only, so elsewhere say `host` or `url`.
 *
 * Callers are not authenticated, unless `verifyMode: 'required'` and `verifyCafile` say by whom their certificates are
 * signed: anybody who can reach the server can send reviews.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.admission.server = kopf.webhooks.webhookServer({ port: 9443, host: 'operator.example.com' });
 *   settings.admission.managed = 'kopfexamples.example.com';
 * });
 * ```
 */
export function webhookServer(options: WebhookServerOptions = {}): WebhookServer {
  return flavouredServer(options, { owner: 'webhookServer()' });
}

export interface Flavour {
  /** The name of the function, for errors. */
  readonly owner: string;
  /** Under which name the API server can reach us, if no other is given. */
  readonly defaultHost?: string | undefined;
}

/** The same server, known by another name. */
export function flavouredServer(options: WebhookServerOptions, { owner, defaultHost }: Flavour): WebhookServer {
  checkServerOptions(owner, options);
  const { addr, path = '', url, insecure = false } = options;
  const host = options.host ?? defaultHost ?? accessibleAddress(addr);
  const scheme = insecure ? 'http' : 'https';
  const names = [...(url === undefined ? [] : [hostOf(url)]), host, accessibleAddress(addr), ...(addr ? [addr] : [])];
  const hosts = [...new Set([...names, ...(options.extraSans ?? [])])];
  const materials = insecure ? plainMaterials(options) : tlsMaterials(options, hosts);
  const announce = (port: number) => ({ url: url ?? formatUrl({ scheme, host, port, path }) });
  return { serve: (at) => serveReviews(at, { options, path, materials, announce }) };
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '');
}
