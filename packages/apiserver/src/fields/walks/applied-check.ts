/** Whether an applied configuration fits into the schema of its kind, in the words of the API server. */
import { isMapping, type Mapping } from '@kopf-ts/core';
import type { FieldType, ListFieldType, MapFieldType, ScalarType } from '../../schemas/field-types.js';
import { goSyntax, goText, goTypeOf } from '../../text/go-values.js';
import { fieldStep, itemStep, NoStepError, pathText } from '../field-steps.js';

/** What is wrong with it, each with its path. */
export function appliedProblems(configuration: unknown, type: FieldType): readonly string[] {
  return problemsIn(configuration, type, '', false);
}

/** The same for whole objects, where items that are there twice are no problem. Most of them fit. */
export function misfits(object: unknown, type: FieldType): readonly string[] {
  return fits(object, type) ? [] : problemsIn(object, type, '', true);
}

/** Is there nothing to tell? Paths and words cost more than the look itself. */
function fits(value: unknown, type: FieldType): boolean {
  if (value === null || value === undefined) return true;
  switch (type.is) {
    case 'scalar':
      return scalarProblems(value, type, '').length === 0;
    case 'free':
      return true;
    case 'map':
      if (!isMapping(value)) return false;
      for (const name of Object.keys(value)) {
        const fieldType = type.field(name);
        if (fieldType === undefined || !fits(value[name], fieldType)) return false;
      }
      return true;
    case 'list':
      // Items by keys may have none; that is told by those who look for them.
      return Array.isArray(value) && type.relation === 'atomic' && value.every((item) => fits(item, type.of));
  }
}

function problemsIn(value: unknown, type: FieldType, path: string, allowsTwins: boolean): readonly string[] {
  // Whether nothing is fine here is another question.
  if (value === null || value === undefined) return [];
  switch (type.is) {
    case 'scalar':
      return scalarProblems(value, type, path);
    case 'free':
      return [];
    case 'map':
      return isMapping(value)
        ? mapProblems(value, type, path, allowsTwins)
        : [`${path}: expected map, got &{${goText(value)}}`];
    case 'list':
      return Array.isArray(value)
        ? listProblems(value, type, path, allowsTwins)
        : [`${path}: expected list, got &{${goText(value)}}`];
  }
}

const NONE: readonly string[] = [];

function scalarProblems(value: unknown, { of }: ScalarType, path: string): readonly string[] {
  if (of === 'any' && typeof value === 'object') return [`${path}: expected any scalar, got &{${goText(value)}}`];
  if (of === 'string' && typeof value !== 'string') {
    return [`${path}: expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`];
  }
  if (of === 'number' && typeof value !== 'number') {
    return [`${path}: expected numeric (int or float), got ${goTypeOf(value)}`];
  }
  if (of === 'boolean' && typeof value !== 'boolean') return [`${path}: expected boolean, got &{${goText(value)}}`];
  return NONE;
}

function mapProblems(value: Mapping, type: MapFieldType, path: string, allowsTwins: boolean): readonly string[] {
  const problems: string[] = [];
  for (const name of Object.keys(value).sort()) {
    const at = `${path}${pathText([fieldStep(name)])}`;
    const fieldType = type.field(name);
    if (fieldType === undefined) return [...problems, `${at}: field not declared in schema`];
    problems.push(...problemsIn(value[name], fieldType, at, allowsTwins));
  }
  return problems;
}

function listProblems(
  items: readonly unknown[],
  type: ListFieldType,
  path: string,
  allowsTwins: boolean,
): readonly string[] {
  if (type.relation === 'atomic') {
    return items.flatMap((item, index) => problemsIn(item, type.of, `${path}[${index}]`, allowsTwins));
  }
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    try {
      const step = itemStep(type, item);
      if (seen.has(step) && !allowsTwins) problems.push(`${path}: duplicate entries for key ${pathText([step])}`);
      seen.add(step);
      problems.push(...problemsIn(item, type.of, `${path}${pathText([step])}`, allowsTwins));
    } catch (error) {
      if (!(error instanceof NoStepError)) throw error;
      return [...problems, `${path}: element ${index}: ${error.message}`];
    }
  }
  return problems;
}
