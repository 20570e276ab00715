/** The answer to a review, made of what became of the handlers. */
import {
  AdmissionError,
  type AdmissionResponse,
  HandlerTimeoutError,
  PermanentError,
  type ReviewStatus,
  TemporaryError,
  WebhookError,
} from '@kopf-ts/core';
import { describeError } from '@kopf-ts/core/engine';
import type { Review } from './review-request.js';

/** An error, and where it comes from: for the log, and for the person. */
export interface Failure {
  readonly error: Error;
  /** The beginning of a sentence: `Webhook 'check'`. */
  readonly by: string;
}

/** What the handlers have left. */
export interface Results {
  /** In the order in which they happened. */
  readonly failures: readonly Failure[];
  readonly warnings: readonly unknown[];
  /** A JSON-patch, as JSON. */
  readonly patch: string | undefined;
  /** As Kopf does: the texts of all errors are told. */
  readonly isTellingAll: boolean;
}

/** Allowed, unless there is an error. Fields without content are left out. */
export function respond({ apiVersion, kind, uid }: Review, results: Results): AdmissionResponse {
  const { failures, warnings, patch, isTellingAll } = results;
  const [failure] = [...failures].sort((one, another) => rankOf(one.error) - rankOf(another.error));
  return {
    apiVersion,
    kind,
    response: {
      uid,
      allowed: failure === undefined,
      ...(warnings.length > 0 && { warnings: warnings.map(asText) }),
      ...(patch !== undefined && { patch: Buffer.from(patch).toString('base64'), patchType: 'JSONPatch' as const }),
      ...(failure !== undefined && { status: statusOf(failure, uid, isTellingAll) }),
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

/** Errors of these classes are meant for people; in all others, there may be anything: addresses, names, passwords. */
export function isMeant(error: Error): boolean {
  return error instanceof PermanentError || error instanceof TemporaryError || error instanceof WebhookError;
}

/** Never the stack: it is for the logs, not for the outer world. */
function statusOf({ error, by }: Failure, uid: string, isTellingAll: boolean): ReviewStatus {
  const isTold = isTellingAll || isMeant(error);
  const message = isTold
    ? asText(describeError(error))
    : `${by} has failed unexpectedly. See the operator's log for the review ${uid}.`;
  return { message, code: codeOf(error) };
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
