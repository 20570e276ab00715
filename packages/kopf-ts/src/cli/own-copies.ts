/** The location of our own copy of a package, for handlers in folders where nothing is installed. */
export function ownCopyOf(specifier: string): string | undefined {
  if (!/^(?:kopf-ts|@kopf-ts\/[\w-]+)(?:\/|$)/.test(specifier)) return undefined;
  try {
    return import.meta.resolve(specifier);
  } catch {
    return undefined;
  }
}
