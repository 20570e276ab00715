/** The page of the command line, and all commands on all pages, compared with the commands that there are. */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { pageNames, readPage } from '../support/pages.mjs';
import { tableRows } from '../support/tables.mjs';

/** What the commands tell of themselves; they are internal to their package. */
interface CommandDefinition {
  readonly name: string;
  readonly parameters: readonly { readonly flags: string; readonly env?: string | undefined }[];
}

const folder = new URL('../../../packages/cli/src/commands/', import.meta.url);
const modules = await Promise.all(
  readdirSync(folder)
    .filter((name) => name.endsWith('.ts'))
    .map((name): Promise<object> => import(/* @vite-ignore */ new URL(name, folder).pathname)),
);
const commands = modules.flatMap((module) => Object.values(module) as unknown[]).filter(isCommand);

function isCommand(one: unknown): one is CommandDefinition {
  return typeof one === 'object' && one !== null && 'parameters' in one && 'action' in one;
}

const namesIn = (flags: string): readonly string[] => flags.match(/(?<![\w-])--?[A-Za-z][\w-]*/g) ?? [];

describe('The page of the command line', () => {
  const page = readPage('operate/cli').text;
  const rows = tableRows(page).map((cells: string[]) => cells.join(' | '));

  it('knows commands', () => expect(commands.length).toBeGreaterThanOrEqual(8));

  it.each(commands.map((command) => [command.name, command] as const))(
    'kopf %s, with all its flags and variables',
    (name, { parameters }) => {
      expect(page).toContain(`kopf ${name}`);
      const missing = parameters.filter(
        ({ flags, env }) =>
          !rows.some((row) =>
            [...namesIn(flags), ...(env === undefined ? [] : [env])].every((word) => hasWord(row, word)),
          ),
      );
      expect(missing.map(({ flags, env }) => `${flags} ${env ?? ''}`)).toEqual([]);
    },
  );
});

describe('Commands on the pages', () => {
  const lines = pageNames().flatMap((name) =>
    readPage(name)
      .blocks.filter(({ kind, language = '' }) => kind === 'sample' && ['sh', 'shell', 'console'].includes(language))
      .flatMap(({ text, line }) =>
        text
          .replace(/\\\n/g, ' ')
          .split('\n')
          .map((command, at) => ({ place: `${name}.md:${line + at}`, command })),
      )
      .filter(({ command }) => /(?:^|\s|\$ )(?:npx )?kopf [a-z]+/.test(command.replace(/#.*$/, ''))),
  );

  it('use flags only that there are', () => {
    const wrong = lines.flatMap(({ place, command }) => {
      const [, name, rest] = /\bkopf ([a-z]+)([^#|;&]*)/.exec(command) ?? [];
      if (name === 'help') return [];
      const definition = commands.find((one) => one.name === name);
      if (definition === undefined) return [`${place}: there is no 'kopf ${name}'`];
      const known = new Set(['-h', '--help', ...definition.parameters.flatMap(({ flags }) => namesIn(flags))]);
      const used = (rest ?? '').match(/(?<=\s)--?[A-Za-z][\w-]*/g) ?? [];
      return used
        .filter((flag) => !known.has(flag) && !known.has(flag.replace('--no-', '--')))
        .map((flag) => `${place}: 'kopf ${name}' has no ${flag}`);
    });
    expect(wrong).toEqual([]);
  });
});

function hasWord(text: string, word: string): boolean {
  return new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(text);
}
