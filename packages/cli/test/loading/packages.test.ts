import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { bundle } from '../../src/loading/bundle.js';
import { load } from '../../src/loading/load.js';
import { findSources } from '../../src/loading/sources.js';
import { folderWith, note, ownNotes } from '../handlers-folder.js';

const nowhere = { resolve: () => undefined };

function packageOf(name: string, text: string): Record<string, string> {
  return {
    [`${name}/package.json`]: '{"type": "module", "exports": {"import": "./main.js", "require": "./none.cjs"}}',
    [`${name}/main.js`]: `export const text = ${JSON.stringify(text)};\n`,
  };
}

describe('packages', () => {
  it('stay outside of the bundle, so that there is one copy of each', async () => {
    const cwd = await folderWith({
      ...packageOf('node_modules/somebody', 'somebody'),
      'a.ts': `import { text } from 'somebody';\nexport default text;`,
    });
    const { code, inputs } = await bundle(await findSources(['a.ts'], [], cwd), nowhere);
    expect(code).toContain('from "somebody"');
    expect(inputs).toEqual([join(cwd, 'a.ts')]);
  });

  it('are those of each file, if there are several', async () => {
    const notes = ownNotes();
    const importing = `import { text } from 'somebody';\n${note('text')}`;
    const cwd = await folderWith({
      ...packageOf('one/node_modules/somebody', 'the first'),
      ...packageOf('two/node_modules/somebody', 'the second'),
      'one/a.ts': importing,
      'two/b.ts': importing,
    });
    await load(await findSources(['one/a.ts', 'two/b.ts'], [], cwd), nowhere);
    expect(notes).toEqual(['the first', 'the second']);
  });

  it('of ours are ours, if there are none beside the handlers', async () => {
    const notes = ownNotes();
    const ours = await folderWith({ 'ours.mjs': 'export const text = "ours";' });
    const cwd = await folderWith({ 'a.ts': `import { text } from 'kopf-ts';\n${note('text')}` });
    const asked: string[] = [];
    await load(await findSources(['a.ts'], [], cwd), {
      resolve(specifier) {
        asked.push(specifier);
        return pathToFileURL(join(ours, 'ours.mjs')).href;
      },
    });
    expect(asked).toEqual(['kopf-ts']);
    expect(notes).toEqual(['ours']);
  });
});
