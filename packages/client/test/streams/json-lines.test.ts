import { describe, expect, it } from 'vitest';
import { JsonLines } from '../../src/streams/json-lines.js';

function linesOf(chunks: readonly Buffer[]): unknown[] {
  const lines = new JsonLines();
  const values: unknown[] = [];
  for (const chunk of chunks) {
    lines.feed(chunk);
    for (let line = lines.take(); line !== undefined; line = lines.take()) values.push(line.value);
  }
  const last = lines.end();
  if (last !== undefined) values.push(last.value);
  return values;
}

function chopped(bytes: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  return chunks;
}

const sample = [
  { a: 1 },
  { text: 'Grüße, 世界, 🚀🚀' },
  [],
  'line\nbreak',
  null,
  false,
  0,
  { deep: { list: [1, 2, 3] } },
];
const text = sample.map((value) => JSON.stringify(value)).join('\n');

describe('lines of JSON', () => {
  it.each(Array.from({ length: 40 }, (_, index) => index + 1))('come whole out of chunks of %i bytes', (size) => {
    expect(linesOf(chopped(Buffer.from(`${text}\n`), size))).toEqual(sample);
    expect(linesOf(chopped(Buffer.from(text), size))).toEqual(sample);
  });

  it('count without a newline at the end', () => {
    expect(linesOf([Buffer.from('{"a":1}\n{"b":2}')])).toEqual([{ a: 1 }, { b: 2 }]);
  });

  it.each([1, 2, 3, 1000])('may be blank, and are skipped then (chunks of %i)', (size) => {
    const blanks = '\n\n{"a":1}\n  \t\n\r\n{"b":2}\r\n\n \n';
    expect(linesOf(chopped(Buffer.from(blanks), size))).toEqual([{ a: 1 }, { b: 2 }]);
    expect(linesOf([])).toEqual([]);
    expect(linesOf(chopped(Buffer.from(' \n '), size))).toEqual([]);
  });

  it('may be of any length', () => {
    const long = { data: 'ü'.repeat(2_000_000), n: 1 };
    const bytes = Buffer.from(`${JSON.stringify(long)}\n{"n":2}\n`);
    expect(bytes.length).toBeGreaterThan(4_000_000);
    expect(linesOf(chopped(bytes, 65_536))).toEqual([long, { n: 2 }]);
    expect(linesOf(chopped(bytes, 1_000_003))).toEqual([long, { n: 2 }]);
  });

  it('are not parsed before they are taken', () => {
    const lines = new JsonLines();
    lines.feed(Buffer.from('{"a":1}\nnonsense\n'));
    expect(lines.take()).toEqual({ value: { a: 1 } });
    expect(() => lines.take()).toThrow();
  });

  it('that are not JSON are an error, which quotes nothing of them', () => {
    const error = (() => {
      try {
        return linesOf([Buffer.from('{"password":"xyz"\n')]);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toMatchObject({ code: 'KOPF_BAD_JSON' });
    expect(String(error)).toContain('17 bytes');
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('xyz');
  });

  it('that broke off in the middle are an error', () => {
    expect(() => linesOf([Buffer.from('{"a":1}\n{"b":')])).toThrow(/not JSON/);
  });
});
