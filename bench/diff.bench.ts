/** How long a diff of two big objects takes, measured by what the engine itself needs to copy one of them. */
import { diff } from '@kopf-ts/core';
import { median } from './figures.js';

const ROUNDS = 15;
const REPEATS = 40;
const GOAL = 1;

export default async function run(): Promise<void> {
  const before = makeObject(100_000);
  const after = structuredClone(before);
  const last = after.spec.items.at(-1);
  if (last === undefined) throw new Error('The object is too small.');
  last.limits.cpu = '3';

  report('one change in nested mappings', { spec: mappingsOf(before) }, { spec: mappingsOf(after) });
  report('one change in a list', before, after);
}

interface Sample {
  spec: {
    items: {
      name: string;
      image: string;
      labels: Record<string, string>;
      limits: { cpu: string; memory: number };
      on: boolean;
    }[];
  };
}

/** An object like those in clusters (nested mappings, short texts), of about that many bytes of JSON. */
function makeObject(bytes: number): Sample {
  const sample: Sample = { spec: { items: [] } };
  for (let size = 0, n = 0; size < bytes; n++) {
    const item = {
      name: `container-${n}`,
      image: `registry.example.com/team/image-${n}:1.${n}`,
      labels: { app: `app-${n % 7}`, tier: 'backend', [`example.com/shard-${n % 50}`]: String(n) },
      limits: { cpu: '2', memory: n * 1024 },
      on: n % 2 === 0,
    };
    size += JSON.stringify(item).length;
    sample.spec.items.push(item);
  }
  return sample;
}

function mappingsOf(sample: Sample): Record<string, unknown> {
  return Object.fromEntries(sample.spec.items.map((item) => [item.name, item]));
}

function report(title: string, before: object, after: object): void {
  const diffs: number[] = [];
  const clones: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    diffs.push(timeOf(() => diff(before, after)));
    clones.push(timeOf(() => structuredClone(before)));
  }
  const ratio = median(diffs) / median(clones);
  const kilobytes = Math.round(JSON.stringify(before).length / 1000);
  const verdict = ratio <= GOAL ? 'ok' : `worse than the goal of ${GOAL}×`;
  console.log(
    `diff of ${kilobytes} KB, ${title}: ${median(diffs).toFixed(3)} ms = ${ratio.toFixed(2)}× structuredClone (${verdict})`,
  );
}

/** Milliseconds for one call. */
function timeOf(fn: () => unknown): number {
  const started = performance.now();
  for (let repeat = 0; repeat < REPEATS; repeat++) fn();
  return (performance.now() - started) / REPEATS;
}
