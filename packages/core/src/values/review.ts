/** The admission reviews as the API server sends and expects them, and what goes along with them. */
import type { AnyObject } from './objects/body.js';

/**
 * What is being done to the object.
 *
 * ```ts
 * const writes: readonly kopf.Operation[] = ['CREATE', 'UPDATE'];
 * kopf.on.validate('kopfexamples', { operations: writes }, ({ operation, logger }) => logger.info(operation));
 * ```
 */
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/**
 * The full name of a kind.
 *
 * ```ts
 * const job: kopf.GroupVersionKind = { group: 'batch', version: 'v1', kind: 'Job' };
 * ```
 */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/**
 * The full name of a resource.
 *
 * ```ts
 * const jobs: kopf.GroupVersionResource = { group: 'batch', version: 'v1', resource: 'jobs' };
 * ```
 */
export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  /** The plural name. */
  readonly resource: string;
}

/**
 * Who is doing it.
 *
 * ```ts
 * const isRobot = ({ username }: kopf.UserInfo): boolean => username?.startsWith('system:') ?? false;
 * ```
 */
export interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/**
 * The question: may this operation be done by this user to this object?
 *
 * ```ts
 * const isDryRun = (request: kopf.ReviewRequest): boolean => request.dryRun === true;
 * ```
 */
export interface ReviewRequest {
  readonly uid: string;
  readonly kind: GroupVersionKind;
  /** The resource as the webhook was registered for it: possibly of another version than was requested. */
  readonly resource: GroupVersionResource;
  readonly subResource?: string | null;
  readonly requestKind?: GroupVersionKind;
  /** The resource as the user has requested it. */
  readonly requestResource?: GroupVersionResource;
  readonly requestSubResource?: string | null;
  /** Absent for objects whose names are yet to be generated. */
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: Operation;
  readonly userInfo: UserInfo;
  /** The object as it is going to be; `null` when being deleted. */
  readonly object?: AnyObject | null;
  /** The object as it is now; `null` when being created. */
  readonly oldObject?: AnyObject | null;
  readonly dryRun?: boolean;
  /** The options of the operation: `CreateOptions`, `UpdateOptions`, `DeleteOptions`. */
  readonly options?: AnyObject | null;
}

/**
 * The answer.
 *
 * ```ts
 * const refusal: kopf.ReviewResponse = { uid: '1', allowed: false, status: { code: 400, message: 'Too big.' } };
 * ```
 */
export interface ReviewResponse {
  /** The same as in the request. */
  readonly uid: string;
  readonly allowed: boolean;
  /** Shown to the person by kubectl. */
  readonly warnings?: readonly string[];
  /** A JSON-patch as JSON in Base64. */
  readonly patch?: string;
  readonly patchType?: 'JSONPatch';
  /** Why it is not allowed. */
  readonly status?: ReviewStatus;
}

/**
 * Why a request is not allowed, for people and for programs.
 *
 * ```ts
 * const status: kopf.ReviewStatus = { code: 400, message: 'The size is missing.' };
 * ```
 */
export interface ReviewStatus {
  readonly message?: string;
  readonly code?: number;
}

/**
 * A review as it arrives; the versions of the API differ in little else than `apiVersion`.
 *
 * ```ts
 * const uidOf = ({ request }: kopf.AdmissionRequest): string => request.uid;
 * ```
 */
export interface AdmissionRequest {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly request: ReviewRequest;
}

/**
 * A review as it is answered.
 *
 * ```ts
 * const isAllowed = ({ response }: kopf.AdmissionResponse): boolean => response.allowed;
 * ```
 */
export interface AdmissionResponse {
  readonly apiVersion: string;
  readonly kind: string;
  readonly response: ReviewResponse;
}

/**
 * What a server knows of a request besides its body.
 *
 * ```ts
 * const hints: kopf.ReviewHints = { webhook: 'require_size', reason: 'validating', timeout: 10 };
 * ```
 */
export interface ReviewHints {
  /** The id of the handler that the request is for, if it is in the URL; all matching handlers if absent. */
  readonly webhook?: string;
  /** Restricts the handlers to one kind. */
  readonly reason?: 'validating' | 'mutating';
  readonly headers?: Readonly<Record<string, string>>;
  /** The client's certificate, as node's TLS describes it. */
  readonly sslPeer?: Readonly<Record<string, unknown>>;
  /** Seconds until the API server gives up, if it has told that: an answer that comes later is of no use to it. */
  readonly timeout?: number;
}

/**
 * How the API server can reach the webhook server: by a URL, or through a service in the cluster.
 *
 * ```ts
 * const config: kopf.WebhookClientConfig = { url: 'https://operator.example.com:9443/', caBundle: 'LS0tLS1CRUdJTi…' };
 * ```
 */
export interface WebhookClientConfig {
  /** The authority that has signed the server's certificate: PEM in Base64. */
  readonly caBundle?: string;
  readonly url?: string;
  readonly service?: WebhookServiceReference;
}

/**
 * A service in the cluster, by which the API server reaches the webhook server.
 *
 * ```ts
 * const service: kopf.WebhookServiceReference = { namespace: 'operators', name: 'kopfexamples', port: 443 };
 * ```
 */
export interface WebhookServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string;
  readonly port?: number;
}
