/** One mistake in an object that was right: so a request is refused, or not, deep in the server. */
import type { Random } from './random.js';

export type Path = readonly (string | number)[];

/** The paths of everything within, the value itself left out. */
export function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  const entries: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([key, item]) => [[...path, key], ...pathsIn(item, [...path, key])]);
}

export function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (found, key) =>
      typeof found === 'object' && found !== null ? (found as Record<string | number, unknown>)[key] : undefined,
    value,
  );
}

/** A copy in which one place is changed; `undefined` removes it. */
export function changed(value: unknown, path: Path, change: (old: unknown) => unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return change(value);
  if (Array.isArray(value)) {
    const index = Number(key);
    const item = changed(value[index], rest, change);
    return item === undefined
      ? value.filter((_, one) => one !== index)
      : value.map((old, one) => (one === index ? item : old));
  }
  const record = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  const item = changed(record[key], rest, change);
  if (item !== undefined) return { ...record, [key]: item };
  return Object.fromEntries(Object.entries(record).filter(([other]) => other !== String(key)));
}

const oddTexts = [
  '',
  ' ',
  'A_B',
  '-a',
  'a.',
  'a..b',
  'Ünïcode',
  '☃',
  'with space',
  'x'.repeat(64),
  'x'.repeat(254),
  'a/b',
  'a/b/c',
  '0',
  'true',
  'null',
  '1.5',
  'new\nline',
  '\u0000',
  '<b>&',
  '10.0.0.1',
  'UPPER',
];
const oddNumbers = [-1, 0, 1, 1.5, 65_536, 2_147_483_648, -2_147_483_649, 1e30, 100_000];
const wrongTypes: readonly unknown[] = ['text', 12, true, null, {}, [], [null], { a: 'b' }, 1.5];

export const oddText = (random: Random): string => random.pick(oddTexts);

/** Another value, of the same type or not. */
export function oddValue(random: Random, old: unknown): unknown {
  if (random.chance(0.35)) return random.pick(wrongTypes);
  if (typeof old === 'string') return oddText(random);
  if (typeof old === 'number') return random.pick(oddNumbers);
  if (typeof old === 'boolean') return !old;
  if (Array.isArray(old)) return random.pick<unknown>([[], [...old, ...old], [null], [...old, {}], old[0] ?? 'x']);
  return random.pick<unknown>([{}, null, 'x', []]);
}

/** Places that are not looked at by themselves: an object of another kind or name tells little, and always the same. */
const rarely = new Set(['apiVersion', 'kind']);

function placeIn(random: Random, body: unknown): Path | undefined {
  const all = pathsIn(body);
  if (all.length === 0) return undefined;
  // Deep places are the most; all levels get their part.
  const depth = random.between(1, Math.max(...all.map((path) => path.length)));
  const candidates = all.filter((path) => path.length === depth);
  const chosen = random.pick(candidates);
  return rarely.has(String(chosen[0])) && random.chance(0.85) ? random.pick(all) : chosen;
}

/** The body with one mistake; a text, if it is not even JSON any more. */
export function mutated(random: Random, body: unknown): unknown {
  const path = placeIn(random, body);
  if (path === undefined) return random.pick(wrongTypes);
  return random.weighted<() => unknown>([
    [30, () => changed(body, path, (old) => oddValue(random, old))],
    [15, () => changed(body, path, () => undefined)],
    [10, () => withUnknown(random, body)],
    [5, () => changed(body, path, (old) => (Array.isArray(old) ? [...old, ...old.slice(0, 1)] : old))],
    [5, () => changed(body, path, () => null)],
    [4, () => withTwice(random, body)],
    [2, () => renamed(random, body, path)],
    [1, () => brokenText(random, JSON.stringify(body))],
  ])();
}

function withUnknown(random: Random, body: unknown): unknown {
  const objects = [[], ...pathsIn(body)].filter((path) => isRecord(at(body, path)));
  return changed(body, random.pick(objects), (old) => ({
    ...(old as object),
    [random.pick(['unknown', 'foo', 'Spec'])]: random.pick<unknown>(['x', 1, { a: 1 }]),
  }));
}

/** A key that is there twice, in the same object. */
function withTwice(random: Random, body: unknown): string {
  const text = JSON.stringify(body);
  const keys = [...text.matchAll(/(?<=[{,])"(?:[^"\\]|\\.)*":/g)];
  if (keys.length === 0) return text;
  const key = random.pick(keys);
  const index = key.index ?? 0;
  return `${text.slice(0, index)}${key[0]}${random.pick(['"x"', '1', 'null', '{}'])},${text.slice(index)}`;
}

function renamed(random: Random, body: unknown, path: Path): unknown {
  const key = path.at(-1);
  if (typeof key !== 'string') return body;
  const name = random.pick([key.toUpperCase(), `${key}s`, oddText(random)]);
  return changed(body, path.slice(0, -1), (parent) =>
    isRecord(parent)
      ? Object.fromEntries(Object.entries(parent).map(([one, item]) => [one === key ? name : one, item]))
      : parent,
  );
}

function brokenText(random: Random, text: string): string {
  return random.pick([
    text.slice(0, random.below(text.length)),
    `${text}}`,
    `${text} x`,
    text.replace('{', '['),
    '',
    'null',
    '[]',
    '"x"',
    `${text}${text}`,
  ]);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
