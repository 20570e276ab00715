/** Progress records as they are stored: the order of fields, what counts as a record and what does not. */
import { isMapping, type Mapping, type ProgressRecord, parseTimestamp } from '@kopf-ts/core';
import { type Complain, nameOf } from '../compact-json.js';

type Problem = string | undefined;

/** The fields of a record in the order in which they are stored, each with what is wrong with a value, if anything. */
const KOPF_FIELDS: ReadonlyMap<keyof ProgressRecord, (value: unknown) => Problem> = new Map([
  ['started', notTimestamp],
  ['stopped', notTimestamp],
  ['delayed', notTimestamp],
  ['purpose', notText],
  ['retries', notCount],
  ['success', notFlag],
  ['failure', notFlag],
  ['message', notText],
  ['subrefs', notIds],
]);

/** Kopf does not know these, and ignores them. */
export const OUR_FIELDS = ['digest', 'token', 'result'] as const;

/** Ours go last. */
const ALL_FIELDS: ReadonlyMap<keyof ProgressRecord, (value: unknown) => Problem> = new Map([
  ...KOPF_FIELDS,
  ...OUR_FIELDS.map((field) => [field, notText] as const),
]);

/**
 * What the storages write: exactly what Kopf would, or also what we add.
 *
 * ```ts
 * const compat: kopf.storage.Compat = 'kopf';
 * const storage = kopf.storage.smartProgressStorage({ compat });
 * ```
 */
export type Compat = 'kopf' | undefined;

/** The record with its fields in order, without nulls. */
export function strippedRecord(record: ProgressRecord, compat: Compat): Mapping {
  const stripped: Mapping = {};
  for (const field of (compat === 'kopf' ? KOPF_FIELDS : ALL_FIELDS).keys()) {
    const value = record[field];
    if (value !== undefined && value !== null) stripped[field] = value;
  }
  return stripped;
}

/** The record with its fields in order, with nulls for all fields that Kopf would have there. */
export function verboseRecord(record: ProgressRecord, compat: Compat): Mapping {
  const verbose: Mapping = {};
  for (const field of KOPF_FIELDS.keys()) verbose[field] = record[field] ?? null;
  return { ...verbose, ...strippedRecord(record, compat) };
}

/**
 * A record from what is stored, without nulls and without keys that we do not know. What is not a record is told
 * of, and counts as absent as a whole: a half of a record would be a false memory.
 */
export function readRecord(stored: unknown, complain: Complain): ProgressRecord | undefined {
  if (!isMapping(stored)) return complain(`it is ${nameOf(stored)}, not an object`);
  const record: Mapping = {};
  for (const [field, problemOf] of ALL_FIELDS) {
    const value = Object.hasOwn(stored, field) ? stored[field] : undefined;
    if (value === undefined || value === null) continue;
    const problem = problemOf(value);
    if (problem !== undefined) return complain(`its field "${field}" is ${problem}`);
    record[field] = value;
  }
  return record;
}

/** Whether it looks as what we or Kopf would write, with nothing else in it: others can have things in the same place. */
export function isRecord(stored: unknown): boolean {
  if (!isMapping(stored) || typeof stored.started !== 'string') return false;
  const isKnown = Object.keys(stored).every((field) => (ALL_FIELDS as ReadonlyMap<string, unknown>).has(field));
  return isKnown && readRecord(stored, () => undefined) !== undefined;
}

function notTimestamp(value: unknown): Problem {
  if (typeof value !== 'string') return `${nameOf(value)}, not a timestamp`;
  return parseTimestamp(value) === undefined ? 'not a timestamp' : undefined;
}

function notText(value: unknown): Problem {
  return typeof value === 'string' ? undefined : `${nameOf(value)}, not a string`;
}

function notFlag(value: unknown): Problem {
  return typeof value === 'boolean' ? undefined : `${nameOf(value)}, not true or false`;
}

function notCount(value: unknown): Problem {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : 'not a number of attempts';
}

function notIds(value: unknown): Problem {
  const isListOfTexts = Array.isArray(value) && value.every((item) => typeof item === 'string');
  return isListOfTexts ? undefined : 'not a list of ids';
}
