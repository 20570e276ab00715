/**
 * What is used of the package `@opentelemetry/api`, in words of our own: that package may be absent, and then nobody
 * could read our types if they were made of its types.
 */

/** Whatever the context is made of: only the API looks into it. */
export type OtelContext = object;

export interface OtelSpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
  readonly isRemote?: boolean;
}

export type OtelAttributes = Record<string, string | number | boolean>;

export interface OtelSpan {
  spanContext(): OtelSpanContext;
  isRecording(): boolean;
  setAttributes(attributes: OtelAttributes): unknown;
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  recordException(error: Error): unknown;
  end(): void;
}

interface OtelSpanOptions {
  kind?: number;
  attributes?: OtelAttributes;
  links?: { context: OtelSpanContext }[];
}

export interface OtelTracer {
  startSpan(name: string, options: OtelSpanOptions, context: never): OtelSpan;
}

/**
 * The package `@opentelemetry/api`, as far as it is needed here.
 *
 * ```ts
 * import * as api from '@opentelemetry/api';
 * const same: kopf.otel.OpenTelemetryApi = api;
 * const tracing = kopf.otel.openTelemetry({ api: same });
 * ```
 */
export interface OpenTelemetryApi {
  readonly ROOT_CONTEXT: OtelContext;
  readonly trace: {
    getTracer(name: string, version?: string): OtelTracer;
    getTracerProvider(): object;
    getSpanContext(context: never): OtelSpanContext | undefined;
    setSpan(context: never, span: never): OtelContext;
    setSpanContext(context: never, spanContext: never): OtelContext;
    isSpanContextValid(spanContext: never): boolean;
  };
  readonly context: {
    active(): OtelContext;
    with<R>(context: never, fn: () => R): R;
  };
  readonly propagation: {
    inject(context: never, carrier: Record<string, string>): void;
    extract(context: never, carrier: Readonly<Record<string, string>>): OtelContext;
  };
}
