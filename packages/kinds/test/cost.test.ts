import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const source = new URL('../src/', import.meta.url);
const groups = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => /.\/index\.ts$/.test(file));

/** All files that the compiler has to read for one of them. */
function closure(file: URL, seen = new Map<string, number>()): Map<string, number> {
  if (seen.has(file.href)) return seen;
  const text = readFileSync(file, 'utf8');
  seen.set(file.href, text.length);
  for (const [, path = ''] of text.matchAll(/ from '(\.[^']+)\.js';/g)) closure(new URL(`${path}.ts`, file), seen);
  return seen;
}

/** Time cannot be measured in tests, but what takes it can: what the compiler has to read. Most of it are pods and volumes. */
const MOST = { files: 4, characters: 250_000 };

describe('The types of one kind', () => {
  it('are in few files, and none of these has the others in it', () => {
    expect(groups.length).toBeGreaterThan(20);
    const costs = groups.map((group) => {
      const files = closure(new URL(group, source));
      return { group, files: files.size, characters: [...files.values()].reduce((sum, length) => sum + length, 0) };
    });
    expect(costs.filter(({ files, characters }) => files > MOST.files || characters > MOST.characters)).toEqual([]);
  });
});
