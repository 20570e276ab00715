import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { oneWayViolations } from '../one-way.mjs';

const folders = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function violationsIn(file, text) {
  const root = mkdtempSync(join(tmpdir(), 'kopf-ts-one-way-'));
  folders.push(root);
  const path = join(root, 'packages/reactor/src', file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return oneWayViolations(root);
}

describe('the fence along the way of events', () => {
  it('is silent about this very workspace', () => {
    expect(oneWayViolations(join(import.meta.dirname, '../..'))).toEqual([]);
  });

  it.each([
    ['a cycle that goes back to the streams', 'cycle/x.ts', '../queueing/watcher.js', /does not come after/],
    ['an owner that sends by itself', 'objects/x.ts', '../sending/send.js', /does not come after/],
    ['an owner that runs its cycle by itself', 'objects/x.ts', '../cycle/cycle.js', /does not come after/],
    ['a patch that calls handlers', 'sending/x.ts', '../cycle/handling.js', /does not come after/],
    ['a patch that looks at memory', 'sending/x.ts', '../objects/known.js', /does not come after/],
    ['a cycle that reaches for the owner', 'cycle/x.ts', '../objects/object.js', /reaches for the owners/],
    ['a fact that reaches for the owner', 'observing/x.ts', '../objects/object.js', /reaches for the owners/],
    ['an owner that leads daemons', 'objects/x.ts', '../daemons/leading.js', /leads daemons/],
    ['a probe that looks into the cycle', 'probing/x.ts', '../cycle/decide.js', /beside the way/],
    ['a cycle that logs in', 'cycle/x.ts', '../authentication/vault.js', /does not come after/],
  ])('refuses %s', (_what, file, target, why) => {
    expect(violationsIn(file, `import { x } from '${target}';\nx();`)).toEqual([expect.stringMatching(why)]);
    expect(violationsIn(file, `export { x } from '${target}';`)).toHaveLength(1);
    expect(violationsIn(file, `import { type Y, x } from '${target}';\nx();`)).toHaveLength(1);
  });

  it.each([
    ['types', 'sending/x.ts', "import type { Known } from '../objects/known.js';"],
    ['types among names', 'sending/x.ts', "import { type Known } from '../objects/known.js';"],
    ['what comes after', 'cycle/x.ts', "import { send } from '../sending/send.js';"],
    ['what only compares', 'daemons/x.ts', "import { versionOf } from '../objects/versions.js';"],
    ['neighbours in the room', 'cycle/x.ts', "import { decide } from './decide.js';"],
    ['what is in no room', 'objects/x.ts', "import { settlesWithin } from '../settles-within.js';"],
    ['other packages', 'objects/x.ts', "import { deepEqual } from '@kopf-ts/core';"],
    ['rooms beside each other', 'probing/x.ts', "import { runActivity } from '../activities/run-activity.js';"],
    ['the place where all is put together', 'reactor.ts', "import { cycleOf } from './cycle/cycle.js';"],
  ])('permits %s', (_what, file, text) => {
    expect(violationsIn(file, text)).toEqual([]);
  });
});
