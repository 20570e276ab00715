import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ownerViolations } from '../owner.mjs';

const folders = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function violationsIn(files) {
  const root = mkdtempSync(join(tmpdir(), 'kopf-ts-owner-'));
  folders.push(root);
  for (const [file, text] of Object.entries(files)) {
    const path = join(root, 'packages/reactor/src', file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return ownerViolations(root);
}

describe('the fence around the owners of objects', () => {
  it('is silent about this very workspace', () => {
    expect(ownerViolations(join(import.meta.dirname, '../..'))).toEqual([]);
  });

  it.each([
    [
      'an assignment elsewhere in the owner',
      'objects/object.ts',
      'class O { #state = 1; push() { this.#state = 2; } }',
    ],
    ['an increment elsewhere in the owner', 'objects/object.ts', 'class O { #known = 1; push() { this.#known++; } }'],
    ['a setter', 'objects/x.ts', 'export class X { set known(value) {} }'],
    ['a writable property of a class', 'objects/x.ts', 'export class X { version: string; }'],
    ['a writable property of an interface', 'objects/x.ts', 'export interface X { version: string }'],
    ['a mutable map', 'objects/x.ts', 'export interface X { readonly seen: Map<string, string> }'],
    ['a mutable list', 'objects/x.ts', 'export interface X { readonly all: string[] }'],
    ['a getter of a mutable set', 'objects/x.ts', 'export class X { get all(): Set<string> { return new Set(); } }'],
    ['an assignment to what is given away', 'cycle/x.ts', 'export const f = (o: any) => { o.known = 1; };'],
    ['a nested assignment', 'daemons/x.ts', 'export const f = (o: any) => { o.known.seen = 1; };'],
    ['a deletion', 'sending/x.ts', 'export const f = (o: any) => { delete o.state; };'],
    ['a decision that acts', 'cycle/decide.ts', "import { send } from '../sending/send.js';\nsend();"],
    ['a transition that waits', 'objects/transitions.ts', 'export const f = async () => { await 1; };'],
  ])('refuses %s', (_what, file, text) => {
    expect(violationsIn({ [file]: text })).toHaveLength(1);
  });

  it.each([
    ['the right method', 'objects/object.ts', 'class O { #state = 1; #become(s) { this.#state = s; } }'],
    ['own private fields', 'objects/x.ts', 'export class X { #all = new Map(); readonly key: string; }'],
    [
      'readonly collections',
      'objects/x.ts',
      'export interface X { readonly all: ReadonlyMap<string, readonly string[]> }',
    ],
    ['values of other names', 'cycle/x.ts', 'export const f = (o: any) => { o.other = 1; };'],
    [
      'types of those who act',
      'cycle/decide.ts',
      "import type { Sent } from '../sending/send.js';\nexport type X = Sent;",
    ],
  ])('permits %s', (_what, file, text) => {
    expect(violationsIn({ [file]: text })).toEqual([]);
  });
});
