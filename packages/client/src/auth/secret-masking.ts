/** Removes secrets from texts for errors and logs. Masking too much does no harm; masking too little does. */

const MASK = '***';
/** Tokens, keys, parts of JWTs: long runs of letters and digits, without spaces or dots; not words, paths or hosts. */
const OPAQUE = /[A-Za-z0-9_+=~-]{20,}/g;
const NAMED = /\b((?:[\w-]*(?:token|password|passwd|secret|api[_-]?key)[\w-]*)["']?\s*[:=]\s*["']?)[^\s"',;]+/gi;
const AUTHORIZATION = /\b(bearer|basic)\s+\S+/gi;
const USERINFO = /([a-z][a-z0-9+.-]*:\/\/)[^\s"'<>]*@/gi;

/** One URL, possibly malformed: everything before the last `@` may be a password, with any characters in it. */
export function maskUrl(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, `$1${MASK}@`);
}

/** The output of a program or the message of another library. */
export function maskSecrets(text: string): string {
  return text
    .replace(USERINFO, `$1${MASK}@`)
    .replace(AUTHORIZATION, `$1 ${MASK}`)
    .replace(NAMED, `$1${MASK}`)
    .replace(OPAQUE, (run) => (/\d/.test(run) && /[A-Za-z]/.test(run) ? MASK : run));
}
