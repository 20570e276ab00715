import { describe, expect, it } from 'vitest';
import { purityViolations } from '../purity.mjs';
import { workspace } from './workspace.mjs';

const violationsOf = (text) => purityViolations(workspace({ 'packages/core/src/values/sample.ts': text }));

describe('the purity fence', () => {
  it.each([
    ['setTimeout(() => {}, 5);', 'setTimeout'],
    ['setInterval(() => {}, 5);', 'setInterval'],
    ['setImmediate(() => {});', 'setImmediate'],
    ['const later = setTimeout;', 'setTimeout'],
    ['globalThis.setTimeout(() => {}, 5);', 'setTimeout'],
    ["globalThis['setTimeout'](() => {}, 5);", 'setTimeout'],
    ['const { setTimeout: later } = globalThis;', 'setTimeout'],
    ['export const now = Date.now();', 'Date.now'],
    ["export const now = Date['now']();", 'Date.now'],
    ['const { now } = Date;', 'Date.now'],
    ['export const at = new Date();', 'the current Date'],
    ['export const at = new Date;', 'the current Date'],
    ['export const at = Date();', 'the current Date'],
    ['export const at = performance.now();', 'performance'],
    ['export const signal = AbortSignal.timeout(5);', 'AbortSignal.timeout'],
    ["console.log('hello');", 'console'],
    ['export const home = process.env.HOME;', 'process'],
    ["export const answer = await fetch('/');", 'fetch'],
    ['export const tools = { fetch };', 'fetch'],
  ])('refuses %s', (line, what) => {
    const violations = violationsOf(`export {};\n${line}`);
    expect(violations).toEqual([expect.stringContaining(`packages/core/src/values/sample.ts:2 uses ${what}:`)]);
  });

  it.each([
    [
      'a date made from a value',
      'export const at = new Date(0); export const utc = Date.UTC(2020, 1); export const t = Date.parse("");',
    ],
    ['the type of a date', 'export function f(at: Date): boolean { return at instanceof Date; }'],
    ['a microtask', 'queueMicrotask(() => {});'],
    [
      'comments and strings',
      '// setTimeout(), Date.now(), console.log\nexport const text = "process.env, new Date()";',
    ],
    [
      'members with such names',
      'export interface Storage { fetch(): void; process: string }\nexport const f = (s: Storage) => [s.fetch(), s.process];',
    ],
    ['parameters with such names', 'export function f(process: { env: string }) { return process.env; }'],
    [
      'variables with such names',
      'export function f() { const performance = { now: () => 1 }; return { performance, now: performance.now() }; }',
    ],
    ['imports with such names', "import { fetch } from './other.js';\nexport const answer = fetch();"],
    ['keys with such names', 'export const settings = { process: 1, console: 2 };'],
    ['types of such things', 'export type Fetch = typeof fetch;\nexport interface P { process?: typeof process }'],
    ['the context under a symbol', "export const context = (globalThis as any)[Symbol.for('kopf-ts.context')];"],
  ])('lets %s pass', (_, text) => {
    expect(violationsOf(text)).toEqual([]);
  });

  it('looks at core only', () => {
    const root = workspace({
      'packages/core/src/index.ts': 'export {};',
      'packages/reactor/src/clock.ts': 'export const now = Date.now();',
    });
    expect(purityViolations(root)).toEqual([]);
  });
});
