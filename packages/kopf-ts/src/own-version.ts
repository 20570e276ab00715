/** The version of kopf-ts, for whoever looks at an operator from outside. */
import { readFileSync } from 'node:fs';

/** Absent if the package is not where it was installed: in a bundle, there may be another one, or none. */
export function ownVersion(): string | undefined {
  try {
    const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
    const { name, version } = JSON.parse(text) as { readonly name?: string; readonly version?: string };
    return name === 'kopf-ts' ? version : undefined;
  } catch {
    return undefined;
  }
}
