/**
 * The one annotation by which a trace goes on from the handling of one object to that of another one. Annotations of
 * this domain are never in the essence, neither for us nor for Kopf: so it is nobody's change.
 */
import type { Body } from './body.js';

/** Independent of the storage's prefix: other operators of the object may have another one. */
export const TRACE_ANNOTATION = 'kopf.zalando.org/traceparent';

/** In characters; longer marks are neither written nor read. */
const MAX_MARK = 512;

export function isTraceMark(mark: unknown): mark is string {
  return typeof mark === 'string' && mark !== '' && mark.length <= MAX_MARK;
}

/** The trace mark on the object. */
export function traceMarkOf({ metadata }: Body): string | undefined {
  const mark: unknown = metadata?.annotations?.[TRACE_ANNOTATION];
  return isTraceMark(mark) ? mark : undefined;
}
