/** A server or a tunnel, whichever lets the cluster reach an operator on the developer's machine. */
import type { WebhookClientConfig, WebhookServer } from '@kopf-ts/core';
import { isCancellation } from '@kopf-ts/core/engine';
import { detectHost } from '../servers/cluster-detection.js';
import { checkOptions } from '../servers/option-checks.js';
import type { ServerSurroundings } from '../servers/serving.js';
import { webhookServer } from '../servers/webhook-server.js';
import { NGROK_CHECKS, type NgrokTunnelOptions, ngrokTunnel } from './ngrok-tunnel.js';

/**
 * Where to listen; and the rest, for the case that a tunnel is needed.
 *
 * ```ts
 * const options: kopf.webhooks.AutoTunnelOptions = { port: 9443 };
 * ```
 */
export type AutoTunnelOptions = NgrokTunnelOptions;

const OWNER = 'autoTunnel()';

/**
 * A local server if the cluster is known to be local, else a tunnel of ngrok. Callers are not authenticated:
 * it is for development only.
 *
 * ```ts
 * kopf.on.startup(({ settings }) => {
 *   settings.admission.server = kopf.webhooks.autoTunnel();
 * });
 * ```
 */
export function autoTunnel(options: AutoTunnelOptions = {}): WebhookServer {
  checkOptions(OWNER, options, NGROK_CHECKS);
  return { serve: (at) => serveDetected(at, options) };
}

async function* serveDetected(
  at: ServerSurroundings,
  options: AutoTunnelOptions,
): AsyncGenerator<WebhookClientConfig, void, void> {
  if (at.signal.aborted) return;
  let host: string | undefined;
  try {
    host = await detectHost(at);
  } catch (error) {
    if (isCancellation(error, at.signal)) return;
    throw error;
  }
  if (host === undefined) {
    at.logger.info('This is not a known local cluster, so an ngrok tunnel is used for webhooks.');
    yield* ngrokTunnel(options).serve(at);
  } else {
    at.logger.info(`The cluster is local and knows this machine as ${host}: webhooks need no tunnel.`);
    const { addr, port, path } = options;
    yield* webhookServer({ addr, port, path, host }).serve(at);
  }
}
