/** What the server says about when to come again, and the gate at which all requests to that server wait for it. */
import type { Clock, Seconds } from '@kopf-ts/core';

/** From the header, in seconds or as a date; else from the details of the `Status`. Fractions are cut. */
export function retryAfterOf(
  header: string | string[] | undefined,
  payload: unknown,
  clock: Pick<Clock, 'utc'>,
): Seconds | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (text) {
    if (/^\d+(?:\.\d*)?$/.test(text)) return Math.trunc(Number(text));
    const date = Date.parse(text);
    if (!Number.isNaN(date)) return Math.max(0, Math.ceil((date - clock.utc().getTime()) / 1000));
  }
  const seconds = (payload as { details?: { retryAfterSeconds?: unknown } | null } | undefined)?.details
    ?.retryAfterSeconds;
  return typeof seconds === 'number' && seconds > 0 ? Math.trunc(seconds) : undefined;
}

export interface Gate {
  readonly isClosed: boolean;
  /** Resolves when requests may be sent; at once, while the gate is open. Rejects with the signal's reason. */
  pass(signal?: AbortSignal): Promise<void>;
  /** Holds everyone for so long from now; never shortens what was said before. */
  closeFor(seconds: Seconds): void;
}

/** Those who wait go not all in the same instant, lest they meet the same answer again. */
const MAX_SPREAD: Seconds = 1;
const SPREAD_PART = 0.1;

export function gate(clock: Clock, random: () => number): Gate {
  let openAt = Number.NEGATIVE_INFINITY;
  let spread: Seconds = 0;
  const secondsLeft = (): Seconds => openAt - clock.now();
  return {
    get isClosed() {
      return secondsLeft() > 0;
    },
    async pass(signal) {
      while (secondsLeft() > 0) {
        await clock.sleep(secondsLeft() + spread * random(), signal === undefined ? {} : { signal });
      }
    },
    closeFor(seconds) {
      openAt = Math.max(openAt, clock.now() + seconds);
      spread = Math.min(MAX_SPREAD, SPREAD_PART * seconds);
    },
  };
}
