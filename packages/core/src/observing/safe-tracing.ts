/**
 * Tracing that can do no harm. A tracer is somebody else's code around all the work of the operator: whatever it does
 * wrong, the work is done once, and ends as it would end without it.
 */
import { describeError, KopfError, toError } from '../errors.js';
import type { TracedWork, Tracing } from '../seams/inspection/tracing.js';
import type { Logger } from '../seams/logger.js';

export interface SafeTracingOptions {
  readonly tracing: Tracing;
  /** Where it is reported, once, that the tracing breaks its contract. */
  readonly logger: Logger;
}

type End =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'thrown'; readonly error: unknown };

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/**
 * The same tracing, but `around` calls `fn` exactly once and synchronously, and returns or throws what `fn` does; and
 * `headers` and `mark` give nothing but strings. The first breach of the contract is reported, and no other.
 *
 * Where there is no tracing, nothing is to be made for it:
 *
 * ```ts
 * return tracing === undefined ? work() : tracing.around({ kind: 'cycle', object }, () => work());
 * ```
 */
export function safeTracing({ tracing, logger }: SafeTracingOptions): Tracing {
  refuseMistakes(tracing);
  let isReported = false;
  const report = (what: string, thrown?: { readonly error: unknown }): void => {
    if (isReported) return;
    isReported = true;
    const error = thrown && toError(thrown.error);
    const why = error === undefined ? '' : `: ${describeError(error)}`;
    try {
      logger.error(
        `The tracing ${what}${why}. The operator goes on as it would without it; its further mistakes are not reported.`,
        error && { error },
      );
    } catch {
      // A logger that throws must not make the tracing matter.
    }
  };

  return {
    around<R>(work: TracedWork, fn: () => R): R {
      let end: End | undefined;
      const once = (): unknown => {
        if (end === undefined) end = endOf(fn);
        else report(`has called the function of a ${work.kind} more than once`);
        if (end.kind === 'thrown') throw end.error;
        return end.value;
      };
      let ofTracing: End = endOf(() => tracing.around(Object.freeze(work), once));
      if (end === undefined) {
        if (ofTracing.kind === 'thrown') report(`has failed before a ${work.kind}`, ofTracing);
        else report(`has not called the function of a ${work.kind}`);
        // What it may still call by itself, later, gets the same end.
        ofTracing = endOf(once);
      }
      const own = end as unknown as End;
      checkEnd(own, ofTracing, (what, thrown) => report(`${what} a ${work.kind}`, thrown));
      if (own.kind === 'thrown') throw own.error;
      return own.value as R;
    },
    headers() {
      const headers = endOf(() => tracing.headers());
      if (headers.kind === 'thrown') {
        report('has failed to give headers', headers);
        return NO_HEADERS;
      }
      const { value } = headers;
      if (typeof value === 'object' && value !== null && Object.values(value).every((one) => typeof one === 'string')) {
        return value as Readonly<Record<string, string>>;
      }
      report('has given headers that are not strings');
      return NO_HEADERS;
    },
    ...(tracing.mark && { mark: () => markOf(tracing, report) }),
  };
}

function markOf(tracing: Tracing, report: (what: string, thrown?: { readonly error: unknown }) => void) {
  const mark = endOf(() => tracing.mark?.());
  if (mark.kind === 'thrown') {
    report('has failed to give a mark', mark);
    return undefined;
  }
  if (mark.value === undefined || typeof mark.value === 'string') return mark.value;
  report('has given a mark that is no string');
  return undefined;
}

function endOf(fn: () => unknown): End {
  try {
    return { kind: 'returned', value: fn() };
  } catch (error) {
    return { kind: 'thrown', error };
  }
}

/** What the tracing has made of the end of the work: it is of no use to anybody, but must not be lost without a word. */
function checkEnd(
  own: End,
  ofTracing: End,
  report: (what: string, thrown?: { readonly error: unknown }) => void,
): void {
  if (ofTracing.kind === 'thrown') {
    if (own.kind === 'returned' || own.error !== ofTracing.error) report('has failed after', ofTracing);
    return;
  }
  if (own.kind === 'returned' && own.value === ofTracing.value) return;
  // Another promise of the same end is what async functions make; but nobody else waits for it, nor for its rejection.
  if (isThenable(ofTracing.value)) ofTracing.value.then(undefined, () => {});
  if (own.kind === 'thrown') {
    report('has hidden the error of');
    return;
  }
  if (!isThenable(own.value) || !isThenable(ofTracing.value)) report('has replaced the result of');
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

function refuseMistakes({ around, headers, mark }: Tracing): void {
  const hasMark = mark === undefined || typeof mark === 'function';
  if (typeof around === 'function' && typeof headers === 'function' && hasMark) return;
  throw new KopfError('A tracing needs two functions: `around` and `headers`; and may have a third one: `mark`.', {
    code: 'KOPF_TRACING',
  });
}
