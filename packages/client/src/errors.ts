import { KopfError, type KopfErrorOptions } from '@kopf-ts/core';

/** The server was not reached, or the connection broke before the answer was complete. It may work the next time. */
export class KubeConnectionError extends KopfError {
  constructor(message: string, options: KopfErrorOptions = {}) {
    super(message, { code: 'KOPF_CONNECTION', ...options });
    this.name = 'KubeConnectionError';
  }
}

/** The server did not let itself be connected to, or did not answer, or did not finish the answer in time. */
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
    `${what} has more than ${maxBytes} bytes, and was not read any further. If that is right, raise settings.${setting}.`,
    { code: 'KOPF_TOO_LARGE' },
  );
}
