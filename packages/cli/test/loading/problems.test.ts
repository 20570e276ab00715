import { describe, expect, it } from 'vitest';
import { bundle } from '../../src/loading/bundle.js';
import { findSources } from '../../src/loading/sources.js';
import { kopf, type Outcome } from '../fakes.js';
import { DECLARE, folderWith, ownRegistry } from '../handlers-folder.js';

async function runOf(files: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Outcome> {
  ownRegistry();
  return await kopf(['run', '-A', ...args], { cwd: await folderWith(files) });
}

describe('a file that', () => {
  it('does not exist is told by its name', async () => {
    const { code, err, runs } = await runOf({}, 'nope.ts');
    expect(code).toBe(1);
    expect(err).toMatch(/^Error: There is no file "nope\.ts" in .*\. Is the path of the handlers right\?\n$/);
    expect(runs).toEqual([]);
  });

  it('is a folder is refused', async () => {
    const { code, err } = await runOf({ 'folder/handlers.ts': DECLARE }, 'folder');
    expect({ code, err }).toEqual({
      code: 1,
      err: 'Error: "folder" is a folder. Name the files with handlers in it.\n',
    });
  });

  it('is something else is refused', async () => {
    const { code, err } = await runOf({ 'handlers.py': '' }, 'handlers.py');
    expect(code).toBe(1);
    expect(err).toMatch(/^Error: "handlers\.py" is neither TypeScript nor JavaScript\. .*\.ts, .*\n$/);
  });

  it('has mistakes is told by the place and the code', async () => {
    const { code, err, runs } = await runOf({ 'a.ts': `${DECLARE}let one two;\n` }, 'a.ts');
    expect(code).toBe(1);
    expect(err).toBe(`Error: a.ts:2:9: Expected ";" but found "two".\n    2 | let one two;\n      |         ^^^\n`);
    expect(runs).toEqual([]);
  });

  it('has several mistakes is told by all of them', async () => {
    const { err } = await runOf({ 'a.ts': `import './b.js';\nimport 'nobody';\n` }, 'a.ts');
    expect(err).toContain('Error: a.ts:1:8: Could not resolve "./b.js". Is there such a file?\n');
    expect(err).toContain('\na.ts:2:8: Could not resolve "nobody". Is it installed here? npm install nobody\n');
  });

  it.each(['ts', 'mjs'])('fails while it is loaded is told in one line: .%s', async (extension) => {
    const { code, err, runs } = await runOf({ [`a.${extension}`]: 'null.spec;\n' }, `a.${extension}`);
    expect(code).toBe(1);
    expect(err).toMatch(/^Error: .*TypeError: Cannot read properties of null \(reading 'spec'\)\n$/);
    expect(runs).toEqual([]);
  });
});

describe('what is probably not meant', () => {
  it('is told by the place', async () => {
    const cwd = await folderWith({ 'a.ts': `export {};\nif (typeof cwd === 'strnig') console.log(1);\n` });
    const warnings: string[] = [];
    const sources = await findSources(['a.ts'], [], cwd);
    await bundle(sources, { resolve: () => undefined, warn: (text) => void warnings.push(text) });
    expect(warnings).toEqual([expect.stringMatching(/^a\.ts:2:\d+: .*"strnig"/)]);
  });
});

describe('a module that', () => {
  it('does not exist is told by its name', async () => {
    const { code, err } = await runOf({}, '-m', 'nobody/handlers');
    expect(code).toBe(1);
    expect(err).toBe('Error: Could not resolve "nobody/handlers". Is it installed here? npm install nobody/handlers\n');
  });
});
