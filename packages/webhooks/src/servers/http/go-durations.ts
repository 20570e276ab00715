/** The API server tells in the query how long it is going to wait, in the notation of Go. */
import type { Seconds } from '@kopf-ts/core';

const UNITS: Readonly<Record<string, Seconds>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
};
const WHOLE = /^\+?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;
/** Nobody waits for longer; and hostile texts take time to be read. */
const MAX_LENGTH = 64;

/** `10s`, `1m30s`, `500ms`; `undefined` for anything that is no positive duration. */
export function parseDuration(text: string): Seconds | undefined {
  if (text.length > MAX_LENGTH || !WHOLE.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit = ''] of text.matchAll(PART)) total += Number(amount) * (UNITS[unit] ?? 0);
  return total > 0 && Number.isFinite(total) ? total : undefined;
}
