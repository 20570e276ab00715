/**
 * Admission: servers and tunnels that the cluster can reach, their certificates, the webhook configurations,
 * and the way from a review to a response.
 * It leaves matching and running the handlers to `@kopf-ts/core`, and works beside `@kopf-ts/reactor`
 * without knowing it.
 */
// Certificates.
export type { TlsMaterial, TlsSource, TlsSurroundings } from './certificates/source.js';
