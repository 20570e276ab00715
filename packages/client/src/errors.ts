import { ApiUnauthorizedError, KopfError, type KopfErrorOptions } from '@kopf-ts/core';

/**
 * The server was not reached, or the connection broke before the response was complete. A retry may succeed.
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
 * The server was unreachable, silent, or slow for longer than the limits.
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

/**
 * The failure of the HTTP library in one line. Attempts at several addresses have a text each, and the whole has none.
 */
export function failureText(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(failureText).join('; ');
  if (!(error instanceof Error)) return String(error);
  if (error.message !== '') return error.message;
  return (error as NodeJS.ErrnoException).code ?? error.name;
}

/** Not worth another attempt: the response would be as large again. */
export function tooLarge(what: string, maxBytes: number, setting: string): KopfError {
  return new KopfError(
    `${what} has more than ${maxBytes} bytes; reading stopped. If this size is expected, raise settings.${setting}.`,
    { code: 'KOPF_TOO_LARGE' },
  );
}

/** Node's error codes for untrusted certificates, refused certificates, and unreadable ones. */
const ABOUT_CERTIFICATES =
  /^(?:CERT_|CRL_|ERROR_IN_C|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|HOSTNAME_MISMATCH|ERR_TLS_CERT_|ERR_OSSL_|ERR_SSL_.*(?:ALERT|CERT))/;

/**
 * Whether the credentials are to blame, so that others may help. Certificates are rotated in their files, those that we
 * trust as well as our own; and a file may be read while it is only half written.
 */
export function isAboutCredentials(error: unknown): boolean {
  if (error instanceof ApiUnauthorizedError) return true;
  if (!(error instanceof KopfError)) return false;
  if (error.code === 'KOPF_BAD_PEM') return true;
  const code: unknown = (error.cause as NodeJS.ErrnoException | undefined)?.code;
  return error instanceof KubeConnectionError && typeof code === 'string' && ABOUT_CERTIFICATES.test(code);
}
