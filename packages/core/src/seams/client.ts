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
  /** For aggregated discovery, Tables, and the like. */
  readonly accept?: string;
  /** Connect and whole-request limits; the client's settings apply where unset. */
  readonly timeouts?: { readonly connect?: Seconds; readonly headers?: Seconds; readonly total?: Seconds };
  /**
   * How persistent the client is with this request: `'none'` gives the first error at once, for callers that
   * have a retrying loop of their own or a fallback; `'unless-forbidden'` gives HTTP 403 at once, for those who are to
   * learn that they lack a permission. By default, the client's settings apply.
   */
  readonly retries?: 'none' | 'unless-forbidden';
  /**
   * Asked at each attempt, at the last moment before it is sent: after all queues, pauses and connecting. If it says
   * no, nothing is sent, and the request fails with `KOPF_REQUEST_FORBIDDEN`.
   */
  readonly mayBegin?: (() => boolean) | undefined;
  /**
   * For requests that keep the operator alive, not for those that do its work: leases, peering, probes. They never wait
   * behind ordinary requests, nor for pauses that the server has asked of these. There must be only a few of them.
   */
  readonly urgent?: true;
  /**
   * For streams: called when the server has agreed (with 0 bytes), and then for each piece of the answer, also if it is
   * only a part of a line. So a line that comes slowly is told from a silence. It must not throw, and may be ignored:
   * without it, a line counts when it is whole.
   */
  readonly onProgress?: (progress: { readonly bytes: number }) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A request to speak another protocol over the same way: messages in both directions, as with commands in containers.
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
  /** Which protocols of messages will do, the best first. */
  readonly protocols: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/**
 * Messages in both directions. Reading ends when the server closes the connection in order, and fails when it breaks or
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
  /** The one that the server has chosen. */
  readonly protocol: string;
  /** Resolves when the next message may be sent: so nobody sends faster than it is read. Rejects if it is closed. */
  send(message: Uint8Array): Promise<void>;
  close(): void;
}

/**
 * The way to the cluster. Authentication, TLS, proxies, connection pools and retries live behind it;
 * lists, patches and watches are built in front of it (see `cluster/`).
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
   * One request, one JSON answer. Throws `ApiError` for any answer of 400 and above; and other errors for what is no
   * answer of Kubernetes at all: redirects, or nothing where there should be an object.
   */
  request<T = unknown>(request: KubeRequest): Promise<T>;
  /** One request, a stream of JSON lines, until the server ends it or `signal` aborts it. */
  stream<T = unknown>(request: KubeRequest): AsyncIterable<T>;
  /**
   * One request, lines of plain text without their ends, until the server ends it or `signal` aborts it: for logs.
   * Optional: without it, the verb `log` says that the client cannot do it.
   */
  text?(request: KubeRequest): AsyncIterable<string>;
  /**
   * One request, messages in both directions. Throws `ApiError` if the server refuses. Optional: without it, the verb
   * `exec` says that the client cannot do it.
   */
  connect?(request: KubeConnectRequest): Promise<KubeConnection>;
}
