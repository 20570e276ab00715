/**
 * Admission: servers and tunnels that the cluster can reach, their certificates, the webhook configurations,
 * and the way from a review to a response.
 * It leaves matching and running the handlers to `@kopf-ts/core`, and works beside `@kopf-ts/reactor`
 * without knowing it.
 */
// Certificates.
export { type BuildCertificateOptions, type BuiltCertificate, buildCertificate } from './certificates/build.js';
export { type SelfSignedOptions, selfSignedCertificates } from './certificates/self-signed.js';
export { type SharedCertificatesOptions, sharedCertificates } from './certificates/shared.js';
export { type CertificateFilesOptions, certificateFiles } from './certificates/files.js';
export type { SecretReference } from './certificates/authority-secret.js';
export type { TlsMaterial, TlsSource, TlsSurroundings } from './certificates/source.js';

// Configurations in the cluster.
export { type ReleasedWebhooks, type ReleaseWebhooksOptions, releaseWebhooks } from './configurations/release.js';
