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
}

export interface StructType {
  readonly name: string;
  /** As error messages call it: without its package. */
  readonly shortName: string;
  readonly fields: readonly Field[];
  readonly byName: ReadonlyMap<string, Field>;
}

/** Reads types on demand and remembers them: a cluster rarely meets more than a few kinds. */
export function typeReader(): (name: string) => StructType {
  const known = new Map<string, StructType>();
  return (name) => {
    const existing = known.get(name);
    if (existing !== undefined) return existing;
    const fields = (table[name] ?? '')
      .split(' ')
      .filter((text) => text !== '')
      .map(parseField);
    const shortName = name.slice(name.indexOf('.') + 1);
    const type = { name, shortName, fields, byName: new Map(fields.map((field) => [field.name, field])) };
    known.set(name, type);
    return type;
  };
}

function parseField(text: string): Field {
  const colon = text.lastIndexOf(':');
  const marks = /[?*0]*$/.exec(text.slice(0, colon))?.[0] ?? '';
  return {
    name: text.slice(0, colon - marks.length),
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
