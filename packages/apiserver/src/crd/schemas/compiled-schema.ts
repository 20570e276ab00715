/** Structural schemas of custom resources: what the rest of the server knows of them. */
import { getOwn, isMapping, type Mapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../../contracts/objects.js';
import type { CompiledSchema, JsonSchema, SchemaCompiler } from '../../contracts/schema.js';
import { invalidValue, NOWHERE } from '../../text/field-causes.js';
import { checkSchema } from './schema-check.js';
import { readEmbedded } from './schema-embedded.js';
import { validateEmbedded, validateLists } from './schema-lists.js';
import { dropForeignNulls, fillIn, pruneObject } from './schema-prune.js';
import { validateValue } from './schema-validate.js';
import { parseStructural, type Structural, someNode } from './structural.js';

/** With these problems, rules would be of no use, and the real server says so. */
const BLOCKING: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

const RULES_NOT_CHECKED =
  'some validation rules were not checked because the object was invalid; ' +
  'correct the existing errors to complete validation';

/** Compiles the schemas of custom resources. Rules (`x-kubernetes-validations`) are accepted, but not evaluated. */
export const schemaCompiler: SchemaCompiler = {
  compile(schema: JsonSchema, { preserveUnknownFields }): CompiledSchema {
    const parsed = parseStructural(schema);
    const root: Structural = preserveUnknownFields ? { ...parsed, preservesUnknownFields: true } : parsed;
    const hasRules = someNode(root, (node) => node.hasRules);
    // Most schemas have neither; their objects need not be walked through for nothing.
    const hasUniqueLists = someNode(root, ({ listType }) => listType === 'set' || listType === 'map');
    const hasEmbedded = someNode(root, (node) => node.isEmbeddedResource);
    const listProblems = (object: ServedObject): readonly Cause[] =>
      hasUniqueLists ? validateLists(object, root) : [];
    return {
      prune: (object) => pruneObject(object as Mapping, root),
      dropNulls: (object) => dropForeignNulls(object, root),
      fillIn: (object) => fillIn(object, root),
      readEmbedded(object, readMetadata) {
        if (hasEmbedded) readEmbedded(object, root, readMetadata);
      },
      validate(object, old, part) {
        const found = [
          ...validateSchema(root, object, old, part),
          ...(hasEmbedded ? validateEmbedded(object, root) : []),
          ...(old === undefined || listProblems(old).length === 0 ? listProblems(object) : []),
        ];
        const areRulesBlocked = hasRules && found.some(({ reason }) => BLOCKING.has(reason));
        return areRulesBlocked ? [...found, invalidValue(NOWHERE, null, RULES_NOT_CHECKED)] : found;
      },
    };
  },
  check: checkSchema,
};

function validateSchema(
  root: Structural,
  object: ServedObject,
  old: ServedObject | undefined,
  part: 'status' | undefined,
): readonly Cause[] {
  if (part === undefined) return validateValue(object, root, '', old === undefined ? undefined : { old });
  const schema = root.properties.get('status');
  const status = getOwn(object, 'status');
  if (schema === undefined || status === undefined) return [];
  const hadStatus = isMapping(old) && Object.hasOwn(old, 'status');
  return validateValue(status, schema, 'status', hadStatus ? { old: getOwn(old, 'status') } : undefined);
}
