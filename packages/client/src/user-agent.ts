import { readFileSync } from 'node:fs';

/** How the client introduces itself, unless told otherwise: `kopf-ts/<version>`. */
export function defaultUserAgent(): string {
  return `kopf-ts/${ownVersion()}`;
}

/** Both the sources and the build are one folder below the manifest; a bundle of somebody else's is who knows where. */
function ownVersion(): string {
  try {
    const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
    return manifest.name === '@kopf-ts/client' ? manifest.version : 'unknown';
  } catch {
    return 'unknown';
  }
}
