/** `metadata.managedFields`: who manages which fields, as objects carry it. */
import { isMapping } from '@kopf-ts/core';
import { type FieldSet, isEmpty, union } from './field-sets.js';

/** One manager with its fields. Entries never change; those that stay as they are, are shared. */
export interface ManagerEntry {
  readonly manager?: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly time?: string;
  readonly fieldsType: 'FieldsV1';
  readonly fieldsV1: FieldSet;
  readonly subresource?: string;
}

/** Who acts: with the version and the part of the object that it acts on. */
export type Identity = Pick<ManagerEntry, 'operation' | 'apiVersion'> & {
  readonly manager: string;
  readonly subresource: string;
};

export const NO_MANAGERS: readonly ManagerEntry[] = Object.freeze([]);

/** Managers that apply are the same ones in all versions of a kind. */
export function isOf(entry: ManagerEntry, { manager, operation, apiVersion, subresource }: Identity): boolean {
  return (
    entry.operation === operation &&
    (entry.manager ?? '') === manager &&
    (entry.subresource ?? '') === subresource &&
    (operation === 'Apply' || entry.apiVersion === apiVersion)
  );
}

/** Entries of the same manager should not be there twice; where they are, the last one counts. */
export function distinct(entries: readonly ManagerEntry[]): readonly ManagerEntry[] {
  if (entries.length < 2) return entries;
  const known = new Map(entries.map((entry) => [keyOf(entry), entry]));
  return known.size === entries.length ? entries : [...known.values()];
}

/** Two entries with the same key are of the same manager. */
export function keyOf({ manager = '', operation, apiVersion, subresource = '' }: ManagerEntry): string {
  return JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource]);
}

/** An entry as the API server writes it. */
export function entryOf(identity: Identity, fieldsV1: FieldSet, time: string | undefined): ManagerEntry {
  const { manager, operation, apiVersion, subresource } = identity;
  return {
    manager,
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...(subresource === '' ? {} : { subresource }),
  };
}

/** Says what is wrong with entries, in the words of the API server where these are known. */
export class NoManagersError extends Error {}

/** The entries that somebody has written. What is no step of a path is left out. Throws a `NoManagersError`. */
export function readManagers(value: unknown): readonly ManagerEntry[] {
  if (!Array.isArray(value)) throw new NoManagersError('no list');
  return value.map((item: unknown, index): ManagerEntry => {
    const entry = isMapping(item) ? item : {};
    const { operation, apiVersion = '', fieldsType = '' } = entry;
    if (operation !== 'Apply' && operation !== 'Update') {
      throw new NoManagersError('operation must be `Apply` or `Update`');
    }
    if (fieldsType === '') throw new NoManagersError(`missing fieldsType in managed fields entry ${index}`);
    if (fieldsType !== 'FieldsV1') {
      throw new NoManagersError(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`);
    }
    const fieldsV1 = readSet(entry.fieldsV1 ?? {});
    if (fieldsV1 === undefined || apiVersion === '') throw new NoManagersError(`error decoding manager ${index}`);
    return { ...(entry as unknown as ManagerEntry), fieldsV1 };
  });
}

/** The set itself, if there is nothing wrong with it. */
function readSet(value: unknown): FieldSet | undefined {
  if (!isMapping(value)) return undefined;
  let isRight = true;
  const kept: Record<string, FieldSet> = {};
  for (const step of Object.keys(value)) {
    const inside = readSet(value[step]);
    if (inside === undefined) return undefined;
    const isKnown = isKnownStep(step);
    if (isKnown && !isSound(step)) return undefined;
    if (isKnown) kept[step] = inside;
    isRight &&= isKnown && inside === value[step];
  }
  return isRight ? (value as unknown as FieldSet) : kept;
}

/** Kinds of steps that are not known may come one day. */
const isKnownStep = (step: string): boolean => step === '.' || /^[fkvi]:/.test(step);

function isSound(step: string): boolean {
  if (step === '.' || step.startsWith('f:')) return true;
  try {
    const data: unknown = JSON.parse(step.slice(2));
    return step.startsWith('k:') ? isMapping(data) : step.startsWith('v:') || Number.isInteger(data);
  } catch {
    return false;
  }
}

/** Does a client want nobody to manage anything any more? */
export function isReset(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const [first] = value as readonly unknown[];
  return value.length === 0 || (value.length === 1 && isMapping(first) && Object.keys(first).length === 0);
}

/** More managers that update than that become one. */
const MOST_UPDATING = 10;
const OTHERS = 'ancient-changes';

/** The entries in their order; without the ones that have nothing, and with the oldest ones as one if there are too many. */
export function settled(entries: readonly ManagerEntry[]): readonly ManagerEntry[] {
  return capped(entries.filter(({ fieldsV1 }) => !isEmpty(fieldsV1))).sort(inOrder);
}

function capped(entries: ManagerEntry[]): ManagerEntry[] {
  const updating = entries.filter(({ operation }) => operation === 'Update');
  let excess = updating.length - MOST_UPDATING;
  if (excess <= 0) return entries;
  const remaining = new Set(entries);
  /** By their versions: the ones with which older ones are joined. */
  const buckets = new Map<string, ManagerEntry>();
  for (const entry of updating.sort(byAge)) {
    if (excess <= 0) break;
    const bucket = buckets.get(entry.apiVersion);
    remaining.delete(entry);
    if (bucket !== undefined) {
      remaining.delete(bucket);
      excess--;
    }
    const identity: Identity = { manager: OTHERS, operation: 'Update', apiVersion: entry.apiVersion, subresource: '' };
    const joined = bucket === undefined ? entry : entryOf(identity, union(bucket.fieldsV1, entry.fieldsV1), entry.time);
    buckets.set(entry.apiVersion, joined);
    remaining.add(joined);
  }
  return [...remaining];
}

const byText = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0);

/** Times are texts of the same form, so they are compared as texts; none at all comes first. */
function byAge(a: ManagerEntry, b: ManagerEntry): number {
  return byText(a.time, b.time) || byText(a.manager, b.manager) || byText(a.apiVersion, b.apiVersion);
}

function inOrder(a: ManagerEntry, b: ManagerEntry): number {
  return byText(a.operation, b.operation) || byAge(a, b) || byText(a.subresource, b.subresource);
}
