import { ApiUnauthorizedError, KopfError, type KopfErrorOptions } from '@kopf-ts/core';

/**
 * The server was not reached, or the connection broke before the answer was complete. It may work the next time.
 *
 * ```ts
 * await client.request({ method: 'GET', path: '/version' }).catch((error: unknown) => {
 *   if (error instanceof kopf.client.KubeConnectionError) throw new kopf.TemporaryError('No answer.', { delay: 5 });
 *   throw error;
 * });
 * ```
 */
export class KubeConnectionError extends KopfError {
  constructor(message: string, options: KopfErrorOptions = {}) {
    super(message, { code: 'KOPF_CONNECTION', ...options });
    this.name = 'KubeConnectionError';
  }
}

/**
 * The server refused the connection for too long, or did not answer, or did not finish the answer in time.
 *
 * ```ts
 * const isSlow = (error: unknown): boolean => error instanceof kopf.client.KubeTimeoutError;
 * ```
 */
export class KubeTimeoutError extends KubeConnectionError {
  constructor(message: string, options: KopfErrorOptions = {}) {
    super(message, { code: 'KOPF_TIMEOUT', ...options });
    this.name = 'KubeTimeoutError';
  }
}

/** What the HTTP library failed with, in one line. Attempts at several addresses come with a text each, and none in all. */
export function failureText(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(failureText).join('; ');
  if (!(error instanceof Error)) return String(error);
  if (error.message !== '') return error.message;
  return (error as NodeJS.ErrnoException).code ?? error.name;
}

/** Not worth another attempt: it would be as large again. */
export function tooLarge(what: string, maxBytes: number, setting: string): KopfError {
  return new KopfError(
    `${what} has more than ${maxBytes} bytes; reading stopped. If this size is expected, raise settings.${setting}.`,
    { code: 'KOPF_TOO_LARGE' },
  );
}

/** What Node says of certificates that are not trusted, of those refused by the other side, and of unreadable ones. */
const ABOUT_CERTIFICATES =
  /^(?:CERT_|CRL_|ERROR_IN_C|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|HOSTNAME_MISMATCH|ERR_TLS_CERT_|ERR_OSSL_|ERR_SSL_.*(?:ALERT|CERT))/;

/**
 * Is it about the credentials, and may others help? Certificates are replaced in their files from time to time, those
 * that we trust as well as those of our own; and a file may be read when only a half of it is written.
 */
export function isAboutCredentials(error: unknown): boolean {
  if (error instanceof ApiUnauthorizedError) return true;
  if (!(error instanceof KopfError)) return false;
  if (error.code === 'KOPF_BAD_PEM') return true;
  const code: unknown = (error.cause as NodeJS.ErrnoException | undefined)?.code;
  return error instanceof KubeConnectionError && typeof code === 'string' && ABOUT_CERTIFICATES.test(code);
}
