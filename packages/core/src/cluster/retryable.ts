/** What an error of a request says about the same request at another time. */
import { ApiError } from '../errors.js';
import { isMapping } from '../values/json.js';

/**
 * When the same request may succeed:
 *
 * - `later`, by itself: the server is overloaded or down, or the connection is broken;
 * - `after-changes` by others: of permissions, of credentials, of the object or its version;
 * - `never`: the cluster has understood it and refused it, or the client refuses to send it.
 */
export type Retryable = 'later' | 'after-changes' | 'never';

const AFTER_CHANGES: ReadonlySet<number> = new Set([401, 403, 404, 408, 409]);

/** The only policy of its kind: how patient to be, and with which of the answers, is up to the callers. */
export function retryable(error: unknown): Retryable {
  if (!(error instanceof ApiError)) return isLossy(error) ? 'never' : 'later';
  if (isDenied(error) || isTooLarge(error)) return 'never';
  const { status } = error;
  if (status === 429 || (status >= 500 && status < 600)) return 'later';
  return status < 500 && !AFTER_CHANGES.has(status) ? 'never' : 'after-changes';
}

/** The client itself does not send numbers that would come out changed. */
function isLossy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'KOPF_LOSSY_INTEGER';
}

/** Whether an admission webhook or policy has refused what was asked for; whatever the code of the answer is. */
export function isDenied(error: unknown): boolean {
  return error instanceof ApiError && /denied (the )?request/.test(error.message);
}

/** What etcd, or the servers on the way to it, say of requests that are too large for them. */
const TOO_LARGE = [/request is too large/i, /larger than max/i, /request entity too large/i];

/** Whether the cluster has refused the object for its size, and not for what is in it. It does not shrink by waiting. */
export function isTooLarge(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  if (error.status === 413) return true;
  if (error.status === 422) return causesOf(error).some(isAboutAnnotations);
  return error.status >= 500 && TOO_LARGE.some((pattern) => pattern.test(error.message));
}

/** Other fields may be too long by the schema of their kind: that is of no concern to us. */
function isAboutAnnotations(cause: unknown): boolean {
  return isMapping(cause) && cause.reason === 'FieldValueTooLong' && cause.field === 'metadata.annotations';
}

function causesOf({ details }: ApiError): readonly unknown[] {
  return Array.isArray(details?.causes) ? details.causes : [];
}
