import { type FieldPath, type FieldSpec, parseField } from '@kopf-ts/core';

/** The path of a storage's field: `{name}` in dotted strings is the name of the operator; lists are taken as they are. */
export function namedField(spec: NonNullable<FieldSpec>, name: string): FieldPath {
  return parseField(typeof spec === 'string' ? spec.replaceAll('{name}', () => name) : spec);
}
