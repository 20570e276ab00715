import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { countHandlers, load } from '../../src/loading/load.js';
import { findSources } from '../../src/loading/sources.js';
import { DECLARE, folderWith, note, ownNotes, ownRegistry } from '../handlers-folder.js';

async function loaded(cwd: string, files: readonly string[], modules: readonly string[] = []): Promise<void> {
  await load(await findSources(files, modules, cwd), { resolve: () => undefined });
}

describe('handlers', () => {
  it.each(['ts', 'mts', 'cts', 'js', 'mjs', 'cjs'])('are loaded from .%s files', async (extension) => {
    ownRegistry();
    const cwd = await folderWith({ [`handlers.${extension}`]: DECLARE });
    await loaded(cwd, [`handlers.${extension}`]);
    expect(countHandlers()).toBe(1);
  });

  it.each(['ts', 'mjs'])('are loaded from .%s files in their order, then from modules', async (extension) => {
    const notes = ownNotes();
    const cwd = await folderWith({
      [`b.${extension}`]: note('"b"'),
      [`sub/a.${extension}`]: note('"a"'),
      'node_modules/first/package.json': '{"name": "first", "exports": "./main.mjs"}',
      'node_modules/first/main.mjs': note('"first"'),
      'node_modules/@second/module/package.json': '{"name": "@second/module", "type": "module"}',
      'node_modules/@second/module/handlers/index.js': note('"second"'),
      'third.ts': note('"third"'),
    });
    const modules = ['@second/module/handlers/index.js', './third.ts', 'first'];
    await loaded(cwd, [`b.${extension}`, `sub/a.${extension}`], modules);
    expect(notes).toEqual(['b', 'a', 'second', 'third', 'first']);
  });

  it('may wait for something: those that follow wait, too', async () => {
    const notes = ownNotes();
    const waiting = 'await new Promise((resolve) => setImmediate(resolve));\n';
    const cwd = await folderWith({ 'a.ts': waiting + note('"a"'), 'b.ts': note('"b"') });
    await loaded(cwd, ['a.ts', 'b.ts']);
    expect(notes).toEqual(['a', 'b']);
  });

  it.each(['ts', 'mjs'])('of the same .%s file can be loaded twice, but not what it imports', async (extension) => {
    const notes = ownNotes();
    const cwd = await folderWith({
      [`a.${extension}`]: `import './shared.mjs';\n${note('"a"')}`,
      'shared.mjs': note('"shared"'),
    });
    await loaded(cwd, [`a.${extension}`, `a.${extension}`]);
    expect(notes).toEqual(['shared', 'a', 'a']);
  });

  it('of several files share what they import', async () => {
    const notes = ownNotes();
    const importing = `import { next } from '../shared.js';\n${note('next()')}`;
    const cwd = await folderWith({
      'one/a.ts': importing,
      'two/b.ts': importing,
      'shared.ts': 'let last = 0;\nexport const next = (): number => ++last;\n',
    });
    await loaded(cwd, ['one/a.ts', 'two/b.ts']);
    expect(notes).toEqual([1, 2]);
  });

  it('keep their names, even if they are called the same', async () => {
    const notes = ownNotes();
    const code = `function created() {}\n${note('created.name')}export const changed = () => {};\n${note('changed.name')}`;
    const cwd = await folderWith({ 'a.ts': code, 'b.ts': code });
    await loaded(cwd, ['a.ts', 'b.ts']);
    expect(notes).toEqual(['created', 'changed', 'created', 'changed']);
  });

  it('know where their files are', async () => {
    const notes = ownNotes();
    const cwd = await folderWith({
      'a.ts': `import './deep/b.js';\n${note('[import.meta.url, import.meta.filename]')}`,
      'deep/b.ts': `import './c.cjs';\n${note('[import.meta.dirname, "import.meta.url"]')}`,
      'deep/c.cjs': `#!/usr/bin/env node\n${note('[__filename, __dirname, require("node:path").sep]')}`,
    });
    await loaded(cwd, ['a.ts']);
    expect(notes).toEqual([
      [join(cwd, 'deep/c.cjs'), join(cwd, 'deep'), '/'],
      [join(cwd, 'deep'), 'import.meta.url'],
      [pathToFileURL(join(cwd, 'a.ts')).href, join(cwd, 'a.ts')],
    ]);
  });

  it('can require, and make a require of their own', async () => {
    const notes = ownNotes();
    const cwd = await folderWith({
      'a.ts': `import { createRequire } from 'node:module';
        const require = createRequire(import.meta.url);
        ${note('require("./data.json").answer')}`,
      'data.json': '{"answer": 42}',
    });
    await loaded(cwd, ['a.ts']);
    expect(notes).toEqual([42]);
  });

  it('are written in all of TypeScript: enums, namespaces, decorators, aliases', async () => {
    const notes = ownNotes();
    const cwd = await folderWith({
      'tsconfig.json': '{"compilerOptions": {"paths": {"@lib/*": ["./lib/*"]}}}',
      'lib/words.ts': 'export const word: string = "aliased";',
      'a.ts': `import { word } from '@lib/words';
        enum Color { Red = 'red' }
        namespace Space { export const inside = 'inside'; }
        const named = (_fn: unknown, context: ClassMethodDecoratorContext) => { ${note('String(context.name)')} };
        class Handlers { @named method(): void {} }
        ${note('[word, Color.Red, Space.inside, typeof Handlers]')}`,
    });
    await loaded(cwd, ['a.ts']);
    expect(notes).toEqual(['method', ['aliased', 'red', 'inside', 'function']]);
  });

  it('can import something later', async () => {
    const notes = ownNotes();
    const cwd = await folderWith({
      'a.ts': note(`async () => (await import('./lazy.js')).text`),
      'lazy.ts': 'export const text = "lazy";',
    });
    await loaded(cwd, ['a.ts']);
    expect(await (notes[0] as () => Promise<string>)()).toBe('lazy');
  });

  it('leave no files behind, whether they are loaded or not', async () => {
    const cwd = await folderWith({ 'good.ts': 'export {};', 'bad.ts': 'throw new Error("no");' });
    await loaded(cwd, ['good.ts']);
    await expect(loaded(cwd, ['bad.ts'])).rejects.toThrow();
    expect(await readdir(cwd)).toEqual(['bad.ts', 'good.ts']);
  });

  it('are in no file any more while they are being loaded', async () => {
    const notes = ownNotes();
    const cwd = await folderWith({
      'a.ts': `import { readdirSync } from 'node:fs';\n${note('readdirSync(import.meta.dirname)')}`,
    });
    await loaded(cwd, ['a.ts']);
    expect(notes).toEqual([['a.ts']]);
  });
});
