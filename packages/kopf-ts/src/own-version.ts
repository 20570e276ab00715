/** The version of kopf-ts, shown to the outside. */
import { readFileSync } from 'node:fs';

/** Absent if the code was moved out of its package: beside a bundle, there is another manifest or none. */
export function ownVersion(): string | undefined {
  try {
    const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
    const { name, version } = JSON.parse(text) as { readonly name?: string; readonly version?: string };
    return name === 'kopf-ts' ? version : undefined;
  } catch {
    return undefined;
  }
}
