/**
 * Admission: servers and tunnels that the cluster can reach, their certificates, the webhook configurations,
 * and the way from a review to a response.
 * It leaves matching and running the handlers to `@kopf-ts/core`, and works beside `@kopf-ts/reactor`
 * without knowing it.
 */
// biome-ignore-all assist/source/organizeImports: a table of contents, in the order of reading

// The whole of it, as services of an operator; and the way from a review to a response alone.
export { admission, type AdmissionParts } from './admission.js';
export { reviewer, type ReviewerOptions, type ReviewParts } from './reviewing/reviewer.js';

// Servers, for the API server to reach: on the developer's machine, in a cluster, or by your own ways.
export { webhookServer } from './servers/webhook-server.js';
export { dockerDesktopServer, k3dServer, minikubeServer } from './servers/local-servers.js';
export { autoServer } from './servers/auto-server.js';
export { type ServiceServerOptions, serviceServer } from './servers/service-server.js';
export type {
  CertificateOptions,
  ListeningOptions,
  VerificationOptions,
  VerifyMode,
  WebhookServerOptions,
} from './servers/server-options.js';

// Tunnels, where servers cannot be reached.
export { type NgrokTunnelOptions, ngrokTunnel } from './tunnels/ngrok-tunnel.js';
export type { NgrokPackage } from './tunnels/ngrok-package.js';
export { type AutoTunnelOptions, autoTunnel } from './tunnels/auto-tunnel.js';

// Certificates.
export {
  type BuildCertificateOptions,
  type BuiltCertificate,
  buildCertificate,
} from './certificates/build-certificate.js';
export { type SelfSignedOptions, selfSignedCertificates } from './certificates/self-signed-certificates.js';
export { type SharedCertificatesOptions, sharedCertificates } from './certificates/sharing/shared-certificates.js';
export { type CertificateFilesOptions, certificateFiles } from './certificates/certificate-files.js';
export type { SecretReference } from './certificates/sharing/authority-secret.js';
export type { TlsMaterial, TlsSource, TlsSurroundings } from './certificates/tls-source.js';

// Configurations in the cluster.
export { type ReleasedWebhooks, type ReleaseWebhooksOptions, releaseWebhooks } from './configurations/releasing.js';
