/** Patches of the four kinds, made of parts of valid objects. */
import type { Fields } from '../sequences/objects.js';
import { at, changed, oddValue, type Path, pathsIn } from './mutations.js';
import type { Random } from './random.js';

/** Some of the fields, at all levels; lists are taken as they are, or in parts. */
function pieceOf(random: Random, value: unknown, takesListsApart = false): unknown {
  if (Array.isArray(value)) {
    if (!takesListsApart || value.length === 0) return value;
    return random
      .some(value, 1, 0.7)
      .map((item) => (isRecord(item) && random.chance(0.5) ? withKeys(random, item) : item));
  }
  if (!isRecord(value)) return value;
  const keys = Object.keys(value);
  if (keys.length === 0) return value;
  const kept = random.some(keys, 1, 0.45);
  return Object.fromEntries(kept.map((key) => [key, pieceOf(random, value[key], takesListsApart)]));
}

/** Items of lists are known by these: without one of them, there is nothing to merge with. */
const identifying = new Set(['name', 'port', 'containerPort', 'protocol', 'type', 'mountPath', 'ip', 'key']);

function withKeys(random: Random, item: Readonly<Record<string, unknown>>): Fields {
  return Object.fromEntries(Object.entries(item).filter(([key]) => identifying.has(key) || random.chance(0.5)));
}

/** Some of its fields become `null`: they are to be removed. */
function withNulls(random: Random, value: unknown): unknown {
  const paths = pathsIn(value).filter((path) => path.every((key) => typeof key === 'string'));
  if (paths.length === 0 || random.chance(0.7)) return value;
  return changed(value, random.pick(paths), () => null);
}

export function mergePatchOf(random: Random, fresh: Fields): unknown {
  return withNulls(random, pieceOf(random, fresh));
}

const pointer = (path: Path): string =>
  path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** Operations on what was last sent, with values of a fresh object. */
export function jsonPatchOf(random: Random, last: Fields, fresh: Fields): unknown {
  const operation = (): Fields => {
    const known = pathsIn(last);
    const other = pathsIn(fresh);
    const place = known.length === 0 ? ['metadata'] : random.pick(known);
    return random.weighted<() => Fields>([
      [
        6,
        () => {
          const path = other.length === 0 ? place : random.pick(other);
          return { op: 'replace', path: pointer(path), value: at(fresh, path) ?? 'x' };
        },
      ],
      [
        5,
        () => {
          const path = other.length === 0 ? place : random.pick(other);
          return { op: 'add', path: pointer(path), value: at(fresh, path) ?? 'x' };
        },
      ],
      [4, () => ({ op: 'remove', path: pointer(place) })],
      [3, () => ({ op: 'test', path: pointer(place), value: at(last, place) ?? null })],
      [1, () => ({ op: 'test', path: pointer(place), value: oddValue(random, at(last, place)) })],
      [2, () => ({ op: 'add', path: `${pointer(random.pick(listsIn(last)))}/-`, value: oddValue(random, 'x') })],
      [2, () => ({ op: 'replace', path: pointer(place), value: oddValue(random, at(last, place)) })],
      [
        1,
        () => ({
          op: 'copy',
          from: pointer(place),
          path: pointer(random.pick([place, ['metadata', 'labels', 'copied']])),
        }),
      ],
      [
        1,
        () => ({ op: 'move', from: pointer(place), path: pointer(random.pick([place, ['metadata', 'annotations']])) }),
      ],
      [2, () => ({ op: 'add', path: '/metadata/labels', value: { app: 'web' } })],
      [2, () => ({ op: 'add', path: '/metadata/annotations/note', value: 'x' })],
      [
        1,
        () =>
          random.pick<Fields>([
            { op: 'remove', path: '/not/there' },
            { op: 'add', path: '', value: {} },
            { op: 'other', path: '/metadata' },
            { op: 'add', path: 'metadata', value: 1 },
            { op: 'replace', path: '/metadata/name', value: 'other' },
            { op: 'remove', path: '/metadata/name' },
            { path: '/metadata' },
            { op: 'add', path: '/metadata/finalizers', value: ['example.com/a'] },
          ]),
      ],
    ])();
  };
  return Array.from(
    {
      length: random.weighted([
        [5, 1],
        [3, 2],
        [1, 3],
      ]),
    },
    operation,
  );
}

function listsIn(value: unknown): Path[] {
  const lists = pathsIn(value).filter((path) => Array.isArray(at(value, path)));
  return lists.length === 0 ? [['metadata', 'finalizers']] : lists;
}

/** A merge patch that knows the keys of lists, with a directive now and then. */
export function strategicPatchOf(random: Random, fresh: Fields): unknown {
  const piece = withNulls(random, pieceOf(random, fresh, true));
  if (random.chance(0.65)) return piece;
  const objects = pathsIn(piece).filter((path) => isRecord(at(piece, path)));
  const lists = pathsIn(piece).filter((path) => Array.isArray(at(piece, path)));
  return random.weighted<() => unknown>([
    [
      3,
      () =>
        objects.length === 0
          ? piece
          : changed(piece, random.pick(objects), (old) => ({
              ...(old as object),
              $patch: random.pick(['delete', 'replace', 'merge']),
            })),
    ],
    [
      1,
      () =>
        objects.length === 0
          ? piece
          : changed(piece, random.pick(objects), (old) => ({
              ...(old as object),
              $retainKeys: Object.keys(old as object).slice(0, random.between(1, 3)),
            })),
    ],
    [2, () => (lists.length === 0 ? piece : withOrder(random, piece, random.pick(lists)))],
    [1, () => ({ ...(piece as object), metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] } })],
    [1, () => ({ ...(piece as object), $patch: random.pick(['replace', 'delete', 'merge', 'wrong']) })],
    [
      1,
      () =>
        lists.length === 0
          ? piece
          : changed(piece, random.pick(lists), (old) => [...(old as unknown[]), { $patch: 'replace' }]),
    ],
  ])();
}

function withOrder(random: Random, piece: unknown, path: Path): unknown {
  const list = at(piece, path) as readonly unknown[];
  const keys = list.map((item) => {
    if (!isRecord(item)) return item;
    const [key, value] = Object.entries(item).find(([one]) => identifying.has(one)) ?? ['name', 'x'];
    return { [key]: value };
  });
  const order = random.chance(0.5) ? keys.reverse() : keys;
  const key = `$setElementOrder/${String(path.at(-1))}`;
  return changed(piece, path.slice(0, -1), (parent) => ({ ...(parent as object), [key]: order }));
}

/** What one manager wants: parts of a valid object, or all of it. */
export function appliedPart(random: Random, fresh: Fields): Fields {
  return (random.chance(0.45) ? fresh : pieceOf(random, fresh, true)) as Fields;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
