/** The answer to a review, made of what became of the handlers. */
import {
  AdmissionError,
  type AdmissionResponse,
  HandlerTimeoutError,
  PermanentError,
  type ReviewStatus,
  TemporaryError,
} from '@kopf-ts/core';
import { describeError } from '@kopf-ts/core/engine';
import type { Review } from './review-request.js';

/** What the handlers have left. */
export interface Results {
  /** In the order in which they happened. */
  readonly errors: readonly Error[];
  readonly warnings: readonly unknown[];
  /** A JSON-patch, as JSON. */
  readonly patch: string | undefined;
}

/** Allowed, unless there is any error. Whatever there is nothing to say about, is not mentioned at all. */
export function respond({ apiVersion, kind, uid }: Review, { errors, warnings, patch }: Results): AdmissionResponse {
  const [error] = [...errors].sort((one, another) => rankOf(one) - rankOf(another));
  return {
    apiVersion,
    kind,
    response: {
      uid,
      allowed: error === undefined,
      ...(warnings.length > 0 && { warnings: warnings.map(asText) }),
      ...(patch !== undefined && { patch: Buffer.from(patch).toString('base64'), patchType: 'JSONPatch' as const }),
      ...(error !== undefined && { status: statusOf(error) }),
    },
  };
}

/** Of several errors, the one that was most likely meant for the person is shown; of equals, the first one. */
function rankOf(error: Error): number {
  if (error instanceof AdmissionError) return 0;
  if (error instanceof PermanentError) return 1;
  if (error instanceof TemporaryError) return 2;
  return 9;
}

/** Never the stack: it is for the logs, not for the outer world. */
function statusOf(error: Error): ReviewStatus {
  return { message: asText(describeError(error)), code: codeOf(error) };
}

function codeOf(error: Error): number {
  if (error instanceof HandlerTimeoutError) return 504;
  if (!(error instanceof AdmissionError)) return 500;
  // What does not fit into 32 bits would make the whole response unreadable.
  const code = Math.trunc(error.status);
  return code !== 0 && code === (code | 0) ? code : 500;
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return String(value);
  } catch {
    // Some objects cannot become texts in any usual way, e.g. those without a prototype.
    return Object.prototype.toString.call(value);
  }
}
