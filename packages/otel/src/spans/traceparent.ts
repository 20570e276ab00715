/** The mark that travels on objects: the same text as in the header `traceparent` of W3C, always 55 characters. */
import type { OtelSpanContext } from '../api/otel-api.js';

const FORM = /^00-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})$/;

export function traceparentOf({ traceId, spanId, traceFlags }: OtelSpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 1).toString().padStart(2, '0')}`;
}

/** `undefined` if it is none: anybody may have written anything there. */
export function spanContextOf(traceparent: string): OtelSpanContext | undefined {
  const { traceId = '', spanId = '', flags = '' } = FORM.exec(traceparent)?.groups ?? {};
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}
