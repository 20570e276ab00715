/** One place where two answers are not the same. `undefined` stands for nothing at all. */
export interface Difference {
  readonly path: string;
  readonly left: unknown;
  readonly right: unknown;
}

/** All the differences, in the order of the left side. */
export function differencesOf(left: unknown, right: unknown, path = ''): Difference[] {
  if (Object.is(left, right)) return [];
  if (Array.isArray(left) && Array.isArray(right)) {
    const length = Math.max(left.length, right.length);
    return Array.from({ length }, (_, index) => differencesOf(left[index], right[index], `${path}[${index}]`)).flat();
  }
  if (isRecord(left) && isRecord(right)) {
    const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])];
    return keys.flatMap((key) => differencesOf(own(left, key), own(right, key), path === '' ? key : `${path}.${key}`));
  }
  return [{ path, left, right }];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function own(record: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Two lines and a place, short enough to read. */
export function describeDifference({ path, left, right }: Difference, names: readonly [string, string]): string {
  const width = Math.max(...names.map((name) => name.length));
  const line = (name: string, value: unknown) => `      ${name.padEnd(width)}  ${shortened(value)}`;
  return [`    at ${path === '' ? 'the top' : path}:`, line(names[0], left), line(names[1], right)].join('\n');
}

function shortened(value: unknown): string {
  const text = value === undefined ? '(nothing)' : JSON.stringify(value);
  return text.length > 600 ? `${text.slice(0, 600)}… (${text.length} characters)` : text;
}
