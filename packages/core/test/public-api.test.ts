import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as engine from '../src/engine.js';
import * as core from '../src/index.js';

/** Of types, nothing is left at run time: they are found where they are listed. */
function typesOf(entry: string): string[] {
  const source = readFileSync(new URL(`../src/${entry}.ts`, import.meta.url), 'utf8');
  const lists = [...source.matchAll(/^export (type )?\{([^}]*)\} from/gm)];
  const names = lists.flatMap(([, isOfTypes, list = '']) =>
    list
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && (isOfTypes !== undefined || name.startsWith('type ')))
      .map((name) => name.replace(/^type /, '')),
  );
  return names.sort();
}

function sourcesOf(folder: URL): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return files.map((file) => readFileSync(new URL(file, folder), 'utf8'));
}

/** The names as they are there, whatever they are called here. */
function importsOf(source: string, entry: string): string[] {
  const lists = source.matchAll(/^(?:import|export) (?:type )?\{([^}]*)\} from '([^']+)'/gm);
  return [...lists].flatMap(([, list = '', from]) =>
    from === entry
      ? list.split(',').map((name) =>
          name
            .trim()
            .replace(/^type /, '')
            .replace(/ as .*$/, ''),
        )
      : [],
  );
}

describe('the entry for those who write handlers and plugins', () => {
  it('gives these values', () => {
    expect(Object.keys(core).sort()).toMatchSnapshot();
  });

  it('gives these types', () => {
    expect(typesOf('index')).toMatchSnapshot();
  });
});

describe('the entry for those who run handlers', () => {
  it('gives these values', () => {
    expect(Object.keys(engine).sort()).toMatchSnapshot();
  });

  it('gives these types', () => {
    expect(typesOf('engine')).toMatchSnapshot();
  });

  it('gives nothing that no package uses', () => {
    const packages = new URL('../../', import.meta.url);
    // Also in their tests: what tests need, a stranger's package needs for its own.
    const folders = readdirSync(packages).flatMap((name) => [`${name}/src/`, `${name}/test/`]);
    const sources = folders.flatMap((folder) => sourcesOf(new URL(folder, packages)));
    const used = new Set(sources.flatMap((source) => importsOf(source, '@kopf-ts/core/engine')));
    expect([...Object.keys(engine), ...typesOf('engine')].filter((name) => !used.has(name))).toEqual([]);
  });

  it('repeats nothing of the other entry', () => {
    const values = Object.keys(engine).filter((name) => Object.hasOwn(core, name));
    const types = typesOf('engine').filter((name) => typesOf('index').includes(name));
    expect([...values, ...types]).toEqual([]);
  });
});
