/** The real SDK of OpenTelemetry, in the process of the tests; the spans that have ended are kept in the memory. */
import * as api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import { onTestFinished } from 'vitest';

export interface Sdk {
  /** Those that have ended. */
  readonly spans: readonly ReadableSpan[];
  named(name: string): readonly ReadableSpan[];
  /** The names of the spans around it and its own, from the outermost. */
  pathOf(span: ReadableSpan): string;
  flush(): Promise<void>;
}

export function startSdk({ isSampled = true, exporter }: { isSampled?: boolean; exporter?: SpanExporter } = {}): Sdk {
  const memory = new InMemorySpanExporter();
  const processors = [memory, ...(exporter ? [exporter] : [])].map((each) => new SimpleSpanProcessor(each));
  const provider = new BasicTracerProvider({
    sampler: isSampled ? new AlwaysOnSampler() : new AlwaysOffSampler(),
    spanProcessors: processors,
  });
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  api.propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  api.trace.setGlobalTracerProvider(provider);
  onTestFinished(async () => {
    api.trace.disable();
    api.context.disable();
    api.propagation.disable();
    await provider.shutdown();
  });
  const titleOf = ({ name, attributes }: ReadableSpan): string => {
    const id = attributes['kopf.handler.id'] ?? attributes['http.request.method'];
    return id === undefined ? name : `${name} ${String(id)}`;
  };
  return {
    get spans() {
      return memory.getFinishedSpans();
    },
    named: (name) => memory.getFinishedSpans().filter((span) => span.name === name),
    pathOf(span) {
      const path: string[] = [];
      for (let at: ReadableSpan | undefined = span; at !== undefined; ) {
        path.unshift(titleOf(at));
        const above: string | undefined = at.parentSpanContext?.spanId;
        at = memory.getFinishedSpans().find((each) => each.spanContext().spanId === above);
      }
      return path.join(' > ');
    },
    flush: () => provider.forceFlush(),
  };
}
