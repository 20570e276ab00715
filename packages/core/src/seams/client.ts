import type { Seconds } from './clock.js';

/**
 * The forms of patches that Kubernetes accepts.
 *
 * ```ts
 * const contentType: kopf.PatchType = 'application/merge-patch+json';
 * ```
 */
export type PatchType =
  | 'application/merge-patch+json'
  | 'application/json-patch+json'
  | 'application/apply-patch+yaml'
  | 'application/strategic-merge-patch+json';

/**
 * One request to the API server.
 *
 * ```ts
 * const request: kopf.KubeRequest = {
 *   method: 'PATCH',
 *   path: '/apis/kopf.dev/v1/namespaces/default/kopfexamples/web/status',
 *   contentType: 'application/merge-patch+json',
 *   body: { status: { phase: 'ready' } },
 * };
 * ```
 */
export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Server-relative, with the query: `/apis/kopf.dev/v1/kopfexamples?limit=500`. */
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: PatchType | 'application/json';
  /** For aggregated discovery, tables and the like. */
  readonly accept?: string;
  /** Limits on connecting and on the whole request; the client's settings apply where unset. */
  readonly timeouts?: { readonly connect?: Seconds; readonly headers?: Seconds; readonly total?: Seconds };
  /**
   * How persistently the client retries this request: `'none'` fails at once, for callers with a retry loop or a
   * fallback of their own; `'unless-forbidden'` fails at once only on HTTP 403, for callers that need to know about
   * missing permissions. By default, the client's settings apply.
   */
  readonly retries?: 'none' | 'unless-forbidden';
  /**
   * Checked at each attempt, right before sending: after all queues, pauses and connecting. If it returns false,
   * nothing is sent, and the request fails with `KOPF_REQUEST_FORBIDDEN`.
   */
  readonly mayBegin?: (() => boolean) | undefined;
  /**
   * For requests that keep the operator alive rather than do its work: leases, peering, probes. They never wait behind
   * ordinary requests, nor for pauses that the server has imposed on those. There must be only a few of them.
   */
  readonly urgent?: true;
  /**
   * For streams: called when the server has accepted the request (with 0 bytes), and then for each chunk of the
   * response, even for a part of a line. So a slow line can be told from silence. It must not throw. A client may
   * ignore it: then a line counts once it is complete.
   */
  readonly onProgress?: (progress: { readonly bytes: number }) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A request to switch to a message protocol, as for commands in containers.
 *
 * ```ts
 * const request: kopf.KubeConnectRequest = {
 *   path: '/api/v1/namespaces/default/pods/web/exec?command=date&stdout=true',
 *   protocols: ['v5.channel.k8s.io', 'v4.channel.k8s.io'],
 * };
 * ```
 */
export interface KubeConnectRequest {
  /** Server-relative, with the query. */
  readonly path: string;
  /** The acceptable message protocols, in the order of preference. */
  readonly protocols: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/**
 * Messages in both directions. Reading ends when the server closes the connection properly, and fails when it breaks or
 * when the signal aborts it. Leaving the loop closes it.
 *
 * ```ts
 * async function firstMessage(connection: kopf.KubeConnection): Promise<Uint8Array | undefined> {
 *   for await (const message of connection) return message;
 *   return undefined;
 * }
 * ```
 */
export interface KubeConnection extends AsyncIterable<Uint8Array> {
  /** The protocol chosen by the server. */
  readonly protocol: string;
  /** Resolves when the next message may be sent (backpressure). Rejects if the connection is closed. */
  send(message: Uint8Array): Promise<void>;
  close(): void;
}

/**
 * The connection to the cluster. Authentication, TLS, proxies, connection pools and retries live behind it; lists,
 * patches and watches are built on top of it (see `cluster/`).
 *
 * ```ts
 * const { items } = await client.request<{ items: kopf.Body[] }>({ method: 'GET', path: '/api/v1/pods?limit=500' });
 * for await (const event of client.stream<kopf.WatchEvent>({ method: 'GET', path: '/api/v1/pods?watch=true' })) {
 *   logger.info(`${event.type} after the first ${items.length} pods`);
 * }
 * ```
 */
export interface KubeClient {
  /**
   * One request, one JSON response. Throws `ApiError` for any status of 400 and above, and other errors for responses
   * that Kubernetes never gives: redirects, or an empty response where an object is expected.
   */
  request<T = unknown>(request: KubeRequest): Promise<T>;
  /** One request, a stream of JSON lines, until the server ends it or `signal` aborts it. */
  stream<T = unknown>(request: KubeRequest): AsyncIterable<T>;
  /**
   * One request, lines of plain text without line ends, until the server ends it or `signal` aborts it: for logs.
   * Optional: without it, the verb `log` fails and says so.
   */
  text?(request: KubeRequest): AsyncIterable<string>;
  /**
   * One request, messages in both directions. Throws `ApiError` if the server refuses. Optional: without it, the verb
   * `exec` fails and says so.
   */
  connect?(request: KubeConnectRequest): Promise<KubeConnection>;
}
