export function missingLines(expected: string, printed: string): string | undefined;
