import { readFileSync } from 'node:fs';
import * as kopf from 'kopf-ts';
import * as testing from 'kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { KOPF_NAMES, MEANINGLESS } from './kopf-names.js';

const page = readFileSync(new URL('../../../../docs/migration/from-kopf.md', import.meta.url), 'utf8');
const types = readFileSync(new URL('./names.test-d.ts', import.meta.url), 'utf8');

/** The rows of the table: what Kopf calls it, and what is in the second column. */
const rows = [...page.matchAll(/^\| `([\w.]+)`\s*\| (.+?)\s*\|/gm)].map(([, name = '', here = '']) => ({ name, here }));

/** The words in the second column, and whether they are types: "`settings`, type `Settings`". */
function counterparts(here: string): readonly { readonly word: string; readonly isType: boolean }[] {
  return [...here.matchAll(/(type )?`([^`]+)`/g)].map(([, type, word = '']) => ({ word, isType: type !== undefined }));
}

function resolve(path: string): unknown {
  const everything: Record<string, unknown> = { ...kopf, testing };
  return path
    .split('.')
    .reduce<unknown>((from, key) => (from as Record<string, unknown> | undefined)?.[key], everything);
}

describe('names of Kopf', () => {
  it.each(KOPF_NAMES)('%s has exactly one row in the table', (name) => {
    expect(rows.filter((row) => row.name === name)).toHaveLength(1);
  });

  it('has no rows for what Kopf does not have', () => {
    expect(rows.map(({ name }) => name).filter((name) => !KOPF_NAMES.includes(name))).toEqual([]);
  });

  it('calls nothing meaningless but what belongs to Python alone', () => {
    const meaningless = rows.filter(({ here }) => counterparts(here).length === 0);
    expect(new Set(meaningless.map(({ name }) => name))).toEqual(MEANINGLESS);
  });

  const promised = rows.flatMap(({ name, here }) =>
    counterparts(here).map((counterpart) => ({ name, ...counterpart })),
  );

  it.each(promised.filter(({ isType }) => !isType))('$name is here as the value $word', ({ word }) => {
    expect(resolve(word)).toBeDefined();
  });

  it.each(promised.filter(({ isType }) => isType))('$name is here as the type $word', ({ word }) => {
    const property = word.includes("'") ? `"${word}"` : word;
    const expression = word === 'AbortSignal' ? word : `kopf.${word}`;
    expect(types).toMatch(new RegExp(`^  ${escaped(property)}: ${escaped(expression)}(<unknown>)?;$`, 'm'));
  });
});

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
