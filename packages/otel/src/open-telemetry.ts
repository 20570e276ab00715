/** Spans around the work of an operator, by whichever SDK of OpenTelemetry the process has. */
import { readFileSync } from 'node:fs';
import type { Seconds, TracedWork, Tracing } from '@kopf-ts/core';
import { isThenable, toError } from '@kopf-ts/core/engine';
import { loadApi } from './api/load-api.js';
import type { OpenTelemetryApi, OtelContext, OtelSpan, OtelSpanContext, OtelTracer } from './api/otel-api.js';
import { describe, ofFailure } from './spans/describing.js';
import { spanContextOf, traceparentOf } from './spans/traceparent.js';

/**
 * How an operator is traced.
 *
 * ```ts
 * const options: kopf.otel.OpenTelemetryOptions = { onObjects: true, continueFor: 600 };
 * ```
 */
export interface OpenTelemetryOptions {
  /** The package `@opentelemetry/api`. Default: as it is installed. */
  readonly api?: OpenTelemetryApi | undefined;
  /**
   * Whether traces travel on objects: what a handler creates is annotated, and its own handling goes on with the same
   * trace. Whoever may annotate objects may then add to traces. Default: no.
   */
  readonly onObjects?: boolean | undefined;
  /** For so long after its creation an object continues the trace of its creator; later on, it is only linked to it. Default: 300. */
  readonly continueFor?: Seconds | undefined;
}

const NAME = '@kopf-ts/otel';

/** As in `@opentelemetry/api`. */
const ERROR = 2;

/**
 * Traces of an operator, by the SDK of OpenTelemetry that is registered in the process at that time. If there is none,
 * nothing is traced, and it costs next to nothing. Throws `KOPF_NO_OPENTELEMETRY` if there is not even the package
 * `@opentelemetry/api`.
 *
 * ```ts
 * await kopf.run({ clusterwide: true, tracing: kopf.otel.openTelemetry({ onObjects: true }) });
 * ```
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Tracing {
  const { api = loadApi(), onObjects = false, continueFor = 300 } = options;
  const tracing = new Spans(api, onObjects ? continueFor : undefined);
  return {
    around: (work, fn) => tracing.around(work, fn),
    headers: () => tracing.headers(),
    ...(onObjects && { mark: () => tracing.mark() }),
  };
}

/** Where a span belongs. */
interface Place {
  readonly context: OtelContext;
  readonly link?: OtelSpanContext;
}

class Spans {
  readonly #api: OpenTelemetryApi;
  readonly #tracer: OtelTracer;
  /** `undefined` if objects are not believed. */
  readonly #continueFor: Seconds | undefined;
  #isLive = false;

  constructor(api: OpenTelemetryApi, continueFor: Seconds | undefined) {
    this.#api = api;
    this.#tracer = api.trace.getTracer(NAME, ownVersion());
    this.#continueFor = continueFor;
  }

  around<R>(work: TracedWork, fn: () => R): R {
    if (!this.#hasSdk()) return fn();
    const { context: contexts, trace } = this.#api;
    const { name, ...description } = describe(work);
    const { context, link } = this.#placeOf(work);
    const links = link === undefined ? [] : [{ context: link }];
    const span = this.#tracer.startSpan(name, { ...description, links }, context as never);
    // Of an SDK that does nothing, there is nothing to go on with.
    if (!span.isRecording() && !trace.isSpanContextValid(span.spanContext() as never)) return fn();
    const inside = trace.setSpan(context as never, span as never);
    try {
      const result = contexts.with(inside as never, fn);
      if (!isThenable(result)) {
        span.end();
        return result;
      }
      result.then(
        () => span.end(),
        (error) => fail(span, error, work),
      );
      return result;
    } catch (error) {
      fail(span, error, work);
      throw error;
    }
  }

  /** Once there is one, it stays. Until then, nothing is to be made for it: describing the work costs most of it all. */
  #hasSdk(): boolean {
    if (this.#isLive) return true;
    const provider = this.#api.trace.getTracerProvider() as { getDelegateTracer?(name: string): unknown };
    this.#isLive = provider.getDelegateTracer === undefined || provider.getDelegateTracer(NAME) !== undefined;
    return this.#isLive;
  }

  headers(): Readonly<Record<string, string>> {
    const carrier: Record<string, string> = {};
    this.#api.propagation.inject(this.#api.context.active() as never, carrier);
    return carrier;
  }

  mark(): string | undefined {
    const { trace, context } = this.#api;
    const spanContext = trace.getSpanContext(context.active() as never);
    const isThere = spanContext !== undefined && trace.isSpanContextValid(spanContext as never);
    return isThere ? traceparentOf(spanContext) : undefined;
  }

  /** What has begun the operator goes on nowhere: it may have ended long ago. */
  #placeOf(work: TracedWork): Place {
    const { ROOT_CONTEXT, trace, context, propagation } = this.#api;
    switch (work.kind) {
      case 'cycle': {
        const { origin } = work;
        if (origin === undefined || this.#continueFor === undefined) return { context: ROOT_CONTEXT };
        const creator = spanContextOf(origin.mark);
        if (creator === undefined) return { context: ROOT_CONTEXT };
        // The traces of things that live for months would never end.
        if (origin.age > this.#continueFor) return { context: ROOT_CONTEXT, link: creator };
        return { context: trace.setSpanContext(ROOT_CONTEXT as never, creator as never) };
      }
      case 'review':
        return { context: propagation.extract(ROOT_CONTEXT as never, work.headers ?? {}) };
      case 'call': {
        const isOnItsOwn = work.handler.kind === 'daemon' || work.handler.kind === 'timer';
        return { context: isOnItsOwn ? ROOT_CONTEXT : context.active() };
      }
      case 'request':
        return { context: context.active() };
    }
  }
}

function fail(span: OtelSpan, thrown: unknown, work: TracedWork): void {
  const error = toError(thrown);
  span.recordException(error);
  span.setAttributes(ofFailure(error, work));
  span.setStatus({ code: ERROR, message: error.message });
  span.end();
}

/** Absent in a bundle. */
function ownVersion(): string | undefined {
  try {
    const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
    const { name, version } = JSON.parse(text) as { readonly name?: string; readonly version?: string };
    return name === '@kopf-ts/otel' ? version : undefined;
  } catch {
    return undefined;
  }
}
