import { InMemorySpanExporter } from '@opentelemetry/sdk-trace-base';
import { otel } from 'kopf-ts';
import { expect, it, onTestFinished } from 'vitest';
import { newStage } from '../support/stage.js';
import { startTracing } from './tracing.js';

const handlers = new URL('handlers.ts', import.meta.url);

it('has one trace for an object and its child, with spans of handlers inside', async () => {
  const exporter = new InMemorySpanExporter();
  onTestFinished(startTracing(exporter));
  await using stage = await newStage();
  await using operator = await stage.run(handlers, { tracing: otel.openTelemetry({ onObjects: true }) });
  await stage.createExample();
  await stage.eventually(() => expect(operator.logs.find('Hello, kopf-example-1!')).toBeDefined());
  const spanOf = (name: string) =>
    exporter
      .getFinishedSpans()
      .find((span) => span.name === name || span.attributes['kopf.handler.id'] === name)
      ?.spanContext();
  await stage.eventually(() => expect(spanOf('greet')).toBeDefined());
  const { traceId } = spanOf('createConfig') ?? {};
  expect(traceId).toMatch(/^[0-9a-f]{32}$/);
  expect([spanOf('think')?.traceId, spanOf('greet')?.traceId]).toEqual([traceId, traceId]);
  const { metadata } = await stage.get('configmaps', 'kopf-example-1-config');
  expect(metadata?.annotations?.['kopf.zalando.org/traceparent']).toContain(traceId);
});
