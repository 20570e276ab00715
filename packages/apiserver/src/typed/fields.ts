/** The table of the built-in kinds, read field by field when first needed. */
import { table } from './table.js';

export type TypeRef =
  | { readonly is: 'scalar'; readonly scalar: Scalar }
  | { readonly is: 'list'; readonly of: TypeRef }
  | { readonly is: 'map'; readonly of: TypeRef }
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
  | 'any'
  | 'propsOrBool'
  | 'propsOrArray'
  | 'propsOrStrings';

export interface Field {
  readonly name: string;
  readonly type: TypeRef;
  readonly omitsEmpty: boolean;
  readonly isPointer: boolean;
  readonly omitsZeroTime: boolean;
  /** On the wire of protobuf; absent for those that are in an inlined message. */
  readonly number: number | undefined;
}

export interface StructType {
  readonly name: string;
  /** As error messages call it: without its package. */
  readonly shortName: string;
  readonly fields: readonly Field[];
  readonly byName: ReadonlyMap<string, Field>;
  /** All that can be on the wire; an inlined message is a field named `~`. */
  readonly byNumber: ReadonlyMap<number, Field>;
}

/** Reads types on demand and remembers them: a cluster rarely meets more than a few kinds. */
export function typeReader(): (name: string) => StructType {
  const known = new Map<string, StructType>();
  return (name) => {
    const existing = known.get(name);
    if (existing !== undefined) return existing;
    const all = (table[name] ?? '')
      .split(' ')
      .filter((text) => text !== '')
      .map(parseField);
    const fields = all.filter((field) => field.name !== '~');
    const shortName = name.slice(name.indexOf('.') + 1);
    const type = {
      name,
      shortName,
      fields,
      byName: new Map(fields.map((field) => [field.name, field])),
      byNumber: new Map(all.flatMap((field) => (field.number === undefined ? [] : [[field.number, field] as const]))),
    };
    known.set(name, type);
    return type;
  };
}

function parseField(text: string): Field {
  const colon = text.lastIndexOf(':');
  const [, name = '', marks = '', number] = /^(.*?)([?*0]*)(?:#(\d+))?$/.exec(text.slice(0, colon)) ?? [];
  return {
    name,
    number: number === undefined ? undefined : Number(number),
    type: parseType(text.slice(colon + 1)),
    omitsEmpty: marks.includes('?'),
    isPointer: marks.includes('*'),
    omitsZeroTime: marks.includes('0'),
  };
}

function parseType(text: string): TypeRef {
  if (text.startsWith('[]')) return { is: 'list', of: parseType(text.slice(2)) };
  if (text.startsWith('{}')) return { is: 'map', of: parseType(text.slice(2)) };
  if (text.includes('.')) return { is: 'struct', name: text };
  return { is: 'scalar', scalar: text as Scalar };
}
