/** The page of all settings, compared with the code. */
import { readFileSync } from 'node:fs';
import { settings } from 'kopf-ts';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { shownDefault, unitOf } from '../support/settings.mjs';
import { tableRows } from '../support/tables.mjs';

const textOf = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
const rows: readonly string[][] = tableRows(textOf('../../operate/settings.md')).filter(([name]: string[]) =>
  /^`\w+\.\w+`$/.test(name ?? ''),
);

/** Types as they are written in the code, by `group.name`: `Seconds | undefined`. */
const types = new Map<string, string>();
const source = ts.createSourceFile(
  'settings.ts',
  textOf('../../../packages/core/src/settings.ts'),
  ts.ScriptTarget.ESNext,
  true,
);
for (const statement of source.statements) {
  if (!ts.isInterfaceDeclaration(statement)) continue;
  const group = /^(\w+)Settings$/.exec(statement.name.text)?.[1]?.toLowerCase();
  for (const member of statement.members)
    if (group !== undefined && ts.isPropertySignature(member))
      types.set(`${group}.${member.name.getText(source)}`, member.type?.getText(source) ?? '');
}

const all = Object.entries(settings()).flatMap(([group, fields]) =>
  Object.entries(fields as Record<string, unknown>).map(([name, value]) => ({ name: `${group}.${name}`, value })),
);

describe('The page of settings', () => {
  it('has all of them, and no others', () => {
    const known = new Set([...types.keys()]);
    expect(all.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
    expect(rows.map(([name]) => name?.slice(1, -1)).sort()).toEqual([...known].sort());
  });

  it.each(all)('$name: its unit, its default, and its effect', ({ name, value }) => {
    const [, unit, initial, effect = ''] = rows.find(([cell]) => cell === `\`${name}\``) ?? [];
    expect(unit).toBe(unitOf(name, types.get(name) ?? ''));
    expect(initial).toBe(shownDefault(name, value));
    expect(effect.length).toBeGreaterThan(20);
  });
});
