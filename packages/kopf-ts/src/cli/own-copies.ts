/** Where our own copy of one of these packages is: for handlers in places where nothing is installed. */
export function ownCopyOf(specifier: string): string | undefined {
  if (!/^(?:kopf-ts|@kopf-ts\/[\w-]+)(?:\/|$)/.test(specifier)) return undefined;
  try {
    return import.meta.resolve(specifier);
  } catch {
    return undefined;
  }
}
