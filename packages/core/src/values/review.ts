/** The admission reviews as the API server sends and expects them, and what goes along with them. */
import type { AnyObject } from './objects/body.js';

/** What is being done to the object. */
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  /** The plural name. */
  readonly resource: string;
}

/** Who is doing it. */
export interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The question: may this operation be done by this user to this object? */
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

/** The answer. */
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

export interface ReviewStatus {
  readonly message?: string;
  readonly code?: number;
}

/** A review as it arrives; the versions of the API differ in little else than `apiVersion`. */
export interface AdmissionRequest {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly request: ReviewRequest;
}

/** A review as it is answered. */
export interface AdmissionResponse {
  readonly apiVersion: string;
  readonly kind: string;
  readonly response: ReviewResponse;
}

/** What a server knows of a request besides its body. */
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

/** How the API server can reach the webhook server: by a URL, or through a service in the cluster. */
export interface WebhookClientConfig {
  /** The authority that has signed the server's certificate: PEM in Base64. */
  readonly caBundle?: string;
  readonly url?: string;
  readonly service?: WebhookServiceReference;
}

export interface WebhookServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string;
  readonly port?: number;
}
