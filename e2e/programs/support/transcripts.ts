/** What came out of a run of a program, step by step; and whether it is the same on both servers. */
import { Comparison } from '../../differential/harness/comparison.js';
import { sortedKeys } from '../../differential/harness/normalise.js';
import { mapTexts } from '../../differential/harness/paths.js';
import type { Exchange } from '../../differential/harness/runner.js';
import type { Server } from './servers.js';

export interface Transcript {
  readonly server: Server;
  readonly steps: Exchange[];
  tell(step: string, answer: unknown): void;
}

export function transcript(server: Server): Transcript {
  const steps: Exchange[] = [];
  return { server, steps, tell: (step, answer) => void steps.push({ step, answer: masked(answer) }) };
}

/** For people; empty if there is nothing to tell. */
export function differencesBetween(real: Transcript, embedded: Transcript): string {
  const missing = real.steps.length === embedded.steps.length ? '' : 'They have not the same number of steps.\n';
  const place = { area: 'programs', sequence: '' };
  return missing + new Comparison([]).compare(place, ['real', real.steps], ['embedded', embedded.steps]);
}

const masks: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>'],
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?( [+-]\d{4} \w+)?/g, '<time>'],
  [/\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} [ \d]\d \d\d:\d\d:\d\d( \w+)? \d{4}/g, '<time>'],
  [/\b10\.\d+\.\d+\.\d+\b/g, '<address>'],
  [/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\s+/g, '<certificate>'],
  [/\n@@ -[\s\S]*/g, ''],
  [/(?<=Invalid value: )"\{(?:[^"\\]|\\.)*"/g, '<object>'],
  [/https:\/\/127\.0\.0\.1:\d+/g, '<server>'],
];

/** What no two runs have in common, and no more. Of the known differences, two show: `diffs-in-messages`, `order-in-quotes`. */
function masked(answer: unknown): unknown {
  const plain: unknown = JSON.parse(JSON.stringify(answer ?? null));
  return sortedKeys(mapTexts(withoutVersions(plain), maskText));
}

function maskText(text: string): string {
  return masks.reduce((rest, [pattern, mask]) => rest.replace(pattern, mask), text);
}

function withoutVersions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutVersions);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key === 'resourceVersion' && typeof item === 'string' ? '<version>' : withoutVersions(item),
    ]),
  );
}
