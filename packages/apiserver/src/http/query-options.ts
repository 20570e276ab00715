/** The query of a request, read and checked as kube-apiserver does it. */

import type { Cause } from '../contracts/objects.js';
import { forbiddenField, invalidValue, notSupported, required, tooLong } from '../text/field-causes.js';
import { isPrintable } from '../text/go-text.js';
import { badRequest, invalid } from './status-errors.js';

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  /** Empty if the client leaves it to the server. */
  readonly fieldManager: string;
  /** Of applications only: whatever others manage is taken from them. */
  readonly force: boolean;
  /** As webhooks get them. */
  readonly object: Readonly<Record<string, unknown>>;
}

export interface ListOptions {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly isWatch: boolean;
  readonly allowsBookmarks: boolean;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly timeoutSeconds: number | undefined;
  readonly limit: number;
  readonly continueToken: string;
  readonly sendInitialEvents: boolean | undefined;
}

const VALIDATIONS = ['', 'Ignore', 'Strict', 'Warn'];

/** Of a creation, an update or a patch: `kind` is `CreateOptions` and so on. */
export function parseWriteOptions(query: URLSearchParams, kind: string, isApplication = false): WriteOptions {
  const dryRun = query.getAll('dryRun');
  const fieldValidation = query.get('fieldValidation') ?? '';
  const fieldManager = query.get('fieldManager') ?? '';
  const force = booleanOf(query, 'force');
  const isForceForbidden = kind === 'PatchOptions' && !isApplication && force !== undefined;
  const causes = [
    ...(isApplication && fieldManager === '' ? [required('fieldManager', 'is required for apply patch')] : []),
    ...(isForceForbidden ? [forbiddenField('force', 'may not be specified for non-apply patch')] : []),
    ...validateFieldManager(fieldManager),
    ...validateDryRun(dryRun),
    ...(VALIDATIONS.includes(fieldValidation) ? [] : [notSupported('fieldValidation', fieldValidation, VALIDATIONS)]),
  ];
  refuse(kind, causes);
  return {
    dryRun: dryRun.length > 0,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as WriteOptions['fieldValidation']),
    fieldManager,
    force: force === true,
    object: {
      // A patch is an update, as far as webhooks can see.
      kind: kind === 'PatchOptions' ? 'UpdateOptions' : kind,
      apiVersion: 'meta.k8s.io/v1',
      ...(dryRun.length > 0 ? { dryRun } : {}),
      ...(fieldManager === '' ? {} : { fieldManager }),
      ...(fieldValidation === '' ? {} : { fieldValidation }),
    },
  };
}

/** In bytes. */
export const LONGEST_MANAGER = 128;

function validateFieldManager(name: string): readonly Cause[] {
  const causes: Cause[] = [];
  if (Buffer.byteLength(name) > LONGEST_MANAGER) causes.push(tooLong('fieldManager', LONGEST_MANAGER));
  let position = 0;
  for (const char of name) {
    if (!isPrintable(char)) {
      const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      causes.push(invalidValue('fieldManager', name, `invalid character U+${code} (at position ${position})`));
    }
    position += Buffer.byteLength(char);
  }
  return causes;
}

export function validateDryRun(values: readonly unknown[]): readonly Cause[] {
  if (values.length === 0 || values.every((value) => value === 'All')) return [];
  return [notSupported('dryRun', values, ['All'])];
}

export function parseListOptions(query: URLSearchParams, isWatchPath: boolean): ListOptions {
  const options: ListOptions = {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    isWatch: isWatchPath || booleanOf(query, 'watch') === true,
    allowsBookmarks: booleanOf(query, 'allowWatchBookmarks') === true,
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    timeoutSeconds: integerOf(query, 'timeoutSeconds'),
    limit: integerOf(query, 'limit') ?? 0,
    continueToken: query.get('continue') ?? '',
    sendInitialEvents: booleanOf(query, 'sendInitialEvents'),
  };
  refuse('ListOptions', options.isWatch ? validateWatch(options) : validateList(options));
  return options;
}

function validateList(options: ListOptions): readonly Cause[] {
  const { resourceVersion, resourceVersionMatch: match } = options;
  const field = 'resourceVersionMatch';
  const causes: Cause[] = [];
  if (match !== '') {
    if (resourceVersion === '') {
      causes.push(forbiddenField(field, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    }
    if (options.continueToken !== '') {
      causes.push(forbiddenField(field, 'resourceVersionMatch is forbidden when continue is provided'));
    }
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      causes.push(notSupported(field, match, ['Exact', 'NotOlderThan', '']));
    }
    if (match === 'Exact' && resourceVersion === '0') {
      causes.push(forbiddenField(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (options.sendInitialEvents !== undefined) {
    causes.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  return causes;
}

function validateWatch(options: ListOptions): readonly Cause[] {
  const { resourceVersionMatch: match, sendInitialEvents } = options;
  const field = 'resourceVersionMatch';
  const causes: Cause[] = [];
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    causes.push(forbiddenField(field, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (match === '') return causes;
  if (sendInitialEvents === undefined) {
    causes.push(
      forbiddenField(field, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'),
    );
  }
  if (match !== 'NotOlderThan') causes.push(notSupported(field, match, ['NotOlderThan']));
  if (options.continueToken !== '') {
    causes.push(forbiddenField(field, 'resourceVersionMatch is forbidden when continue is provided'));
  }
  return causes;
}

/** Refuses the options, if there is anything to say against them. */
export function refuse(kind: string, causes: readonly Cause[]): void {
  if (causes.length > 0) throw invalid({ group: 'meta.k8s.io', kind }, '', causes);
}

/** Anything but a clear no is a yes. */
function booleanOf(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  return text === null ? undefined : text !== '0' && text.toLowerCase() !== 'false';
}

export function integerOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const problem = !/^[+-]?\d+$/.test(text) ? 'invalid syntax' : isInt64(text) ? undefined : 'value out of range';
  if (problem !== undefined) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${problem}`);
  return Number(text);
}

const isInt64 = (text: string): boolean => BigInt.asIntN(64, BigInt(text)) === BigInt(text);

/** A resource version as a number: 0 if there is none. Throws a plain error with the reason. */
export function parseVersion(text: string): number {
  if (text === '') return 0;
  if (!/^\d+$/.test(text)) {
    throw new Error(
      `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  return Number(text);
}
