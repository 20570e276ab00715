/** Credentials are not for logs: neither by the names of fields, nor in texts. */

export const REDACTED = '***';

/**
 * Names of fields whose values are credentials, however they are spelled: `accessToken`, `access_token`, `Set-Cookie`.
 * A mere `secret` is not among them: in an operator, it is rather the name of an object.
 */
const CREDENTIAL =
  /^(proxy)?authorization$|^(set)?cookie$|token$|password$|passwd$|clientsecret$|(api|private|client|access|secret)key(data)?$/;

/** What is worth looking at closer: most names are not. */
const SUSPICIOUS = /auth|cookie|token|passw|secret|key/i;

export function isCredential(name: string): boolean {
  if (!SUSPICIOUS.test(name)) return false;
  return CREDENTIAL.test(name.toLowerCase().replaceAll(/[_-]/g, ''));
}

const IN_TEXT = /\b(Bearer|Basic)\s+[\w\-.~+/]{16,}=*/gi;

/** Shorter texts cannot have any. */
const SHORTEST = 'Basic '.length + 16;

/** The text without the values of `Authorization` headers that may have come into it, e.g. with errors of clients. */
export function redactedText(text: string): string {
  return text.length < SHORTEST ? text : text.replaceAll(IN_TEXT, `$1 ${REDACTED}`);
}
