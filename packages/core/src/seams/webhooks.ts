import type { AdmissionRequest, AdmissionResponse, ReviewHints, WebhookClientConfig } from '../values/review.js';
import type { KubeClient } from './client.js';
import type { Clock } from './clock.js';
import type { ConnectionInfo } from './credentials.js';
import type { Logger } from './logger.js';

/**
 * Provided by the framework, called by the servers.
 *
 * ```ts
 * const allowAll: kopf.ReviewFn = async ({ request }) => ({
 *   apiVersion: 'admission.k8s.io/v1',
 *   kind: 'AdmissionReview',
 *   response: { uid: request.uid, allowed: true },
 * });
 * ```
 */
export type ReviewFn = (request: AdmissionRequest, hints?: ReviewHints) => Promise<AdmissionResponse>;

/**
 * A server or a tunnel: accepts admission requests, passes them to `review`, and sends the responses. Yields the
 * address for the API server: once when started, and again whenever it changes. Ends, with all its sockets closed, when
 * `signal` aborts.
 *
 * ```ts
 * const server: kopf.WebhookServer = kopf.webhooks.webhookServer({ port: 9443, host: 'operator.example.com' });
 * kopf.on.startup(({ settings }) => {
 *   settings.admission.server = server;
 * });
 * ```
 */
export interface WebhookServer {
  serve(at: {
    readonly review: ReviewFn;
    readonly signal: AbortSignal;
    readonly logger: Logger;
    readonly clock: Clock;
    readonly client: KubeClient;
    connection(): Promise<ConnectionInfo>;
    /**
     * Reports requests and connections that are refused without a review: too large, too many, or not reviews.
     * Observers get it as the fact `webhook.refused`.
     */
    readonly refused?:
      | ((refusal: {
          /** The HTTP status of the response; absent if the connection was closed without any. */
          readonly code: number | undefined;
          /** In words. */
          readonly why: string;
          /** The address of the caller, if it is known. */
          readonly from: string | undefined;
        }) => void)
      | undefined;
    /** Reports the expiration of the certificate in use: the fact `webhook.certified`. */
    readonly certified?: ((until: Date) => void) | undefined;
  }): AsyncIterable<WebhookClientConfig>;
}
