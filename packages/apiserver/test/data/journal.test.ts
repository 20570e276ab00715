import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { ServedObject } from '../../src/contracts/objects.js';
import type { Revision, Store } from '../../src/contracts/store.js';
import { createJournal, type OpenJournal, openJournal } from '../../src/data/journal.js';
import { readJournal } from '../../src/data/journal-reading.js';
import { makeStore } from '../../src/store/object-store.js';
import { newFolder } from './support.js';

interface Life {
  readonly store: Store;
  readonly journal: OpenJournal;
}

/** A store whose changes go to the file, with what is in the file. */
async function live(path: string, enough?: number): Promise<Life> {
  let journal: OpenJournal | undefined;
  const store = makeStore(undefined, {
    put: (revision) => journal?.put(revision),
    remove: (last) => journal?.remove(last),
  });
  const sizes = await readJournal(path, store);
  journal = openJournal({ path, sizes, store, ...(enough === undefined ? {} : { enough }) });
  return { store, journal };
}

function newFile(): string {
  const path = join(newFolder(), 'journal');
  createJournal(path, 1);
  return path;
}

/** Everything that a client could tell apart. */
function stateOf(store: Store): object {
  const objects = [...store.collections()].flatMap((collection) => store.list(collection));
  const told = ({ collection, json, version, labels, owners, finalizers, isDeleting, uid }: Revision): object => ({
    collection,
    json,
    version,
    labels,
    owners,
    finalizers,
    isDeleting,
    uid,
  });
  return { version: store.version, objects: objects.map(told) };
}

const object = (name: string, rest: object = {}, namespace = 'ns'): ServedObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(namespace === '' ? {} : { namespace }), uid: `uid of ${name}` },
  ...rest,
});

interface Write {
  readonly collection: string;
  readonly name: string;
  readonly namespace: string;
  readonly content: string | undefined;
}

/** Creates or replaces; or removes, if there is no content. Says whether anything has changed. */
function write(store: Store, { collection, namespace, name, content }: Write): boolean {
  const existing = store.get(collection, namespace, name);
  if (content === undefined) return existing !== undefined && store.remove(existing) !== undefined;
  const metadata = { name, uid: `${name}-1`, labels: { [content]: name }, finalizers: [content] };
  const made = object(name, { metadata: { ...metadata, ...(namespace === '' ? {} : { namespace }) }, data: content });
  return store.put(collection, made, existing) !== undefined;
}

const writes = fc.array(
  fc.record<Write>({
    collection: fc.constantFrom('configmaps', 'nodes', 'things.example.com'),
    namespace: fc.constantFrom('', 'a', 'b'),
    // Names of roles may be almost anything.
    name: fc.constantFrom('one', 'two', 'system:a b', 'naïve 名前', 'line\nbreak'),
    content: fc.option(fc.string({ unit: 'binary', maxLength: 40 }), { nil: undefined }),
  }),
  { maxLength: 30 },
);

describe('what was written is there again', () => {
  it('with versions, and nothing of what was removed', async () => {
    const path = newFile();
    const first = await live(path);
    const one = first.store.put('configmaps', object('one', { data: { text: 'ü\n' } }), undefined);
    first.store.put('configmaps', object('two'), undefined);
    first.store.remove(one ?? expect.fail());
    const second = await live(path);
    expect(stateOf(second.store)).toEqual(stateOf(first.store));
    expect(second.store.version).toBe(4);
    expect(second.store.list('configmaps').map(({ name }) => name)).toEqual(['two']);
  });

  it('and the changes since the beginning of the file are there for watches', async () => {
    const path = newFile();
    const first = await live(path);
    const one = first.store.put('configmaps', object('one'), undefined) ?? expect.fail();
    first.store.remove(one);
    const { store } = await live(path);
    expect(store.since('configmaps', 1).map(({ type, version }) => [type, version])).toEqual([
      ['ADDED', 2],
      ['DELETED', 3],
    ]);
    expect(store.listAt('configmaps', 'ns', 2).map(({ name }) => name)).toEqual(['one']);
    expect(() => store.since('configmaps', 0)).toThrow('too old resource version: 0 (1)');
  });

  it('after a kill at any moment: a beginning of the history, with all that was answered', async () => {
    const life = fc.record({ history: writes, turns: fc.array(fc.nat({ max: 3 })), killAt: fc.nat(), torn: fc.nat() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(life, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(200, 1000, 1e9),
        async (lives, enough) => {
          let path = newFile();
          for (const { history, turns, killAt, torn } of lives) {
            const { store, journal } = await live(path, enough);
            let [before, after] = [readFileSync(path), readFileSync(path)];
            let [answered, unanswered] = [stateOf(store), stateOf(store)];
            for (const [index, one] of history.slice(0, killAt % 30).entries()) {
              // Now and then, there is time for others: for writing the file anew, in several steps.
              for (let turn = turns[index] ?? 0; turn > 0; turn--) await new Promise((next) => setImmediate(next));
              [before, answered] = [readFileSync(path), stateOf(store)];
              write(store, one);
              [after, unanswered] = [readFileSync(path), stateOf(store)];
            }
            // Killed while it wrote the last change: a piece of the line is there, or all of it.
            expect(after.subarray(0, before.length).equals(before)).toBe(true);
            const size = before.length + (torn % (after.length - before.length + 1));
            const isWhole = size === after.length;
            const left = existsSync(`${path}.new`) ? readFileSync(`${path}.new`) : undefined;
            await journal.close();
            path = join(newFolder(), 'journal');
            writeFileSync(path, after.subarray(0, size));
            if (left !== undefined) writeFileSync(`${path}.new`, left);
            const again = await live(path, enough);
            await again.journal.close();
            expect(stateOf(again.store)).toEqual(isWhole ? unanswered : answered);
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it('after it was written anew, with what has come meanwhile', async () => {
    const path = newFile();
    const { store, journal } = await live(path, 5000);
    for (let round = 0; round < 60; round++) {
      write(store, { collection: 'configmaps', namespace: 'ns', name: `n${round % 7}`, content: 'x'.repeat(200) });
      // Some come while the file is being written anew, some before and after.
      if (round % 4 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    write(store, { collection: 'configmaps', namespace: 'ns', name: 'n3', content: undefined });
    await journal.settled();
    // What has come meanwhile may be a reason to do it again.
    write(store, { collection: 'configmaps', namespace: 'ns', name: 'n4', content: 'last' });
    await journal.settled();
    expect(statSync(path).size).toBeLessThan(10_000);
    expect(readFileSync(path, 'utf8')).not.toContain('put 2 ');
    const again = await live(path);
    expect(stateOf(again.store)).toEqual(stateOf(store));
    expect(again.store.version).toBe(63);
    expect(() => again.store.since('configmaps', 1)).toThrow('too old resource version');
  });

  it('also if it could not be written anew', async () => {
    const path = newFile();
    const { store, journal } = await live(path, 500);
    // Where the new file would be, there is a folder.
    mkdirSync(`${path}.new`);
    for (let round = 0; round < 9; round++) {
      write(store, { collection: 'configmaps', namespace: 'ns', name: 'one', content: 'x'.repeat(round * 50) });
    }
    await journal.settled();
    expect(stateOf((await live(path)).store)).toEqual(stateOf(store));
  });
});

describe('a file that ends in the middle of a line', () => {
  it.each(['5bdf1a0c put 3 confi', 'x', '\0\0\0\0\0\0\0\0'])('goes on before it: %j', async (piece) => {
    const path = newFile();
    const first = await live(path);
    first.store.put('configmaps', object('one'), undefined);
    appendFileSync(path, piece);
    const second = await live(path);
    expect(stateOf(second.store)).toEqual(stateOf(first.store));
    second.store.put('configmaps', object('two'), undefined);
    expect(stateOf((await live(path)).store)).toEqual(stateOf(second.store));
  });
});

describe('a damaged file is refused, with what to do', () => {
  async function written(): Promise<{ path: string; bytes: Buffer }> {
    const path = newFile();
    const { store } = await live(path);
    for (const name of ['one', 'two', 'three']) store.put('configmaps', object(name), undefined);
    return { path, bytes: readFileSync(path) };
  }

  it('whichever bit of its lines is wrong', async () => {
    const { path, bytes } = await written();
    const end = bytes.lastIndexOf('\n');
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: end - 1 }), fc.nat({ max: 7 }), async (at, bit) => {
        const wrong = Buffer.from(bytes);
        wrong[at] = (wrong[at] as number) ^ (1 << bit);
        writeFileSync(path, wrong);
        await expect(readJournal(path, makeStore())).rejects.toMatchObject({ code: 'KOPF_DATA_DAMAGED' });
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    [
      'a line is missing',
      (lines: string[]) => lines.toSpliced(2, 1),
      3,
      'it is of version 4, which is not the next one',
    ],
    ['the beginning is missing', (lines: string[]) => lines.slice(1), 1, 'it is not where it should be'],
    ['a line is there twice', (lines: string[]) => lines.toSpliced(2, 0, lines[1] ?? ''), 3, 'it is of version 2'],
    ['there is nothing in it', () => [], 1, 'it is missing'],
    ['it is something else', () => ['{"hello": "world"}', ''], 1, 'its checksum is wrong'],
  ])('if %s', async (_what, change, line, problem) => {
    const { path, bytes } = await written();
    writeFileSync(path, change(bytes.toString().split('\n')).join('\n'));
    const message = `The data cannot be read: line ${line} of ${path} is damaged: ${problem}`;
    await expect(readJournal(path, makeStore())).rejects.toThrow(message);
    await expect(readJournal(path, makeStore())).rejects.toThrow('move it away to begin with an empty cluster');
  });

  it('and the advice is good: what comes before the damage can be kept', async () => {
    const { path, bytes } = await written();
    writeFileSync(path, bytes.toString().replace('"three"', '"threx"'));
    const error: Error = (await readJournal(path, makeStore()).catch((reason: Error) => reason)) as Error;
    const length = Number(/head -c (\d+)/.exec(error.message)?.[1]);
    truncateSync(path, length);
    expect((await live(path)).store.list('configmaps').map(({ name }) => name)).toEqual(['one', 'two']);
  });
});

describe('a change that cannot be written', () => {
  it('does not happen, and is no obstacle for the next one', async () => {
    const path = newFile();
    const { store, journal } = await live(path);
    store.put('configmaps', object('one'), undefined);
    const before = stateOf(store);
    await journal.close();
    expect(() => store.put('configmaps', object('two'), undefined)).toThrow('the cluster is stopped');
    expect(stateOf(store)).toEqual(before);
    expect(stateOf((await live(path)).store)).toEqual(before);
  });

  it('leaves no piece of itself behind when the disk is full', async () => {
    const path = newFile();
    let room = Number.POSITIVE_INFINITY;
    vi.resetModules();
    vi.doMock('node:fs', async (original) => {
      const fs = await original<typeof import('node:fs')>();
      return {
        ...fs,
        writeSync(file: number, bytes: Buffer, from: number, length: number, position: number) {
          if (room === 0) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
          const done = fs.writeSync(file, bytes, from, Math.min(length, room), position);
          room -= done;
          return done;
        },
      };
    });
    const full = await import('../../src/data/journal.js');
    vi.doUnmock('node:fs');
    const store = makeStore(undefined, { put: (one) => journal.put(one), remove: (one) => journal.remove(one) });
    const journal = full.openJournal({ path, sizes: await readJournal(path, store), store });
    store.put('configmaps', object('one'), undefined);
    const before = stateOf(store);
    room = 20;
    expect(() => store.put('configmaps', object('two'), undefined)).toThrow('the change cannot be kept: ENOSPC');
    expect(stateOf(store)).toEqual(before);
    expect(stateOf((await live(path)).store)).toEqual(before);
    room = Number.POSITIVE_INFINITY;
    store.put('configmaps', object('three'), undefined);
    expect(stateOf((await live(path)).store)).toEqual(stateOf(store));
  });
});
