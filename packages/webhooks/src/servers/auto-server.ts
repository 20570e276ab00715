/** A server on the developer's machine, for whatever local cluster there is. */
import type { WebhookClientConfig, WebhookServer } from '@kopf-ts/core';
import { isCancellation } from '@kopf-ts/core/engine';
import { detectHost } from './cluster-detection.js';
import { checkServerOptions, type WebhookServerOptions } from './server-options.js';
import type { ServerSurroundings } from './serving.js';
import { flavouredServer } from './webhook-server.js';

const OWNER = 'autoServer()';

/**
 * Finds out when started by which name the cluster knows this machine, and uses that, unless `host` or `url` is given.
 * For clusters that it does not know, it is the same as {@link webhookServer}. It never makes a tunnel.
 * Callers are not authenticated by default: see `verifyMode`.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.admission.server = kopf.webhooks.autoServer();
 * });
 * ```
 */
export function autoServer(options: WebhookServerOptions = {}): WebhookServer {
  checkServerOptions(OWNER, options);
  return { serve: (at) => serveDetected(at, options) };
}

async function* serveDetected(
  at: ServerSurroundings,
  options: WebhookServerOptions,
): AsyncGenerator<WebhookClientConfig, void, void> {
  const isKnown = options.host !== undefined || options.url !== undefined;
  const defaultHost = isKnown ? undefined : await detectedHost(at);
  if (at.signal.aborted) return;
  yield* flavouredServer(options, { owner: OWNER, defaultHost }).serve(at);
}

async function detectedHost(at: ServerSurroundings): Promise<string | undefined> {
  if (at.signal.aborted) return undefined;
  try {
    const host = await detectHost(at);
    if (host === undefined) {
      at.logger.info('This is not a known local cluster, so a plain local server is used for webhooks.');
    } else {
      at.logger.info(`The cluster is local and knows this machine as ${host}: webhooks use that name.`);
    }
    return host;
  } catch (error) {
    if (isCancellation(error, at.signal)) return undefined;
    throw error;
  }
}
