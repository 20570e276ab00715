/** A tunnel as a `WebhookServer`: an ordinary server on this machine, and whatever makes it reachable from outside. */
import { type WebhookClientConfig, type WebhookServer, webhooks } from 'kopf-ts';

export interface Exposure {
  /** What the cluster is to call. */
  readonly url: string;
  /** Base64 of the PEM of the authority, if it is none of those that everybody trusts. */
  readonly caBundle?: string;
  /** Takes it back. */
  close(): Promise<void>;
}

/**
 * Makes a port of this machine reachable. When the signal aborts, it accepts nobody any more, by itself; but those who
 * are connected get their answers, until it is closed.
 */
export type Expose = (port: number, signal: AbortSignal) => Promise<Exposure>;

export function tunnel(expose: Expose): WebhookServer {
  // Requests, their limits, bad input, errors, and a graceful end are done by the server; TLS is done by the tunnel.
  const server = webhooks.webhookServer({ addr: '127.0.0.1', insecure: true });
  return {
    async *serve(at): AsyncGenerator<WebhookClientConfig, void, undefined> {
      let exposed: Exposure | undefined;
      try {
        for await (const { url: localUrl = '' } of server.serve(at)) {
          await exposed?.close();
          exposed = await expose(Number(new URL(localUrl).port), at.signal);
          const { url, caBundle } = exposed;
          at.logger.info(`The tunnel is open at ${url}.`);
          yield { url, ...(caBundle === undefined ? {} : { caBundle }) };
        }
      } finally {
        // The server has answered everybody by now.
        await exposed?.close();
      }
    },
  };
}
