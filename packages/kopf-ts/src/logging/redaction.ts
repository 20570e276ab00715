/** Keeps credentials out of logs, both in fields and in texts. */

export const REDACTED = '***';

/**
 * Names of fields with credentials in any spelling: `accessToken`, `access_token`, `Set-Cookie`.
 * A mere `secret` is not among them: in an operator, it is usually the name of an object.
 */
const CREDENTIAL =
  /^(proxy)?authorization$|^(set)?cookie$|token$|password$|passwd$|clientsecret$|(api|private|client|access|secret)key(data)?$/;

/** A quick check that rules out most names. */
const SUSPICIOUS = /auth|cookie|token|passw|secret|key/i;

export function isCredential(name: string): boolean {
  if (!SUSPICIOUS.test(name)) return false;
  return CREDENTIAL.test(name.toLowerCase().replaceAll(/[_-]/g, ''));
}

const IN_TEXT = /\b(Bearer|Basic)\s+[\w\-.~+/]{16,}=*/gi;

/** Shorter texts contain no credentials. */
const SHORTEST = 'Basic '.length + 16;

/** The text without the values of `Authorization` headers, e.g. from errors of HTTP clients. */
export function redactedText(text: string): string {
  return text.length < SHORTEST ? text : text.replaceAll(IN_TEXT, `$1 ${REDACTED}`);
}
