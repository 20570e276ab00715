/** Config maps and secrets. */
import { deepEqual, isMapping, type Mapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../../contracts/objects.js';
import { maybeMapping } from '../../kinds/defaults/setting.js';
import { forbiddenField, invalidValue, required, tooLong } from '../../text/field-causes.js';
import { parseJson } from '../../text/json-syntax.js';
import { jsonTypeOf } from '../../typed/scalars.js';
import type { KindRules } from './rules.js';

const MAX_SIZE = 1024 * 1024;
const KEY = /^[-._a-zA-Z0-9]+$/;

function keyProblems(key: string): readonly string[] {
  if (key === '.' || key === '..') return [`must not be '${key}'`];
  if (key.startsWith('..')) return ["must not start with '..'"];
  return [
    ...(key.length > 253 ? ['must be no more than 253 characters'] : []),
    ...(KEY.test(key)
      ? []
      : [
          "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
        ]),
  ];
}

const checkKeys = (data: Mapping, field: string): readonly Cause[] =>
  Object.keys(data).flatMap((key) => keyProblems(key).map((why) => invalidValue(`${field}[${key}]`, key, why)));

const sizeOf = (data: Mapping, isEncoded: boolean): number => {
  let size = 0;
  for (const text of Object.values(data)) size += Buffer.byteLength(String(text), isEncoded ? 'base64' : 'utf8');
  return size;
};

function checkImmutable(object: ServedObject, old: ServedObject, fields: readonly string[]): readonly Cause[] {
  if (old.immutable !== true) return [];
  const why = 'field is immutable when `immutable` is set';
  return [
    ...(object.immutable === true ? [] : [forbiddenField('immutable', why)]),
    ...fields.flatMap((field) => (deepEqual(object[field], old[field]) ? [] : [forbiddenField(field, why)])),
  ];
}

const configMap: KindRules = {
  validate(object) {
    const [data, binary] = [maybeMapping(object, 'data') ?? {}, maybeMapping(object, 'binaryData') ?? {}];
    const doubled = Object.keys(data).filter((key) => Object.hasOwn(binary, key));
    return [
      ...checkKeys(data, 'data'),
      ...doubled.map((key) => invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData')),
      ...checkKeys(binary, 'binaryData'),
      ...(sizeOf(data, false) + sizeOf(binary, true) > MAX_SIZE ? [tooLong('[]', MAX_SIZE)] : []),
    ];
  },
  validateUpdate: (object, old) => checkImmutable(object, old, ['data', 'binaryData']),
};

/** What must be there, by type; of several lists one must be complete. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};

const secret: KindRules = {
  validate(object) {
    const data = maybeMapping(object, 'data') ?? {};
    return [
      ...checkKeys(data, 'data'),
      ...(sizeOf(data, true) > MAX_SIZE ? [tooLong('data', MAX_SIZE)] : []),
      ...checkSecretType(object, data),
    ];
  },
  warnings: (object) => (object.type === 'kubernetes.io/tls' ? pairProblem(maybeMapping(object, 'data') ?? {}) : []),
  validateUpdate: (object, old) => [
    ...(object.type === old.type ? [] : [invalidValue('type', object.type, 'field is immutable')]),
    ...checkImmutable(object, old, ['data']),
  ],
};

/** A pair that nobody could use is stored, but told of. */
function pairProblem(data: Mapping): readonly string[] {
  const hasPem = (key: string): boolean =>
    Buffer.from(String(data[key] ?? ''), 'base64')
      .toString('latin1')
      .includes('-----BEGIN ');
  const missing = [
    ['tls.crt', 'certificate'],
    ['tls.key', 'key'],
  ].find(([key = '']) => !hasPem(key));
  return missing === undefined ? [] : [`tls: failed to find any PEM data in ${missing[1]} input`];
}

function checkSecretType(object: ServedObject, data: Mapping): readonly Cause[] {
  const type = String(object.type);
  if (type === 'kubernetes.io/service-account-token') {
    const name = 'kubernetes.io/service-account.name';
    const hasName = isMapping(object.metadata.annotations) && object.metadata.annotations[name] !== undefined;
    return hasName ? [] : [required(`metadata.annotations[${name}]`)];
  }
  if (type === 'kubernetes.io/basic-auth') {
    const fields = ['username', 'password'];
    return fields.some((field) => Object.hasOwn(data, field)) ? [] : fields.map((field) => required(`data[${field}]`));
  }
  const fields = Object.hasOwn(REQUIRED, type) ? (REQUIRED[type] ?? []) : [];
  const missing = fields.filter((field) => !Object.hasOwn(data, field));
  if (missing.length > 0) return missing.map((field) => required(`data[${field}]`));
  if (!type.startsWith('kubernetes.io/dockerc')) return [];
  return fields.flatMap((field) => checkJson(String(data[field]), `data[${field}]`));
}

const REDACTED = '<secret contents redacted>';

function checkJson(encoded: string, field: string): readonly Cause[] {
  try {
    const data = parseJson(Buffer.from(encoded, 'base64').toString('utf8'));
    if (data === null || isMapping(data)) return [];
    const why = `json: cannot unmarshal ${jsonTypeOf(data)} into Go value of type map[string]interface {}`;
    return [invalidValue(field, REDACTED, why)];
  } catch (error) {
    return [invalidValue(field, REDACTED, (error as Error).message)];
  }
}

export const configRules: Readonly<Record<string, KindRules>> = { 'core.ConfigMap': configMap, 'core.Secret': secret };
