import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { observerViolations } from '../observer.mjs';

const folders = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function violationsIn(body, file = 'reactor/src/cycle/x.ts') {
  const root = mkdtempSync(join(tmpdir(), 'kopf-ts-observer-'));
  folders.push(root);
  const path = join(root, 'packages', file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(join(root, 'packages', file.split('/')[0], 'package.json'), '{}');
  writeFileSync(path, `export function f(facts: any, x: any) {\n${body}\n}`);
  return observerViolations(root);
}

describe('the fence between observers and what they observe', () => {
  it('is silent about this very workspace', () => {
    expect(observerViolations(join(import.meta.dirname, '../..'))).toEqual([]);
  });

  it.each([
    ['what is told is looked at', 'return facts.tell({ kind: x });', /looks at what/],
    ['what is told is waited for', 'const y = facts.tell({ kind: x }); y.then();', /looks at what/],
    ['what is told decides', 'if (facts.tell({ kind: x })) x();', /looks at what/],
    ['it decides what is done', "if (facts.wants['call.ended']) x();", /guards something else/],
    [
      'it decides what else is done',
      "if (facts.wants['call.ended']) { facts.tell({}); x(); }",
      /guards something else/,
    ],
    ['it is done otherwise', "if (facts.wants['call.ended']) facts.tell({}); else x();", /does something else/],
    ['it is not done', "if (!facts.wants['call.ended']) return;\nx();", /leaves more than telling undone/],
    ['it is thrown', "if (!facts.wants['call.ended']) throw x;", /does something if/],
    ['it is returned', "return facts.wants['call.ended'];", /something else than a condition/],
    ['it is kept', "const isWanted = facts.wants['call.ended']; x(isWanted);", /something else than a condition/],
    ['it is passed on', "x(facts.wants['call.ended']);", /something else than a condition/],
    [
      'something else is returned',
      "if (!facts.wants['call.ended']) return x;\nfacts.tell({});",
      /returns something else/,
    ],
    ['it chooses', "const y = facts.wants['call.ended'] ? x(1) : x(2); y();", /chooses/],
    ['it chooses another teller', "const y = facts.wants['call.ended'] ? tellOf(x) : x; y();", /chooses/],
    ['it is a loop', "while (facts.wants['call.ended']) facts.tell({});", /something else than a condition/],
    ['it is taken apart', "const { wants } = facts; if (wants['call.ended']) x();", /guards something else/],
    ['it is of a field', "if (x.facts.wants['call.ended'] && x.y) x.z();", /guards something else/],
  ])('refuses it if %s', (_what, body, why) => {
    expect(violationsIn(body)).toEqual([expect.stringMatching(why)]);
  });

  it.each([
    ['telling', "if (facts.wants['call.ended']) facts.tell({ kind: 'call.ended' });"],
    ['telling by a function', "if (facts.wants['call.ended']) tellEnded(facts, x);"],
    ['telling by a method', "if (facts.wants['call.ended']) x.tellEnded();"],
    ['telling under conditions', "if (facts.wants['call.ended'] && x.isNew) { if (x.y) facts.tell({}); }"],
    ['preparing it', "if (facts.wants['call.ended']) { const at = x.now(); facts.tell({ at }); }"],
    ['keeping a teller', "if (facts.wants['call.ended']) x.onEnd = tellerOf(facts);"],
    ['telling later', "if (facts.wants['call.ended']) { const tell = x.teller(); x.done.then(() => tell(), tell); }"],
    ['a teller, or none', "const y = facts.wants['call.ended'] ? tellerOf(facts) : undefined; x(y);"],
    ['nothing left but telling', "if (!facts.wants['call.ended']) return;\nconst y = x();\nfacts.tell({ y });"],
    ['a function that tells', 'return () => facts.tell({});'],
    ['other words that are the same', "if (x.wants['call']) x(); x.tell();"],
  ])('permits %s', (_what, body) => {
    expect(violationsIn(body)).toEqual([]);
  });

  it('permits the same work without telling where it is listed', () => {
    const body = "if (!facts.wants['patch.sent']) return x;\nreturn () => x();";
    expect(violationsIn(body)).toHaveLength(1);
    expect(violationsIn(body, 'reactor/src/observing/patch-facts.ts')).toEqual([]);
  });
});
