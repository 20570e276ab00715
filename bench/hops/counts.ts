/** How often places of the sources were run, by V8's counts of the bundle that was made of them. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** As V8 gives it: the first range is the function, the others are blocks in it that were run more or less often. */
export interface CountedFunction {
  readonly functionName: string;
  readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
}

export interface Counts {
  /** Of the place in the source: `line` and `column` from zero. `undefined` if the bundle has nothing of it. */
  at(file: string, line: number, column: number): number | undefined;
}

interface Segment {
  readonly line: number;
  readonly column: number;
  readonly offset: number;
}

export function countsOf(bundle: string, functions: readonly CountedFunction[]): Counts {
  const segments = segmentsOf(bundle);
  const ranges = functions.flatMap((counted) => counted.ranges);
  return {
    at(file, line, column) {
      const offset = offsetOf(segments.get(file) ?? [], line, column);
      if (offset === undefined) return undefined;
      // The innermost one tells; those of V8 are either nested or apart.
      let innermost: CountedFunction['ranges'][number] | undefined;
      for (const range of ranges) {
        if (range.startOffset > offset || range.endOffset <= offset) continue;
        const size = range.endOffset - range.startOffset;
        if (innermost === undefined || size <= innermost.endOffset - innermost.startOffset) innermost = range;
      }
      return innermost?.count;
    },
  };
}

/** The place itself; or what is next to it on the same line, for the bundler does not map every token. */
function offsetOf(segments: readonly Segment[], line: number, column: number): number | undefined {
  const onLine = segments.filter((segment) => segment.line === line);
  const before = onLine.findLast((segment) => segment.column <= column);
  return (before ?? onLine[0])?.offset;
}

/** By the absolute path of the source, in its order. */
function segmentsOf(bundle: string): Map<string, readonly Segment[]> {
  const map = JSON.parse(readFileSync(`${bundle}.map`, 'utf8')) as { sources: string[]; mappings: string };
  const lineStarts = [0];
  const text = readFileSync(bundle, 'utf8');
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) lineStarts.push(end + 1);

  const bySource = map.sources.map((): Segment[] => []);
  let [source, line, column] = [0, 0, 0];
  for (const [index, mapped] of map.mappings.split(';').entries()) {
    let inLine = 0;
    for (const digits of mapped.split(',').filter(Boolean)) {
      const [ofColumn = 0, ofSource = 0, ofLine = 0, ofSourceColumn = 0] = decoded(digits);
      inLine += ofColumn;
      source += ofSource;
      line += ofLine;
      column += ofSourceColumn;
      bySource[source]?.push({ line, column, offset: (lineStarts[index] ?? 0) + inLine });
    }
  }
  return new Map(
    map.sources.map((path, index) => [
      resolve(dirname(bundle), path),
      (bySource[index] ?? []).toSorted((a, b) => a.line - b.line || a.column - b.column),
    ]),
  );
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Numbers as source maps write them: five bits a digit, the sixth for "there is more", and the sign in the lowest one. */
function decoded(digits: string): readonly number[] {
  const numbers: number[] = [];
  let [value, shift] = [0, 0];
  for (const digit of digits) {
    const bits = DIGITS.indexOf(digit);
    value += (bits & 31) << shift;
    shift += 5;
    if (bits & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}
