/** How often handlers are called, how often that fails, how long it takes: of the last minutes, and of all the time. */
import type { Clock, ObservedHandler, Seconds } from '@kopf-ts/core';
import { shortName } from '../journal/texts.js';
import type { FactTakers } from './takers.js';

/**
 * A handler as it is declared.
 *
 * ```ts
 * const declared: kopf.insight.DeclaredHandler = { id: 'create_fn', kind: 'change', resource: 'kopfexamples' };
 * ```
 */
export interface DeclaredHandler extends ObservedHandler {
  /** What it is for, in words. */
  readonly resource?: string | undefined;
}

/** Rates are of the last 5 minutes; the rest is since the operator has started. */
interface HandlerRates {
  readonly id: string;
  readonly kind: ObservedHandler['kind'];
  readonly resource: string | undefined;
  readonly calls: number;
  readonly errors: number;
  readonly running: number;
  readonly perMinute: number;
  /** `undefined` if there were no calls. */
  readonly errorRatio: number | undefined;
  readonly meanSeconds: number | undefined;
}

export interface HandlerBook {
  readonly takers: FactTakers;
  view(): readonly HandlerRates[];
}

const SPAN: Seconds = 30;
const SPANS = 10;
/** Sub-handlers may have any ids: what is beyond is not shown. */
const MOST = 200;

interface Span {
  number: number;
  calls: number;
  errors: number;
  seconds: number;
}

interface Counted {
  readonly handler: ObservedHandler;
  calls: number;
  errors: number;
  running: number;
  readonly spans: Span[];
}

export function handlerBook(options: {
  readonly clock: Clock;
  readonly declared?: (() => Iterable<DeclaredHandler>) | undefined;
}): HandlerBook {
  const { clock, declared = () => [] } = options;
  const startedAt = clock.now();
  const all = new Map<string, Counted>();
  const begun = new Map<number, Counted>();

  const countedOf = (handler: ObservedHandler): Counted | undefined => {
    const key = `${handler.kind} ${handler.id}`;
    const known = all.get(key);
    if (known !== undefined || all.size >= MOST) return known;
    const made: Counted = { handler, calls: 0, errors: 0, running: 0, spans: [] };
    all.set(key, made);
    return made;
  };
  const spanOf = ({ spans }: Counted, at: Seconds): Span => {
    const number = Math.floor(at / SPAN);
    const last = spans.at(-1);
    if (last?.number === number) return last;
    const span = { number, calls: 0, errors: 0, seconds: 0 };
    spans.push(span);
    if (spans.length > SPANS) spans.shift();
    return span;
  };
  const viewOf = (resource: string | undefined, { handler, calls, errors, running, spans }: Counted): HandlerRates => {
    const now = clock.now();
    const recent = spans.filter(({ number }) => number > Math.floor(now / SPAN) - SPANS);
    const total = (what: 'calls' | 'errors' | 'seconds'): number => recent.reduce((sum, span) => sum + span[what], 0);
    const minutes = Math.max(SPAN, Math.min(now - startedAt, SPAN * SPANS)) / 60;
    const recentCalls = total('calls');
    return {
      id: shortName(handler.id) ?? '',
      kind: handler.kind,
      resource,
      calls,
      errors,
      running,
      perMinute: rounded(recentCalls / minutes),
      errorRatio: recentCalls === 0 ? undefined : rounded(total('errors') / recentCalls),
      meanSeconds: recentCalls === 0 ? undefined : rounded(total('seconds') / recentCalls),
    };
  };

  return {
    takers: {
      'call.began'({ call, handler }) {
        const counted = countedOf(handler);
        if (counted === undefined) return;
        counted.running += 1;
        begun.set(call, counted);
      },
      'call.ended'({ call, handler, outcome, duration, at }) {
        const running = begun.get(call);
        if (running !== undefined) {
          running.running -= 1;
          begun.delete(call);
        }
        const counted = countedOf(handler);
        if (counted === undefined) return;
        const isError = outcome !== 'succeeded' ? 1 : 0;
        const span = spanOf(counted, at);
        counted.calls += 1;
        counted.errors += isError;
        span.calls += 1;
        span.errors += isError;
        span.seconds += duration;
      },
    },
    view() {
      const resources = new Map<string, Set<string>>();
      for (const handler of declared()) {
        countedOf({ id: handler.id, kind: handler.kind });
        const key = `${handler.kind} ${handler.id}`;
        const titles = resources.get(key) ?? new Set();
        if (handler.resource !== undefined) titles.add(handler.resource);
        resources.set(key, titles);
      }
      return [...all].map(([key, counted]) => viewOf([...(resources.get(key) ?? [])].join(', ') || undefined, counted));
    },
  };
}

/** Three digits that matter: more would only make everything look changed all the time. */
function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
