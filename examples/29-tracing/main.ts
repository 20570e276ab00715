import * as kopf from 'kopf-ts';
import './handlers.js';
import { ConsoleSpanExporter } from '@opentelemetry/sdk-trace-base';
import { startTracing } from './tracing.js';

startTracing(new ConsoleSpanExporter());

await kopf.run({ tracing: kopf.otel.openTelemetry({ onObjects: true }), clusterwide: true });
