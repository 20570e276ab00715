/** Tells what an idle object or an idle daemon holds in the memory, by what it is and what holds it. See `bench/heap.mjs`. */
import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../apiserver/building.js';
import { withPrograms } from './contestants.js';

const WARM_UP = 500;
const SAMPLE = 2000;
const TOP = 100;

interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly [readonly string[]];
      readonly edge_fields: readonly string[];
      readonly edge_types: readonly [readonly string[]];
    };
  };
  readonly nodes: readonly number[];
  readonly edges: readonly number[];
  readonly strings: readonly string[];
}

interface Held {
  readonly count: number;
  readonly bytes: number;
}

export default async function heap([what = 'daemons']: readonly string[]): Promise<void> {
  if (what !== 'daemons' && what !== 'objects') throw new Error(`There is no "${what}", but daemons and objects.`);
  const folder = mkdtempSync(join(tmpdir(), 'kopf-ts-heap-'));
  try {
    await withPrograms(async ({ stubbed }) => {
      const env = { ...process.env, SNAPSHOTS: folder };
      const args = [what, String(WARM_UP), String(SAMPLE)];
      await messageOf(fork(stubbed, args, { execArgv: ['--expose-gc'], env }));
    });
    const [before, after] = ['before', 'after'].map((name) => heldIn(join(folder, `${name}.heapsnapshot`)));
    print(what, before ?? new Map(), after ?? new Map());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function print(what: string, before: ReadonlyMap<string, Held>, after: ReadonlyMap<string, Held>): void {
  const grown = [...after].map(([name, { count, bytes }]) => {
    const { count: countBefore, bytes: bytesBefore } = before.get(name) ?? { count: 0, bytes: 0 };
    return { name, count: (count - countBefore) / SAMPLE, bytes: (bytes - bytesBefore) / SAMPLE };
  });
  const total = grown.reduce((sum, { bytes }) => sum + bytes, 0);
  console.log(`One of the ${what}, with its object: ${total.toFixed(0)} bytes. Of that, how many, of how many bytes:`);
  const largest = grown.toSorted((a, b) => b.bytes - a.bytes).slice(0, TOP);
  for (const { name, count, bytes } of largest) {
    console.log(`${count.toFixed(2).padStart(7)} ${bytes.toFixed(0).padStart(6)}  ${name}`);
  }
}

/** By what it is, and by what holds it: the first that is found on the way from the roots. */
function heldIn(file: string): ReadonlyMap<string, Held> {
  const { snapshot, nodes, edges, strings } = JSON.parse(readFileSync(file, 'utf8')) as Snapshot;
  const { node_fields, node_types, edge_fields, edge_types } = snapshot.meta;
  const at = (name: string): number => node_fields.indexOf(name);
  const [type, name, size, edgeCount] = [at('type'), at('name'), at('self_size'), at('edge_count')];
  const [toNode, edgeType, edgeName] = [0, 1, 2].map((index) => {
    return edge_fields.indexOf(['to_node', 'type', 'name_or_index'][index] ?? '');
  }) as [number, number, number];
  const width = node_fields.length;
  const titleOf = (node: number): string => {
    const kind = node_types[0][nodes[node + type] ?? 0] ?? '';
    const text = strings[nodes[node + name] ?? 0] ?? '';
    return kind === 'object' ? text : kind === 'string' ? 'string' : `${kind} ${text.slice(0, 60)}`;
  };

  const edgesFrom = new Uint32Array(nodes.length / width + 1);
  for (let index = 0; index * width < nodes.length; index++) {
    edgesFrom[index + 1] = (edgesFrom[index] ?? 0) + (nodes[index * width + edgeCount] ?? 0) * edge_fields.length;
  }
  const holders = new Map<number, string>([[0, '']]);
  const queue = [0];
  for (let next = 0; next < queue.length; next++) {
    const node = queue[next] ?? 0;
    const [from = 0, to = 0] = [edgesFrom[node / width], edgesFrom[node / width + 1]];
    for (let edge = from; edge < to; edge += edge_fields.length) {
      const kind = edge_types[0][edges[edge + edgeType] ?? 0] ?? '';
      const target = edges[edge + toNode] ?? 0;
      if (kind === 'weak' || holders.has(target)) continue;
      const label = edges[edge + edgeName] ?? 0;
      const isNumber = kind === 'element' || kind === 'hidden';
      holders.set(target, `${titleOf(node)}.${isNumber ? '…' : strings[label]}`);
      queue.push(target);
    }
  }
  const held = new Map<string, Held>();
  for (const node of queue) {
    const title = `${titleOf(node)} of ${holders.get(node)}`;
    const { count, bytes } = held.get(title) ?? { count: 0, bytes: 0 };
    held.set(title, { count: count + 1, bytes: bytes + (nodes[node + size] ?? 0) });
  }
  return held;
}
