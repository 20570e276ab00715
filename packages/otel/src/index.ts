/**
 * Traces of operators by OpenTelemetry: spans around cycles, handlers, requests and admission reviews, one inside of another.
 * It leaves sampling, exporting and the choice of propagation to the SDK of OpenTelemetry, and costs nothing without one.
 */
// biome-ignore-all assist/source/organizeImports: a table of contents, in the order of reading
export { openTelemetry, type OpenTelemetryOptions } from './open-telemetry.js';
export type { OpenTelemetryApi } from './api/otel-api.js';
