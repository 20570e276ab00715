/**
 * Whether an object that was merged from a strategic patch can be read as its type: the real server does it by other
 * means than for bodies, and has other words for what cannot be read.
 */
import { getOwn, isMapping, type Mapping, setOwn } from '@kopf-ts/core';
import { type Scalar, type TypeRef, typeNamed } from '../schemas/types.js';
import { scalarValue, WrongType } from './scalars.js';

const KINDS: Readonly<Partial<Record<Scalar, string>>> = {
  s: 'string',
  b: 'bool',
  i: 'int32',
  l: 'int64',
  f: 'float64',
};

/** The first problem, in the order of the fields; `undefined` if there is none. */
export function restoringProblem(object: Mapping, type: string): string | undefined {
  return problemOf(object, { is: 'struct', name: type });
}

function problemOf(value: unknown, type: TypeRef): string | undefined {
  if (value === null || value === undefined) return undefined;
  switch (type.is) {
    case 'struct':
      if (!isMapping(value)) return `cannot restore struct from: ${kindOf(value)}`;
      return first(typeNamed(type.name).fields, (field) => {
        wrapInteger(value, field.name, field.type);
        return problemOf(getOwn(value, field.name), field.type);
      });
    case 'map':
      if (!isMapping(value)) return `cannot restore map from ${kindOf(value)}`;
      return first(Object.values(value), (item) => problemOf(item, type.of));
    case 'list':
      if (!Array.isArray(value)) return `cannot restore slice from ${kindOf(value)}`;
      return first(value, (item) => problemOf(item, type.of));
    case 'scalar':
      if (type.scalar === 'bytes') return bytesProblem(value);
      return scalarProblem(value, KINDS[type.scalar], type.goName);
  }
}

/** As there: an integer that is too big for its type becomes another one. */
function wrapInteger(holder: Mapping, name: string, type: TypeRef): void {
  const value = getOwn(holder, name);
  if (type.is !== 'scalar' || type.scalar !== 'i' || typeof value !== 'number' || !Number.isInteger(value)) return;
  // What is beyond 64 bits becomes their lowest number at first, of which 32 bits are zeros.
  setOwn(holder, name, Math.abs(value) < 2 ** 63 ? Number(BigInt.asIntN(32, BigInt(value))) : 0);
}

/** Bytes are read as they are from bodies, with a word before. */
function bytesProblem(value: unknown): string | undefined {
  try {
    scalarValue('bytes', value);
    return undefined;
  } catch (error) {
    return error instanceof WrongType ? undefined : `error decoding from json: ${(error as Error).message}`;
  }
}

function scalarProblem(value: unknown, wanted: string | undefined, goName: string | undefined): string | undefined {
  if (wanted === undefined) return undefined;
  const kind = kindOf(value);
  const isNumber = typeof value === 'number';
  if (wanted === 'string' || wanted === 'bool') {
    if (kind === wanted) return undefined;
    // In Go, integers can be made strings, though not here.
    const isConvertible = wanted === 'string' && kind === 'int64';
    return isConvertible ? `cannot convert ${kind} to ${goName ?? wanted}` : `unrecognized type: ${wanted}`;
  }
  if (!isNumber) return `unrecognized type: ${wanted}`;
  if (wanted === 'float64' || Number.isInteger(value)) return undefined;
  return `cannot convert ${kind} to ${goName ?? wanted}`;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'slice';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'string' ? 'string' : 'map';
}

function first<T>(items: Iterable<T>, look: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = look(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
