/** Objects as the server handles them: plain JSON, in the shape of the version in which they are stored or served. */
import type { AnyObject, ObjectMeta } from '@kopf-ts/core';

export interface ServedObject extends AnyObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/**
 * Who makes a request.
 *
 * ```ts
 * import type { UserInfo } from 'kopf-ts/testing';
 * const robot: UserInfo = { username: 'system:serviceaccount:default:robot', groups: ['system:serviceaccounts'] };
 * ```
 */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** One reason why an object is refused, as `Status.details.causes` lists them. */
export interface Cause {
  /** `FieldValueRequired`, `FieldValueInvalid`, `FieldValueNotSupported`, `FieldValueTypeInvalid`, and so on. */
  readonly reason: string;
  /** Without the field: `Required value`, `Invalid value: "x": must be …`. */
  readonly message: string;
  readonly field: string;
}
