/**
 * A definition as the real server has it inside: what all versions have in common stands at the top, and fields have
 * the names of Go structures. It is visible to clients in the messages about invalid definitions.
 */
import { deepEqual, getOwn, isMapping, type Mapping } from '@kopf-ts/core';

/** Where the parts of versions stand inside: in each version, or in the definition if they are the same everywhere. */
export interface Hoisted {
  readonly versions: readonly Mapping[];
  readonly schema: boolean;
  readonly subresources: boolean;
  readonly additionalPrinterColumns: boolean;
  readonly selectableFields: boolean;
}

/** Tells which parts of versions are the same in all of them. */
export function hoist(versions: readonly Mapping[]): Hoisted {
  const isCommon = (key: string): boolean =>
    versions.every((version) => deepEqual(getOwn(version, key), getOwn(versions[0] ?? {}, key)));
  return {
    versions,
    schema: isCommon('schema'),
    subresources: isCommon('subresources'),
    additionalPrinterColumns: isCommon('additionalPrinterColumns'),
    selectableFields: isCommon('selectableFields'),
  };
}

/** The list of versions as messages show it; `given` is the field as it came. */
export function showVersions(hoisted: Hoisted, given: unknown): string {
  return Array.isArray(given) ? list(hoisted.versions.map((version) => showVersion(version, hoisted))) : 'null';
}

function showVersion(version: Mapping, hoisted: Hoisted): string {
  const unlessHoisted = (key: keyof Hoisted & string, show: (value: unknown) => string): string =>
    hoisted[key] === true ? 'null' : show(getOwn(version, key));
  return record([
    ['Name', JSON.stringify(getOwn(version, 'name') ?? '')],
    ['Served', String(getOwn(version, 'served') === true)],
    ['Storage', String(getOwn(version, 'storage') === true)],
    ['Deprecated', String(getOwn(version, 'deprecated') === true)],
    ['DeprecationWarning', json(getOwn(version, 'deprecationWarning'))],
    ['Schema', unlessHoisted('schema', showValidation)],
    ['Subresources', unlessHoisted('subresources', showSubresources)],
    ['AdditionalPrinterColumns', unlessHoisted('additionalPrinterColumns', showColumns)],
    ['SelectableFields', unlessHoisted('selectableFields', showSelectable)],
  ]);
}

function showValidation(value: unknown): string {
  if (!isMapping(value)) return 'null';
  return record([['OpenAPIV3Schema', orNull(getOwn(value, 'openAPIV3Schema'), showSchema)]]);
}

function showSubresources(value: unknown): string {
  if (!isMapping(value)) return 'null';
  const showScale = (scale: unknown): string =>
    record([
      ['SpecReplicasPath', text(scale, 'specReplicasPath')],
      ['StatusReplicasPath', text(scale, 'statusReplicasPath')],
      ['LabelSelectorPath', json(field(scale, 'labelSelectorPath'))],
    ]);
  return record([
    ['Status', orNull(getOwn(value, 'status'), () => '{}')],
    ['Scale', orNull(getOwn(value, 'scale'), showScale)],
  ]);
}

function showColumns(value: unknown): string {
  if (!Array.isArray(value)) return 'null';
  return list(
    value.map((column) =>
      record([
        ['Name', text(column, 'name')],
        ['Type', text(column, 'type')],
        ['Format', text(column, 'format')],
        ['Description', text(column, 'description')],
        ['Priority', json(field(column, 'priority') ?? 0)],
        ['JSONPath', text(column, 'jsonPath')],
      ]),
    ),
  );
}

function showSelectable(value: unknown): string {
  if (!Array.isArray(value)) return 'null';
  return list(value.map((selectable) => record([['JSONPath', text(selectable, 'jsonPath')]])));
}

/** A schema with all the fields which it could have. */
export function showSchema(schema: unknown): string {
  const own = (key: string): unknown => field(schema, key);
  const flag = (key: string): string => String(own(key) === true);
  const schemas = (key: string): string => {
    const value = own(key);
    return Array.isArray(value) && value.length > 0 ? list(value.map(showSchema)) : 'null';
  };
  const schemaMap = (key: string): string => {
    const value = own(key);
    if (!isMapping(value) || Object.keys(value).length === 0) return 'null';
    const entries = Object.keys(value).sort();
    return record(entries.map((name) => [name, showSchema(getOwn(value, name))]));
  };
  const orBool = (value: unknown): string =>
    record([
      ['Allows', String(value !== false)],
      ['Schema', isMapping(value) ? showSchema(value) : 'null'],
    ]);
  return record([
    ['ID', text(schema, 'id')],
    ['Schema', text(schema, '$schema')],
    ['Ref', json(own('$ref'))],
    ['Description', text(schema, 'description')],
    ['Type', text(schema, 'type')],
    ['Nullable', flag('nullable')],
    ['Format', text(schema, 'format')],
    ['Title', text(schema, 'title')],
    ['Default', json(own('default'))],
    ['Maximum', json(own('maximum'))],
    ['ExclusiveMaximum', flag('exclusiveMaximum')],
    ['Minimum', json(own('minimum'))],
    ['ExclusiveMinimum', flag('exclusiveMinimum')],
    ['MaxLength', json(own('maxLength'))],
    ['MinLength', json(own('minLength'))],
    ['Pattern', text(schema, 'pattern')],
    ['MaxItems', json(own('maxItems'))],
    ['MinItems', json(own('minItems'))],
    ['UniqueItems', flag('uniqueItems')],
    ['MultipleOf', json(own('multipleOf'))],
    ['Enum', json(own('enum'))],
    ['MaxProperties', json(own('maxProperties'))],
    ['MinProperties', json(own('minProperties'))],
    ['Required', json(own('required'))],
    ['Items', orNull(own('items'), showItems)],
    ['AllOf', schemas('allOf')],
    ['OneOf', schemas('oneOf')],
    ['AnyOf', schemas('anyOf')],
    ['Not', orNull(own('not'), showSchema)],
    ['Properties', schemaMap('properties')],
    ['AdditionalProperties', orNull(own('additionalProperties'), orBool)],
    ['PatternProperties', schemaMap('patternProperties')],
    ['Dependencies', 'null'],
    ['AdditionalItems', orNull(own('additionalItems'), orBool)],
    ['Definitions', schemaMap('definitions')],
    ['ExternalDocs', 'null'],
    ['Example', json(own('example'))],
    ['XPreserveUnknownFields', json(own('x-kubernetes-preserve-unknown-fields'))],
    ['XEmbeddedResource', flag('x-kubernetes-embedded-resource')],
    ['XIntOrString', flag('x-kubernetes-int-or-string')],
    ['XListMapKeys', json(own('x-kubernetes-list-map-keys'))],
    ['XListType', json(own('x-kubernetes-list-type'))],
    ['XMapType', json(own('x-kubernetes-map-type'))],
    ['XValidations', json(own('x-kubernetes-validations'))],
  ]);
}

function showItems(items: unknown): string {
  return record([
    ['Schema', Array.isArray(items) ? 'null' : showSchema(items)],
    ['JSONSchemas', Array.isArray(items) ? list(items.map(showSchema)) : 'null'],
  ]);
}

const record = (entries: readonly (readonly [string, string])[]): string =>
  `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
const list = (items: readonly string[]): string => `[${items.join(',')}]`;
const json = (value: unknown): string => JSON.stringify(value ?? null);
const field = (value: unknown, key: string): unknown => (isMapping(value) ? getOwn(value, key) : undefined);
const text = (value: unknown, key: string): string => json(field(value, key) ?? '');
const orNull = (value: unknown, show: (value: unknown) => string): string =>
  value === undefined || value === null ? 'null' : show(value);
