/** The hook in the write path: whatever may change or refuse an object before it is stored. */
import type { ServedObject, UserInfo } from './objects.js';
import type { ResourceInfo } from './resource.js';

export interface AdmissionAttributes {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly resource: ResourceInfo;
  /** Such as `status` or `scale`; empty for the object itself. */
  readonly subresource: string;
  /** Of the objects here, if they are of another kind than the resource, as `Scale` is. */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  /** Empty if the name will be generated. */
  readonly name: string;
  /** In the version of the request; absent for `DELETE`. */
  readonly object: ServedObject | undefined;
  /** In the version of the request; absent for `CREATE`. */
  readonly oldObject: ServedObject | undefined;
  /** `CreateOptions`, `UpdateOptions`, `PatchOptions` or `DeleteOptions`, with `apiVersion` and `kind`. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly dryRun: boolean;
  readonly userInfo: UserInfo;
  /** Collects what the client gets as `Warning` headers: one plain text each. */
  warn(text: string): void;
  /** Fired when the client goes away. */
  readonly signal: AbortSignal | undefined;
}

/** What the server itself says of a write: it asks nobody, and so nobody waits for it. All methods throw to refuse. */
export interface OwnAdmission {
  /** Before the webhooks are asked. The object is changed in place. */
  mutate(attributes: AdmissionAttributes): void;
  /** Before the webhooks are asked whether they object. */
  validate(attributes: AdmissionAttributes): void;
  /** After all others: what is counted here is going to be written. */
  charge(attributes: AdmissionAttributes): void;
}

/**
 * Both methods throw a `StatusError` to refuse. `isInterested` is asked first and is synchronous, since most
 * writes meet no webhook at all and should not wait even for a promise.
 */
export interface AdmissionPlugin {
  isInterested(attributes: AdmissionAttributes): boolean;
  /** Before the object is validated. Returns the object as it should be; the given one must not be changed. */
  mutate(attributes: AdmissionAttributes): Promise<ServedObject | undefined>;
  /** After the object is mutated and validated. */
  validate(attributes: AdmissionAttributes): Promise<void>;
}
