/** Texts for errors and logs, without the secrets in them. What is masked too much does no harm; the rest does. */

const MASK = '***';
/** Tokens, keys, parts of JWTs: long, without spaces or dots, of letters and digits. Words, paths and hosts are not. */
const OPAQUE = /[A-Za-z0-9_+=~-]{20,}/g;
const NAMED = /\b((?:[\w-]*(?:token|password|passwd|secret|api[_-]?key)[\w-]*)["']?\s*[:=]\s*["']?)[^\s"',;]+/gi;
const AUTHORIZATION = /\b(bearer|basic)\s+\S+/gi;
const USERINFO = /([a-z][a-z0-9+.-]*:\/\/)[^\s"'<>]*@/gi;

/** One URL, or what was meant to be one: all before the last `@` may be a password, with any characters in it. */
export function maskUrl(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, `$1${MASK}@`);
}

/** What a program has printed, or another library has said. */
export function maskSecrets(text: string): string {
  return text
    .replace(USERINFO, `$1${MASK}@`)
    .replace(AUTHORIZATION, `$1 ${MASK}`)
    .replace(NAMED, `$1${MASK}`)
    .replace(OPAQUE, (run) => (/\d/.test(run) && /[A-Za-z]/.test(run) ? MASK : run));
}
