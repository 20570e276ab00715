/** Pausing one object by an annotation: until when its handlers are held back. */
import { type Body, type Clock, parseTimestamp, type ReportMalformed, type Seconds } from '@kopf-ts/core';

/** In monotonic time; `undefined` if it is not paused, or no longer. */
export function pausedUntil(
  body: Body,
  annotation: string,
  clock: Clock,
  /** Few objects have anything malformed, so its reporter is created on demand. */
  malformed: () => ReportMalformed,
): Seconds | undefined {
  const text: unknown = body.metadata?.annotations?.[annotation];
  if (text === undefined || text === null) return undefined;
  const until = typeof text === 'string' ? parseTimestamp(text) : undefined;
  if (until === undefined) {
    malformed()(
      `Annotation "${annotation}" is not a valid time, so it does not pause the object. Use a time such as 2030-12-31T23:59:59Z.`,
    );
    return undefined;
  }
  const left = (until.getTime() - clock.utc().getTime()) / 1000;
  return left > 0 ? clock.now() + left : undefined;
}
