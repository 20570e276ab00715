import type { AdmissionRequest, AdmissionResponse, ReviewHints, WebhookClientConfig } from '../values/review.js';
import type { KubeClient } from './client.js';
import type { Clock } from './clock.js';
import type { ConnectionInfo } from './credentials.js';
import type { Logger } from './logger.js';

/**
 * Given by the framework, called by the servers.
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
 * A server or a tunnel: accepts the admission requests wherever it can, asks `review`, answers.
 * Yields how the API server can reach it: once when started, and again whenever that changes.
 * Ends, with all its sockets closed, when `signal` aborts.
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
     * To be told of requests and connections that are refused without asking `review`: too large, too many, no reviews
     * at all. The observers get it as the fact `webhook.refused`.
     */
    readonly refused?:
      | ((refusal: {
          /** Of the HTTP answer; absent if the connection was closed without any. */
          readonly code: number | undefined;
          /** In words. */
          readonly why: string;
          /** The address of the caller, if it is known. */
          readonly from: string | undefined;
        }) => void)
      | undefined;
    /** To be told until when the certificate is valid that is used from now on: the fact `webhook.certified`. */
    readonly certified?: ((until: Date) => void) | undefined;
  }): AsyncIterable<WebhookClientConfig>;
}
