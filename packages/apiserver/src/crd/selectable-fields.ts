/** Fields by which custom objects can be selected: each has to be there, and to be simple. */
import { getOwn, isMapping, type Mapping } from '@kopf-ts/core';
import type { Cause } from '../contracts/objects.js';
import { itemsOf } from '../kinds/defaults/setting.js';
import { duplicate, invalidValue, required, tooMany } from '../text/field-causes.js';
import { parseStructural, type Structural } from './schemas/structural.js';

const MOST = 8;
const SIMPLE = ['string', 'boolean', 'integer'];
const TYPES =
  'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
const NO_FIELD = 'does not refer to a valid field';

export function validateSelectable(version: Mapping, schema: unknown, path: string): readonly Cause[] {
  const fields = itemsOf(version, 'selectableFields');
  if (fields.length === 0 || !isMapping(schema)) return [];
  const root = parseStructural(schema);
  const seen = new Set<string>();
  const causes = fields.flatMap((one, index): readonly Cause[] => {
    const field = `${path}[${index}].jsonPath`;
    const jsonPath = String(getOwn(one, 'jsonPath') ?? '');
    if (jsonPath === '') return [required(field)];
    const found = follow(jsonPath, root);
    if (typeof found === 'string') return [invalidValue(field, jsonPath, `is an invalid path: ${found}`)];
    const isRepeated = seen.has(jsonPath);
    seen.add(jsonPath);
    return [
      ...(/^\.metadata(?:\.|$)/.test(jsonPath)
        ? [invalidValue(field, jsonPath, 'must not point to fields in metadata')]
        : []),
      ...(SIMPLE.includes(found.type) ? [] : [invalidValue(field, jsonPath, TYPES)]),
      ...(isRepeated ? [duplicate(field, jsonPath)] : []),
    ];
  });
  return [...causes, ...(seen.size > MOST ? [tooMany(path, seen.size, MOST)] : [])];
}

/** The schema at the end of a path such as `.spec.color`, or what is wrong with the path. */
function follow(jsonPath: string, root: Structural): Structural | string {
  const tokens = jsonPath.match(/[.[\]]|[^.[\]]+/g) ?? [];
  let schema = root;
  for (let index = 0; index < tokens.length; index += 2) {
    const [token, name] = [tokens[index] as string, tokens[index + 1]];
    if (token === '[') return 'array notation is not allowed';
    if (token !== '.') return `expected [ or . but got: ${token}`;
    if (name === undefined) return 'unexpected end of JSON path';
    const others = schema.additionalProperties;
    const next =
      schema.properties.size > 0 ? schema.properties.get(name) : typeof others === 'object' ? others : undefined;
    if (next === undefined) return NO_FIELD;
    schema = next;
  }
  return schema;
}
