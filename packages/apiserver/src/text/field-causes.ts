/** The reasons why an object is refused, one function per kind of reason, worded as the real server words them. */
import type { Cause } from '../contracts/objects.js';
import { goJson, goQuote, goValue } from './go-text.js';

/** What the real server calls a place in an object when the place is the object itself. */
export const NOWHERE = '<nil>';

const withDetail = (text: string, detail: string): string => (detail === '' ? text : `${text}: ${detail}`);

export const required = (field: string, detail = ''): Cause => ({
  reason: 'FieldValueRequired',
  message: withDetail('Required value', detail),
  field,
});

export const invalidValue = (field: string, value: unknown, detail: string): Cause => ({
  reason: 'FieldValueInvalid',
  message: withDetail(`Invalid value: ${goValue(value)}`, detail),
  field,
});

export const invalidType = (field: string, value: unknown, detail: string): Cause => ({
  reason: 'FieldValueTypeInvalid',
  message: withDetail(`Invalid value: ${goValue(value)}`, detail),
  field,
});

export const notSupported = (field: string, value: unknown, supported: readonly string[]): Cause => ({
  reason: 'FieldValueNotSupported',
  message: withDetail(
    // As there: of types of their own, which texts are shown as JSON.
    `Unsupported value: ${typeof value === 'string' ? goJson(value) : goValue(value)}`,
    supported.length === 0 ? '' : `supported values: ${supported.map(goQuote).join(', ')}`,
  ),
  field,
});

export const duplicate = (field: string, value: unknown): Cause => ({
  reason: 'FieldValueDuplicate',
  message: `Duplicate value: ${goValue(value)}`,
  field,
});

export const forbiddenField = (field: string, detail: string): Cause => ({
  reason: 'FieldValueForbidden',
  message: withDetail('Forbidden', detail),
  field,
});

export const tooLong = (field: string, limit: number): Cause => ({
  reason: 'FieldValueTooLong',
  message: `Too long: may not be more than ${limit} ${limit === 1 ? 'byte' : 'bytes'}`,
  field,
});

export const tooMany = (field: string, actual: number, limit: number): Cause => ({
  reason: 'FieldValueTooMany',
  message: `Too many: ${actual}: must have at most ${limit} ${limit === 1 ? 'item' : 'items'}`,
  field,
});
