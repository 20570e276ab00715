/** Reads a CPU profile of V8, and sums it up by package, file and function of the sources behind a bundle. */
import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload, type SourceMapping } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Interval } from './moments.js';

interface Frame {
  readonly functionName: string;
  readonly url: string;
  /** Both from zero. */
  readonly lineNumber: number;
  readonly columnNumber: number;
}

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: Frame; readonly children?: readonly number[] }[];
  /** In microseconds of the system's monotonic clock. */
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface Place {
  /** A package of ours or of third parties, or what else takes time. */
  readonly group: string;
  readonly file: string;
  readonly name: string;
  readonly line: number;
}

export interface Summary {
  /** Milliseconds with something to do. */
  readonly busy: number;
  readonly groups: ReadonlyMap<string, number>;
  readonly files: ReadonlyMap<string, number>;
  readonly self: ReadonlyMap<string, number>;
  readonly inclusive: ReadonlyMap<string, number>;
}

/** Only what was sampled in the interval counts, and a sample not for much longer than samples are apart. */
export function summarise(file: string, { from, to }: Interval, apartMs: number): Summary {
  const profile = JSON.parse(readFileSync(file, 'utf8')) as Profile;
  const placeOf = places();
  const nodes = new Map(profile.nodes.map((node) => [node.id, { place: placeOf(node.callFrame), parent: 0 }]));
  for (const { id, children = [] } of profile.nodes) for (const child of children) nodes.get(child)!.parent = id;

  const [groups, files, self, inclusive] = [counter(), counter(), counter(), counter()];
  let busy = 0;
  let at = profile.startTime / 1000;
  for (const [index, id] of profile.samples.entries()) {
    at += (profile.timeDeltas[index] ?? 0) / 1000;
    // If it took longer to the next one, the machine was busy with others.
    const elapsed = Math.min((profile.timeDeltas[index + 1] ?? 0) / 1000, 4 * apartMs);
    const leaf = nodes.get(id);
    if (leaf === undefined || at < from || at > to || leaf.place.name === '(idle)') continue;
    busy += elapsed;
    add(groups, leaf.place.group, elapsed);
    add(files, `${leaf.place.group} ${leaf.place.file}`, elapsed);
    add(self, titleOf(leaf.place), elapsed);
    const stack = new Set<string>();
    for (let node = nodes.get(id); node !== undefined; node = nodes.get(node.parent)) stack.add(titleOf(node.place));
    for (const title of stack) add(inclusive, title, elapsed);
  }
  return { busy, groups, files, self, inclusive };
}

function titleOf({ name, file, group, line }: Place): string {
  return file === '' ? name : `${name} (${group} ${file}:${line})`;
}

/** Gives the place of a frame in the sources, where the bundle has a map beside itself. */
function places(): (frame: Frame) => Place {
  const maps = new Map<string, SourceMap | undefined>();
  const mapOf = (url: string): SourceMap | undefined => {
    if (!maps.has(url)) maps.set(url, readMap(url));
    return maps.get(url);
  };
  return ({ functionName, url, lineNumber, columnNumber }) => {
    const name = functionName || '(anonymous)';
    const line = lineNumber + 1;
    if (url === '') return { name, line, file: '', group: name.startsWith('(') ? name : 'native functions' };
    if (url.startsWith('wasm:')) return { name, line, file: url, group: 'WebAssembly' };
    if (url.startsWith('node:')) return { name, line, file: url.slice('node:'.length), group: 'node' };
    const entry: Partial<SourceMapping> = mapOf(url)?.findEntry(lineNumber, columnNumber) ?? {};
    const { originalSource = url, originalLine = lineNumber } = entry;
    return { name, line: originalLine + 1, ...fileOf(originalSource) };
  };
}

function fileOf(path: string): Pick<Place, 'group' | 'file'> {
  const [, theirs, file] = path.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)\/(.*)/) ?? [];
  if (theirs !== undefined && file !== undefined) return { group: theirs, file };
  const [, ours, source] = path.match(/packages\/([^/]+)\/src\/(.*)/) ?? [];
  if (ours !== undefined && source !== undefined) return { group: ours, file: source };
  return { group: 'the program itself', file: path.split('/').at(-1) ?? '' };
}

function readMap(url: string): SourceMap | undefined {
  const file = url.startsWith('file:') ? `${fileURLToPath(url)}.map` : '';
  if (!existsSync(file)) return undefined;
  return new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload);
}

function counter(): Map<string, number> {
  return new Map();
}

function add(counts: Map<string, number>, key: string, amount: number): void {
  counts.set(key, (counts.get(key) ?? 0) + amount);
}
