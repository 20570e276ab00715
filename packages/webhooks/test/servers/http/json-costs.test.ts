import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { jsonCosts } from '../../../src/servers/http/json-costs.js';

const SIZE = 512 * 1024;
const filled = (unit: string) => unit.repeat(Math.floor(SIZE / unit.length));

function different(item: (name: string) => string): string {
  const items: string[] = [];
  for (let length = 0; length < SIZE; length += (items.at(-1)?.length ?? 0) + 1)
    items.push(item(items.length.toString(36)));
  return items.join(',');
}

/** What takes the most memory for its length. */
const HOSTILE: Readonly<Record<string, () => string>> = {
  'empty objects': () => `[${filled('{},')}{}]`,
  'empty lists': () => `[${filled('[],')}[]]`,
  'objects with one key': () => `[${filled('{"a":0},')}0]`,
  'objects with keys that differ': () => `[${different((name) => `{"${name}":0}`)}]`,
  'one object with many keys': () => `{${different((name) => `"${name}":0`)}}`,
  'texts that differ': () => `[${different((name) => `"${name}"`)}]`,
  'fractions among texts': () => `["",${filled('0.5,')}0]`,
  'lists in lists, as deep as permitted': () => `[${filled(`${'['.repeat(9000)}${']'.repeat(9000)},`)}0]`,
  'objects in objects, as deep as permitted': () => `[${filled(`${'{"a":'.repeat(9000)}1${'}'.repeat(9000)},`)}0]`,
};

describe('the memory that a JSON text takes', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heapNow = (): number => {
    collect();
    collect();
    return process.memoryUsage().heapUsed;
  };

  it.each(Object.keys(HOSTILE))('is not underestimated for %s', (title) => {
    const bytes = Buffer.from(HOSTILE[title]?.() ?? '');
    const text = bytes.toString();
    const before = heapNow();
    const parsed: unknown = JSON.parse(text);
    const taken = heapNow() - before;
    expect(parsed).toBeTypeOf('object');
    // Some of it is not of this text: the engine moves things at any time.
    expect(taken).toBeLessThan(jsonCosts(bytes).memory * 1.1 + bytes.length * 2);
  });
});

describe('the depth of a JSON text', () => {
  it.each([
    ['1', 0],
    ['{}', 1],
    ['[[],[[]]]', 3],
    ['{"a":[{"b":{}}]}', 4],
    ['"[[["', 0],
    ['["\\"[[", "\\\\", [1]]', 2],
    ['["\\\\\\"]", []]', 2],
  ])('of %s is %d', (text, depth) => {
    expect(jsonCosts(Buffer.from(text)).depth).toBe(depth);
  });

  it('does not depend on what is in texts; neither does the memory', () => {
    const tricky = jsonCosts(Buffer.from(JSON.stringify(['{[:,"\\', '\\', '"', ':{"a":[1,2]}'])));
    expect(tricky).toEqual(jsonCosts(Buffer.from('["a","b","c","d"]')));
  });
});
