/**
 * Checking values against schemas. No library of JSON schemas does: the wording, the order, which of the alternatives
 * of `anyOf` is complained about, and what is forgiven for unchanged values are all specific to the real server.
 */
import { deepEqual, getOwn, isMapping, type Mapping } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import {
  invalidType,
  invalidValue,
  NOWHERE,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '../../text/field-causes.js';
import { goJson, goNumber, goQuote } from '../../text/go-text.js';
import { formatCheck } from './schema-formats.js';
import { patternCheck } from './schema-patterns.js';
import { type Structural, schemaOfOthers } from './structural.js';

/** Which old value belongs to the checked one; `undefined` as a whole if there is nothing to compare with. */
interface Correlation {
  readonly old: unknown;
}

/** The more checks have passed, the closer is the alternative to what was meant. */
interface Findings {
  readonly problems: Problem[];
  passed: number;
}

/** A cause that does not know yet where the checked value stands in the object. `undefined` is for the object itself. */
interface Problem {
  readonly path: string | undefined;
  readonly cause: (field: string) => Cause;
}

/**
 * Checks a value that stands at `base` of an object (empty for the object itself). Paths inside of messages begin at
 * the value, even where the fields begin at the object: the real server checks a status that way.
 */
export function validateValue(value: unknown, schema: Structural, base: string, old?: Correlation): readonly Cause[] {
  return examine(value, schema, '', old).problems.map(({ path, cause }) => {
    const relative = (path ?? '').replace(/^\./, '');
    if (relative === '') return cause(base === '' ? NOWHERE : base);
    return cause(base === '' ? relative : `${base}.${relative}`);
  });
}

function examine(value: unknown, schema: Structural, path: string, old: Correlation | undefined): Findings {
  const findings: Findings = { problems: [], passed: 0 };
  if (value === null) {
    checkNull(schema, path, findings);
    checkEnum(value, schema, path, findings);
  } else {
    if (schema.type !== '' || schema.isIntOrString || knownFormat(schema) !== '') {
      checkType(value, schema, path, findings);
      findings.passed++;
    }
    checkCombinations(value, schema, path, old, findings);
    findings.passed++;
    if (typeof value === 'string') checkString(value, schema, path, findings);
    if (typeof value === 'number') checkNumber(value, schema, path, findings);
    if (Array.isArray(value)) checkList(value, schema, path, old, findings);
    checkEnum(value, schema, path, findings);
    findings.passed++;
    if (isMapping(value)) checkMapping(value, schema, path, old, findings);
    findings.passed++;
  }
  // What was wrong before and has not changed is forgiven: definitions may become stricter than the stored objects.
  if (old !== undefined && findings.problems.length > 0 && deepEqual(value, old.old)) findings.problems.length = 0;
  return findings;
}

function report(findings: Findings, path: string | undefined, cause: (field: string) => Cause): void {
  findings.problems.push({ path, cause });
}

function merge(into: Findings, from: Findings): void {
  // One by one: there may be more of them than a call takes arguments.
  for (const problem of from.problems) into.problems.push(problem);
  into.passed += from.passed;
}

/** The types as they are named in messages. */
const expectedTypes = (schema: Structural): string => (schema.isIntOrString ? 'integer,string' : schema.type);

function knownFormat({ format, type, isIntOrString }: Structural): string {
  if (format === '' || isIntOrString) return '';
  if (type === '' || type === 'string') return formatCheck(format) === undefined ? '' : format;
  if (type === 'integer') return format === 'int32' || format === 'int64' ? format : '';
  if (type === 'number') return format === 'float' || format === 'double' ? format : '';
  return '';
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function checkNull(schema: Structural, path: string, findings: Findings): void {
  if (expectedTypes(schema) === '' || schema.nullable) findings.passed++;
  else reportType(findings, path, expectedTypes(schema), 'null');
}

function reportType(findings: Findings, path: string, expected: string, actual: string): void {
  const detail = `${path} in body must be of type ${expected}: ${goQuote(actual)}`;
  report(findings, path, (field) => invalidType(field, actual, detail));
}

function checkType(value: unknown, schema: Structural, path: string, findings: Findings): void {
  const actual = typeOf(value);
  const fits = schema.isIntOrString
    ? actual === 'integer' || actual === 'string'
    : actual === schema.type || (schema.type === 'number' && actual === 'integer');
  // A string is checked against its format alone; so is anything that could be one.
  const isLeftToFormat =
    knownFormat(schema) !== '' && !/integer|number/.test(schema.type) && (actual === 'string' || actual === 'array');
  if (fits || isLeftToFormat) findings.passed++;
  else if (knownFormat(schema) !== '' && actual !== 'string' && actual !== 'array') {
    // As there: whatever has a format of its own is compared with the format alone.
    reportType(findings, path, schema.format, FORMATS[actual] ?? '');
  } else reportType(findings, path, expectedTypes(schema), actual);
}

/** Of what has one in Go. */
const FORMATS: Readonly<Record<string, string>> = { integer: 'int64', number: 'float64' };

function checkString(value: string, schema: Structural, path: string, findings: Findings): void {
  findings.passed++;
  const length = schema.minLength === undefined && schema.maxLength === undefined ? 0 : [...value].length;
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    const limit = schema.maxLength;
    report(findings, path, (field) => tooLong(field, limit));
  } else if (schema.minLength !== undefined && length < schema.minLength) {
    reportValue(findings, path, value, `should be at least ${schema.minLength} chars long`);
  } else if (schema.pattern !== '') {
    const problem = patternCheck(schema.pattern)(value);
    if (problem !== undefined) reportValue(findings, path, value, `should match '${problem}'`);
  }
  const format = knownFormat(schema);
  const isOfFormat = format === '' ? undefined : formatCheck(format);
  if (isOfFormat === undefined) return;
  findings.passed++;
  if (!isOfFormat(value)) {
    const detail = `${path} in body must be of type ${format}: ${goQuote(value)}`;
    report(findings, path, (field) => invalidType(field, value, detail));
  }
}

function reportValue(findings: Findings, path: string, value: unknown, complaint: string): void {
  report(findings, path, (field) => invalidValue(field, value, `${path} in body ${complaint}`));
}

function checkNumber(value: number, schema: Structural, path: string, findings: Findings): void {
  findings.passed += 2;
  if (!fitsRange(value, schema)) {
    const format = knownFormat(schema);
    const title = format === '' ? '(default format)' : `with format ${format}`;
    const detail = `Checked value must be of type ${schema.type} ${title} in ${path}`;
    report(findings, undefined, (field) => invalidValue(field, '', detail));
  }
  checkMultiple(value, schema, path, findings);
  const minimum = boundary(value, schema.minimum, 'Minimum boundary', schema, path, findings);
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum)) {
    const relation = schema.exclusiveMinimum ? 'greater than' : 'greater than or equal to';
    reportValue(findings, path, value, `should be ${relation} ${goNumber(minimum)}`);
  }
  const maximum = boundary(value, schema.maximum, 'Maximum boundary', schema, path, findings);
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum)) {
    const relation = schema.exclusiveMaximum ? 'less than' : 'less than or equal to';
    reportValue(findings, path, value, `should be ${relation} ${goNumber(maximum)}`);
  }
}

function checkMultiple(value: number, schema: Structural, path: string, findings: Findings): void {
  const factor = boundary(value, schema.multipleOf, 'MultipleOf', schema, path, findings);
  if (factor === undefined) return;
  if (factor <= 0) {
    const detail = `factor MultipleOf declared for ${path} must be positive: ${goNumber(factor)}`;
    report(findings, path, (field) => invalidValue(field, factor, detail));
  } else if (!isMultiple(value, factor)) {
    reportValue(findings, path, value, `should be a multiple of ${goNumber(factor)}`);
  }
}

/**
 * The limit as the real server applies it: whole numbers are compared with whole limits, the fraction being cut off;
 * unless the field is for whole numbers only: then such a limit is a mistake, told with every object.
 */
function boundary(
  value: number,
  limit: number | undefined,
  title: string,
  schema: Structural,
  path: string,
  findings: Findings,
): number | undefined {
  if (limit === undefined || Number.isInteger(limit) || !Number.isInteger(value)) return limit;
  if (schema.type !== 'integer') return Math.trunc(limit);
  const format = knownFormat(schema) === '' ? '(default format)' : `with format ${schema.format}`;
  const detail = `${title} value must be of type integer ${format} in ${path}`;
  report(findings, undefined, (field) => invalidValue(field, '', detail));
  return limit;
}

function fitsRange(value: number, schema: Structural): boolean {
  if (schema.type === 'integer') {
    if (!Number.isInteger(value)) return false;
    if (schema.format === 'int32') return value >= -(2 ** 31) && value < 2 ** 31;
    return value >= -(2 ** 63) && value < 2 ** 63;
  }
  return !(schema.type === 'number' && schema.format === 'float') || Number.isFinite(Math.fround(value));
}

function isMultiple(value: number, factor: number): boolean {
  const ratio = factor < 1 ? (1 / factor) * value : value / factor;
  return Math.abs(ratio - Math.round(ratio)) < 1e-9;
}

function checkEnum(value: unknown, schema: Structural, path: string, findings: Findings): void {
  if (schema.enum.length === 0 || schema.enum.some((allowed) => allowed !== null && deepEqual(allowed, value))) return;
  const supported = schema.enum.map((allowed) => (typeof allowed === 'string' ? allowed : goJson(allowed)));
  report(findings, path, (field) => notSupported(field, value, supported));
}

function checkList(
  value: readonly unknown[],
  schema: Structural,
  path: string,
  old: Correlation | undefined,
  findings: Findings,
): void {
  findings.passed += 2;
  const { items, minItems, maxItems } = schema;
  if (items !== undefined) {
    value.forEach((item, index) => {
      merge(findings, examine(item, items, `${path}[${index}]`, correlateItem(item, schema, old)));
    });
  }
  const size = value.length;
  if (minItems !== undefined && size < minItems) {
    reportValue(findings, path, size, `should have at least ${minItems} items`);
  }
  if (maxItems !== undefined && size > maxItems) report(findings, path, (field) => tooMany(field, size, maxItems));
  if (
    schema.uniqueItems &&
    value.some((item, index) => value.slice(0, index).some((other) => deepEqual(item, other)))
  ) {
    reportValue(findings, path, '', "shouldn't contain duplicates");
  }
}

/** Items are recognized by their keys only; those of other lists have no identity. */
function correlateItem(item: unknown, schema: Structural, old: Correlation | undefined): Correlation | undefined {
  if (old === undefined || !Array.isArray(old.old) || schema.listType !== 'map' || !isMapping(item)) return undefined;
  const sameKeys = (other: unknown): boolean =>
    isMapping(other) && schema.listMapKeys.every((key) => deepEqual(getOwn(other, key), getOwn(item, key)));
  const found: unknown = old.old.find(sameKeys);
  return found === undefined ? undefined : { old: found };
}

function checkMapping(
  value: Mapping,
  schema: Structural,
  path: string,
  old: Correlation | undefined,
  findings: Findings,
): void {
  const keys = Object.keys(value);
  const { minProperties, maxProperties } = schema;
  if (minProperties !== undefined && keys.length < minProperties) {
    reportValue(findings, path, keys.length, `should have at least ${minProperties} properties`);
  }
  if (maxProperties !== undefined && keys.length > maxProperties) {
    report(findings, path, (field) => tooMany(field, keys.length, maxProperties));
  }
  const others = schemaOfOthers(schema);
  for (const key of keys) {
    if (schema.properties.has(key)) continue;
    if (schema.additionalProperties === 'closed') {
      report(findings, path, (field) => invalidValue(field, key, `${path}.${key} in body is a forbidden property`));
    } else if (others !== undefined) {
      const child = correlateKey(key, path, old);
      merge(findings, examine(getOwn(value, key), others, `${path}.${key}`, child));
    }
  }
  for (const [key, property] of schema.properties) {
    if (!Object.hasOwn(value, key)) continue;
    const place = path === '' ? key : `${path}.${key}`;
    merge(findings, examine(getOwn(value, key), property, place, correlateKey(key, path, old)));
  }
  for (const key of schema.required) {
    if (!Object.hasOwn(value, key)) report(findings, `${path}.${key}`, (field) => required(field));
  }
}

function correlateKey(key: string, path: string, old: Correlation | undefined): Correlation | undefined {
  if (old === undefined || !isMapping(old.old) || !Object.hasOwn(old.old, key)) return undefined;
  if (path === '' && (key === 'apiVersion' || key === 'kind')) return undefined;
  return { old: getOwn(old.old, key) };
}

function checkCombinations(
  value: unknown,
  schema: Structural,
  path: string,
  old: Correlation | undefined,
  findings: Findings,
): void {
  // Inside allOf/anyOf/oneOf/not, only the fields and items are compared with the old ones, not the value as a whole.
  const examineOne = (alternative: Structural): Findings => examineNested(value, alternative, path, old);
  const complain = (text: string): void => {
    report(findings, undefined, (field) => invalidValue(field, '', `${goQuote(path)} ${text}`));
  };
  if (schema.anyOf.length > 0) {
    const results = examineUntilValid(schema.anyOf, examineOne);
    const success = results.find(({ problems }) => problems.length === 0);
    if (success === undefined) complain('must validate at least one schema (anyOf)');
    merge(findings, success ?? closest(results));
  }
  if (schema.oneOf.length > 0) {
    const results = schema.oneOf.map(examineOne);
    const successes = results.filter(({ problems }) => problems.length === 0);
    const [success] = successes;
    if (successes.length === 1 && success !== undefined) merge(findings, success);
    else {
      const found = successes.length === 0 ? 'Found none valid' : `Found ${successes.length} valid alternatives`;
      complain(`must validate one and only one schema (oneOf). ${found}`);
      if (successes.length === 0) merge(findings, closest(results));
    }
  }
  if (schema.allOf.length > 0) {
    const results = schema.allOf.map(examineOne);
    for (const result of results) merge(findings, result);
    const failures = results.filter(({ problems }) => problems.length > 0);
    const none = failures.length === results.length ? '. None validated' : '';
    if (failures.length > 0) complain(`must validate all the schemas (allOf)${none}`);
  }
  if (schema.not !== undefined && examineOne(schema.not).problems.length === 0) {
    complain('must not validate the schema (not)');
  }
  findings.passed++;
}

function examineNested(value: unknown, schema: Structural, path: string, old: Correlation | undefined): Findings {
  if (old === undefined || !deepEqual(value, old.old)) return examine(value, schema, path, old);
  // The caller forgives an unchanged value; here, that would make any alternative look valid.
  return examine(value, schema, path, undefined);
}

function examineUntilValid(
  schemas: readonly Structural[],
  examineOne: (schema: Structural) => Findings,
): readonly Findings[] {
  const results: Findings[] = [];
  for (const schema of schemas) {
    const result = examineOne(schema);
    results.push(result);
    if (result.problems.length === 0) break;
  }
  return results;
}

/** The failure with the most checks passed; the first one of several. */
function closest(results: readonly Findings[]): Findings {
  return results.reduce((best, result) => (result.passed > best.passed ? result : best));
}
