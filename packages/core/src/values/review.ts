/** Admission reviews as the API server sends and expects them, and their context. */
import type { AnyObject } from './objects/body.js';

/**
 * The requested operation on the object.
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
 * The user behind the request.
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
 * The request: an operation by a user on an object.
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
  /** The resource as requested by the user. */
  readonly requestResource?: GroupVersionResource;
  readonly requestSubResource?: string | null;
  /** Absent for objects whose names are yet to be generated. */
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: Operation;
  readonly userInfo: UserInfo;
  /** The object after the operation; `null` when being deleted. */
  readonly object?: AnyObject | null;
  /** The object before the operation; `null` when being created. */
  readonly oldObject?: AnyObject | null;
  readonly dryRun?: boolean;
  /** The options of the operation: `CreateOptions`, `UpdateOptions`, `DeleteOptions`. */
  readonly options?: AnyObject | null;
}

/**
 * The response to the request.
 *
 * ```ts
 * const refusal: kopf.ReviewResponse = { uid: '1', allowed: false, status: { code: 400, message: 'Too big.' } };
 * ```
 */
export interface ReviewResponse {
  /** The same as in the request. */
  readonly uid: string;
  readonly allowed: boolean;
  /** Shown to the user by kubectl. */
  readonly warnings?: readonly string[];
  /** A JSON-patch: JSON in Base64. */
  readonly patch?: string;
  readonly patchType?: 'JSONPatch';
  /** The reason for a denial. */
  readonly status?: ReviewStatus;
}

/**
 * The reason for a denial, for people and for programs.
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
 * A review as received; versions of the API differ in little but `apiVersion`.
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
 * A review as returned.
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
 * The data of a request besides its body.
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
  /** The client's certificate as described by Node's TLS. */
  readonly sslPeer?: Readonly<Record<string, unknown>>;
  /** Seconds until the API server gives up, if known: it ignores later responses. */
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
  /** The authority that signed the server's certificate: PEM in Base64. */
  readonly caBundle?: string;
  readonly url?: string;
  readonly service?: WebhookServiceReference;
}

/**
 * A service in the cluster through which the API server reaches the webhook server.
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
