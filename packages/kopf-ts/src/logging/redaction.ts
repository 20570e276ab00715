/** Credentials are not for logs: neither by the names of fields, nor in texts. */

export const REDACTED = '***';

/**
 * Names of fields whose values are credentials, however they are spelled: `accessToken`, `access_token`, `Set-Cookie`.
 * A mere `secret` is not among them: in an operator, it is rather the name of an object.
 */
const CREDENTIAL =
  /^(proxy)?authorization$|^(set)?cookie$|token$|password$|passwd$|clientsecret$|(api|private|client|access|secret)key(data)?$/;

export function isCredential(name: string): boolean {
  return CREDENTIAL.test(name.toLowerCase().replaceAll(/[_-]/g, ''));
}

const IN_TEXT = /\b(Bearer|Basic)\s+[\w\-.~+/]{16,}=*/gi;

/** The text without the values of `Authorization` headers that may have come into it, e.g. with errors of clients. */
export function redactedText(text: string): string {
  return text.replaceAll(IN_TEXT, `$1 ${REDACTED}`);
}
