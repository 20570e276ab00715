/**
 * The types of the built-in kinds, as facts about the Kubernetes API 1.36, read type by type when first needed.
 *
 * `types.json` has one text for each type, made of words. `e2e/schemas` writes it, by what the real API server says of
 * its types in OpenAPI and by what the types themselves say; nobody edits it by hand. A word is about the whole type,
 * or about one field:
 *
 * - `@kind=group/version/Kind`: objects of this kind are of this type. `@atomic`: it belongs as a whole to the manager
 *   who has applied it. `@unions=…`: only for OpenAPI.
 * - `name`, then marks, then `#number` (on the wire of protobuf), then `:type`, then notes. The name `~` is a message
 *   whose fields are among those of its parent. The marks: `?` is left out when empty, `*` may be absent as opposed to
 *   empty, `0` is left out when it is the zero time. The types: `s` string, `b` boolean, `i` and `l` integers of 32 and
 *   64 bits, `f` number, `time`, `micro`, `quantity`, `intstr`, `bytes`, free JSON (`fields`, `raw`, `json`),
 *   `[]T` lists, `{}T` mappings, and the names of other types; where messages have a name of their own for a type, it
 *   stands in the brackets or after `@`. The notes: `;!` required, `;=…` the default (otherwise it is the zero value of
 *   what is always there), `;L=` the type of a list and its keys, `;M=` of a mapping, `;P=` the patch strategy and the
 *   merge key, `;E=` all possible values.
 */
import table from './types.json' with { type: 'json' };

export type TypeRef =
  | { readonly is: 'scalar'; readonly scalar: Scalar; readonly goName: string | undefined }
  | { readonly is: 'list'; readonly of: TypeRef; readonly goName: string | undefined }
  | { readonly is: 'map'; readonly of: TypeRef; readonly goName: string | undefined }
  | { readonly is: 'struct'; readonly name: string };

export type Scalar =
  | 's'
  | 'b'
  | 'i'
  | 'l'
  | 'f'
  | 'time'
  | 'micro'
  | 'quantity'
  | 'intstr'
  | 'bytes'
  | 'fields'
  | 'raw'
  | 'json'
  | 'propsOrBool'
  | 'propsOrArray'
  | 'propsOrStrings';

type ListType = 'atomic' | 'set' | 'map';
type MapType = 'atomic' | 'granular';

export interface Field {
  readonly name: string;
  readonly type: TypeRef;
  readonly omitsEmpty: boolean;
  readonly isPointer: boolean;
  readonly omitsZeroTime: boolean;
  /** On the wire of protobuf; absent for those that are in an inlined message. */
  readonly number: number | undefined;
  readonly isRequired: boolean;
  /** As OpenAPI has it: a few are real, and the others are zero values. */
  readonly default: unknown;
  readonly listType: ListType | undefined;
  /** Of a list of the type `map`: the fields by which its items are told apart. */
  readonly listKeys: readonly string[];
  readonly mapType: MapType | undefined;
  /** `merge`, `retainKeys`, or both. */
  readonly patchStrategies: readonly string[];
  readonly mergeKey: string | undefined;
  /** All possible values: its own, or those of its items. */
  readonly values: readonly string[] | undefined;
}

export interface StructType {
  readonly name: string;
  /** As error messages call it: without its package. */
  readonly shortName: string;
  readonly fields: readonly Field[];
  readonly byName: ReadonlyMap<string, Field>;
  /** All that can be on the wire; an inlined message is a field named `~`. */
  readonly byNumber: ReadonlyMap<number, Field>;
  readonly isAtomic: boolean;
  /** Of what kind objects of this type are, if they can be on their own. */
  readonly kind: TypeKind | undefined;
  readonly unions: readonly object[] | undefined;
}

interface TypeKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const texts: Readonly<Record<string, string>> = table;
const known = new Map<string, StructType>();
let namesByKind: ReadonlyMap<string, string> | undefined;

/** The type by its name in the table, such as `core.Pod`. An unknown one has no fields. */
export function typeNamed(name: string): StructType {
  const existing = known.get(name);
  if (existing !== undefined) return existing;
  const type = parseStruct(name, Object.hasOwn(texts, name) ? (texts[name] as string) : '');
  known.set(name, type);
  return type;
}

/** The name in the table of the type of a built-in kind; `undefined` if there is no such kind. */
export function typeNameOf(group: string, version: string, kind: string): string | undefined {
  namesByKind ??= new Map(
    Object.entries(texts).flatMap(([name, text]) => {
      const match = /^@kind=(\S+)/.exec(text);
      return match === null ? [] : [[match[1] as string, name] as const];
    }),
  );
  return namesByKind.get(`${group}/${version}/${kind}`);
}

/** Without its package, but with the version that is not the first one: `v1.Pod`, `v2.MetricSpec`. */
export function goNameOf(name: string): string {
  const [, version = 'v1', short = ''] = /^[^.]+\.(?:(v\w+)\.)?(.+)$/.exec(name) ?? [];
  return `${version}.${short}`;
}

function parseStruct(name: string, text: string): StructType {
  const words = text.split(' ').filter((word) => word !== '');
  const all = words.filter((word) => !word.startsWith('@')).map(parseField);
  const fields = all.filter((field) => field.name !== '~');
  const about = (prefix: string): string | undefined =>
    words.find((word) => word.startsWith(prefix))?.slice(prefix.length);
  const [group = '', version = '', kind] = about('@kind=')?.split('/') ?? [];
  const unions = about('@unions=');
  return {
    name,
    shortName: name.slice(name.lastIndexOf('.') + 1),
    fields,
    byName: new Map(fields.map((field) => [field.name, field])),
    byNumber: new Map(all.flatMap((field) => (field.number === undefined ? [] : [[field.number, field] as const]))),
    isAtomic: words.includes('@atomic'),
    kind: kind === undefined ? undefined : { group, version, kind },
    unions: unions === undefined ? undefined : (JSON.parse(unions) as object[]),
  };
}

function parseField(word: string): Field {
  const [fact = '', ...notes] = word.split(';');
  const colon = fact.indexOf(':');
  const [, name = '', marks = '', number] = /^(.*?)([?*0]*)(?:#(\d+))?$/.exec(fact.slice(0, colon)) ?? [];
  const type = parseType(fact.slice(colon + 1));
  const note = (key: string): string | undefined => notes.find((one) => one.startsWith(key))?.slice(key.length);
  const [listType, keys = ''] = note('L=')?.split(':') ?? [];
  const [strategies = '', mergeKey] = note('P=')?.split(':') ?? [];
  const [omitsEmpty, isPointer] = [marks.includes('?'), marks.includes('*')];
  const given = note('=');
  return {
    name,
    number: number === undefined ? undefined : Number(number),
    type,
    omitsEmpty,
    isPointer,
    omitsZeroTime: marks.includes('0'),
    isRequired: notes.includes('!'),
    default: given === undefined ? usualDefault(type, omitsEmpty, isPointer) : JSON.parse(given || 'null'),
    listType: listType as ListType | undefined,
    listKeys: keys === '' ? [] : keys.split(','),
    mapType: note('M=') as MapType | undefined,
    patchStrategies: strategies === '' ? [] : strategies.split(','),
    mergeKey,
    values: note('E=')?.split('|').map(decodeURIComponent),
  };
}

const ZEROS: Readonly<Partial<Record<Scalar, unknown>>> = { s: '', b: false, i: 0, l: 0 };

function usualDefault(type: TypeRef, omitsEmpty: boolean, isPointer: boolean): unknown {
  if (isPointer) return undefined;
  if (type.is === 'struct') return {};
  return type.is === 'scalar' && !omitsEmpty ? ZEROS[type.scalar] : undefined;
}

function parseType(text: string): TypeRef {
  const [, open, goName, inner = ''] = /^([[{])([^\]}]*)[\]}](.*)$/.exec(text) ?? [];
  if (open !== undefined) {
    return { is: open === '[' ? 'list' : 'map', of: parseType(inner), goName: goName === '' ? undefined : goName };
  }
  const [scalar = '', own] = text.split('@');
  if (scalar.includes('.')) return { is: 'struct', name: scalar };
  return { is: 'scalar', scalar: scalar as Scalar, goName: own };
}
