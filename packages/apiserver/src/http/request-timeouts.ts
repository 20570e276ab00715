/** How long a request may take, other than a watch: a minute, or less if the client asks for it. */
import type { Clock, Seconds } from '@kopf-ts/core';
import type { ApiAnswer } from '../contracts/request.js';
import { goQuote } from '../text/go-text.js';
import { badRequest, StatusError } from './status-errors.js';

const LONGEST: Seconds = 60;

/** Of the address of a request. Throws if it asks for a time that is none. */
export function timeoutOf(url: string): Seconds {
  if (!url.includes('timeout=')) return LONGEST;
  const text = new URLSearchParams(url.slice(url.indexOf('?') + 1)).get('timeout') ?? '';
  if (text === '') return LONGEST;
  const asked = durationOf(text);
  return asked > 0 ? Math.min(asked, LONGEST) : LONGEST;
}

/** The answer, or a refusal if it does not come in time: `leave` then ends whatever still works on it. */
export async function answeredWithin(
  clock: Clock,
  timeout: Seconds,
  answering: Promise<ApiAnswer>,
  leave: (why: Error) => void,
): Promise<ApiAnswer> {
  // Most answers are ready before anything else happens: a timer for each of them would cost more than they do.
  let isSettled = false;
  let soon: NodeJS.Immediate | undefined;
  const settle = (): void => {
    isSettled = true;
    // Whoever asks on and on, without a pause, would have all the answers kept by what waits for a pause.
    clearImmediate(soon);
  };
  answering.then(settle, settle);
  const since = clock.now();
  await Promise.race([
    answering,
    new Promise((resolve) => {
      soon = setImmediate(resolve);
    }),
  ]);
  if (isSettled) return await answering;

  const answered = new AbortController();
  const late = clock.sleep(since + timeout - clock.now(), { signal: answered.signal }).then(() => {
    leave(new Error(TOOK_TOO_LONG));
    return tookTooLong();
  });
  late.catch(() => {});
  try {
    return await Promise.race([answering, late]);
  } finally {
    answered.abort();
  }
}

const TOOK_TOO_LONG = 'Timeout: request did not complete within the allotted timeout';

/** Given by a part of the server that knows nothing of kinds and types of contents. */
function tookTooLong(): ApiAnswer {
  const { kind: _kind, apiVersion: _version, ...status } = new StatusError(504, 'Timeout', TOOK_TOO_LONG, {}).status;
  return { status: 504, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: JSON.stringify(status) };
}

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
};

/** As Go reads durations: `1m30s`, `0.5h`, `-1s`, `0`. */
function durationOf(text: string): Seconds {
  const refuse = (why: string): StatusError =>
    badRequest(`invalid timeout specified in the request URL - time: ${why} ${goQuote(text)}`);
  const [, sign = '', rest = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (rest === '0') return 0;
  if (rest === '') throw refuse('invalid duration');
  let seconds = 0;
  for (let at = 0; at < rest.length; ) {
    const [whole = '', number = '', unit = ''] = /^(\d*\.?\d*)([^\d.]*)/.exec(rest.slice(at)) ?? [];
    if (number === '' || number === '.') throw refuse('invalid duration');
    if (unit === '') throw refuse('missing unit in duration');
    const factor = UNITS[unit];
    if (factor === undefined) throw refuse(`unknown unit ${goQuote(unit)} in duration`);
    seconds += Number(number) * factor;
    at += whole.length;
  }
  return sign === '-' ? -seconds : seconds;
}
