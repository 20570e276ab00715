/** Types as walks over values need them: what is one value is a leaf, and what has no schema is as its value is. */
import { isMapping } from '@kopf-ts/core';
import type { FieldType, FreeType, ListFieldType, MapFieldType } from '../../schemas/field-types.js';

export type ResolvedType = { readonly is: 'leaf' } | MapFieldType | ListFieldType;

const LEAF_TYPE: ResolvedType = { is: 'leaf' };
const FREE: FreeType = { is: 'free', isAtomic: false };
const FREE_MAP: MapFieldType = { is: 'map', relation: 'granular', field: () => FREE, declares: () => false };

export function resolved(type: FieldType, value: unknown): ResolvedType {
  switch (type.is) {
    case 'scalar':
      return LEAF_TYPE;
    case 'free':
      return !type.isAtomic && isMapping(value) ? FREE_MAP : LEAF_TYPE;
    default:
      return type.relation === 'atomic' ? LEAF_TYPE : type;
  }
}
