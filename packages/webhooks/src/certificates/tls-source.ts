/** The seam between certificates and servers: servers know only this, wherever the certificates come from. */
import type { SecureContextOptions } from 'node:tls';
import type { Clock, KubeClient, Logger } from '@kopf-ts/core';

/**
 * What a server is to speak TLS with, as of now.
 *
 * ```ts
 * import { createServer } from 'node:https';
 * const serve = ({ secure }: kopf.webhooks.TlsMaterial) => createServer(secure).listen(9443);
 * ```
 */
export interface TlsMaterial {
  /** For `tls.createSecureContext()` and `server.setSecureContext()`: the certificate, its key, the passphrase. */
  readonly secure: SecureContextOptions;
  /**
   * PEM of all the authorities that callers are to trust now: both the old and the new one during a roll-over.
   * `undefined` if the callers know them otherwise.
   */
  readonly authorities: string | undefined;
}

/**
 * What a source of certificates may use.
 *
 * ```ts
 * const surroundings: kopf.webhooks.TlsSurroundings = { signal, clock, logger, client };
 * ```
 */
export interface TlsSurroundings {
  readonly signal: AbortSignal;
  /** Of servers, its `utc()` is the real time: callers check certificates by that, also where tests move a clock. */
  readonly clock: Clock;
  readonly logger: Logger;
  readonly client: KubeClient;
}

/**
 * Where a server takes its certificates from.
 *
 * ```ts
 * const fixed: kopf.webhooks.TlsSource = {
 *   async *materials({ signal, clock }) {
 *     const { certificate, privateKey } = await kopf.webhooks.buildCertificate(['localhost']);
 *     yield { secure: { cert: certificate, key: privateKey }, authorities: certificate };
 *     await clock.sleep(Number.POSITIVE_INFINITY, { wakeup: signal });
 *   },
 * };
 * ```
 */
export interface TlsSource {
  /**
   * Yields at once, then on every change of the certificate or of the authorities; ends when aborted.
   * Ask for the next one only when the previous one is in use and its authorities are announced: a new certificate
   * is only ever yielded when its authority has been among `authorities` for long enough to be known to everybody.
   */
  materials(at: TlsSurroundings): AsyncIterable<TlsMaterial>;
}
