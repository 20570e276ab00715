/** What a failure of a watch-stream means for what to do next. */
import { ApiError, type ApiStatus, ApiTooManyRequestsError, apiError } from '../errors.js';
import type { Seconds } from '../seams/clock.js';
import { isMapping } from '../values/json.js';

/**
 * - `expired`: the server does not remember the version that we have; list anew.
 * - `refused`: the server says no. Maybe it says so because of the version; so list anew if it goes on like this.
 * - `busy`: the server asks to come later.
 * - `broken`: the connection or what comes through it is broken; the version is still good.
 */
export type FailureKind = 'expired' | 'refused' | 'busy' | 'broken';

const EXPIRED_REASONS: ReadonlySet<string> = new Set(['Expired', 'Gone']);

export function judgeFailure(error: unknown): { readonly kind: FailureKind; readonly retryAfter: Seconds } {
  if (!(error instanceof ApiError)) return { kind: 'broken', retryAfter: 0 };
  const retryAfter = error.retryAfter ?? 0;
  if (error.status === 410 || EXPIRED_REASONS.has(error.reason ?? '')) return { kind: 'expired', retryAfter };
  if (error instanceof ApiTooManyRequestsError) return { kind: 'busy', retryAfter };
  return { kind: 'refused', retryAfter };
}

/** The server has no notion of streamed lists: it says so by refusing the request for one as invalid. */
export function isAboutUnknownOptions(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 400 || error.status === 422);
}

/** Errors can come inside of a stream, with HTTP 200: the same errors as they would be with their own HTTP codes. */
export function errorOfEvent(object: unknown): ApiError {
  const status = (isMapping(object) ? object : {}) as Partial<ApiStatus>;
  const retryAfter = status.details?.retryAfterSeconds;
  return apiError({
    status: typeof status.code === 'number' ? status.code : 500,
    payload: object,
    ...(typeof retryAfter === 'number' ? { retryAfter } : {}),
  });
}
