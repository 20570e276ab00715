import { readFileSync } from 'node:fs';
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

  it('repeats nothing of the other entry', () => {
    const values = Object.keys(engine).filter((name) => Object.hasOwn(core, name));
    const types = typesOf('engine').filter((name) => typesOf('index').includes(name));
    expect([...values, ...types]).toEqual([]);
  });
});
