/** The volumes of pods and where their data come from. */
import type { Mapping } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from '../../text/field-causes.js';
import { compareQuantities } from '../../typed/quantity.js';
import { dnsLabel } from '../names.js';

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

export interface CheckedVolumes {
  readonly causes: readonly Cause[];
  /** Those that can be mounted: nothing is wrong with them. */
  readonly usable: ReadonlyMap<unknown, Mapping>;
}

/** `before` are so many that are not in the list, and counted nevertheless. */
export function checkVolumes(spec: Mapping, path: string, before = 0): CheckedVolumes {
  const usable = new Map<unknown, Mapping>();
  const causes = itemsOf(spec, 'volumes').flatMap((volume, index) => {
    const at = `${path}[${before + index}]`;
    const { name } = volume;
    const ofName = isSet(name)
      ? dnsLabel(String(name), false).map((why) => invalidValue(`${at}.name`, name, why))
      : [required(`${at}.name`)];
    const found = [
      ...validateSource(volume, at),
      ...ofName,
      ...(usable.has(name) && ofName.length === 0 ? [duplicate(`${at}.name`, name)] : []),
    ];
    if (found.length === 0) usable.set(name, volume);
    return found;
  });
  return { causes, usable };
}

/** The real server looks at them in an order of its own. */
const SOURCES_FIRST = ['emptyDir', 'hostPath', 'gitRepo', 'secret', 'nfs', 'persistentVolumeClaim', 'configMap'];

function validateSource(volume: Mapping, path: string): readonly Cause[] {
  const rank = (key: string): number => SOURCES_FIRST.indexOf(key) + (SOURCES_FIRST.includes(key) ? 0 : 100);
  const given = Object.keys(volume)
    .filter((key) => key !== 'name' && isSet(volume[key]))
    .sort((a, b) => rank(a) - rank(b));
  return given.flatMap((key, index) => {
    // As there: one of them is misspelt.
    const field = key === 'downwardAPI' ? 'downwarAPI' : key;
    if (index > 0) return [forbiddenField(`${path}.${field}`, 'may not specify more than 1 volume type')];
    const source = maybeMapping(volume, key) ?? {};
    return checks[key]?.(source, `${path}.${key}`) ?? [];
  });
}

type Check = (source: Mapping, path: string) => readonly Cause[];

const needs =
  (...keys: readonly string[]) =>
  (source: Mapping, path: string): readonly Cause[] =>
    keys.filter((key) => !isSet(source[key])).map((key) => required(`${path}.${key}`));

const MODE = 'must be a number between 0 and 0777 (octal), both inclusive';
const modeProblem = (mode: unknown, field: string): readonly Cause[] =>
  typeof mode === 'number' && (mode < 0 || mode > 0o777) ? [invalidValue(field, mode, MODE)] : [];

const BACKSTEPS = "must not contain '..'";

function relativePath(value: unknown, field: string): readonly Cause[] {
  const path = String(value ?? '');
  if (path.startsWith('/')) return [invalidValue(field, path, 'must be a relative path')];
  return path.split('/').includes('..') ? [invalidValue(field, path, BACKSTEPS)] : [];
}

function validateItems(source: Mapping, path: string): readonly Cause[] {
  return itemsOf(source, 'items').flatMap(({ key, path: file, mode }, index) => {
    const at = `${path}.items[${index}]`;
    return [
      ...(isSet(key) ? [] : [required(`${at}.key`)]),
      ...(isSet(file) ? relativePath(file, `${at}.path`) : [required(`${at}.path`)]),
      ...modeProblem(mode, `${at}.mode`),
    ];
  });
}

const withItems =
  (key: string): Check =>
  (source, path) => [
    ...(isSet(source[key]) ? [] : [required(`${path}.${key}`)]),
    ...modeProblem(source.defaultMode, `${path}.defaultMode`),
    ...validateItems(source, path),
  ];

const HOST_PATHS = [
  ...['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'],
];

/** Problems are said to be of the whole, not of one of the items. */
function validateDownward(source: Mapping, at: string): readonly Cause[] {
  return itemsOf(source, 'items').flatMap((item) => {
    const [field, resource] = [maybeMapping(item, 'fieldRef'), maybeMapping(item, 'resourceFieldRef')];
    return [
      ...(isSet(item.path) ? relativePath(item.path, `${at}.path`) : [required(`${at}.path`)]),
      ...(field === undefined && resource === undefined
        ? [required(at, 'one of fieldRef and resourceFieldRef is required')]
        : []),
      ...(field !== undefined && resource !== undefined
        ? [invalidValue(at, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously')]
        : []),
      ...modeProblem(item.mode, `${at}.mode`),
    ];
  });
}

const PROJECTIONS = [
  'secret',
  'downwardAPI',
  'configMap',
  'serviceAccountToken',
  'clusterTrustBundle',
  'podCertificate',
];

function validateProjected(source: Mapping, path: string): readonly Cause[] {
  return [
    ...modeProblem(source.defaultMode, `${path}.defaultMode`),
    ...itemsOf(source, 'sources').flatMap((one, index) => {
      const at = `${path}.sources[${index}]`;
      const given = PROJECTIONS.filter((key) => maybeMapping(one, key) !== undefined);
      return [
        ...given.flatMap((key) => validateProjection(key, maybeMapping(one, key) ?? {}, `${at}.${key}`, path)),
        ...(given.length > 1 ? [forbiddenField(at, 'may not specify more than 1 volume type per source')] : []),
      ];
    }),
  ];
}

function validateProjection(key: string, one: Mapping, path: string, volume: string): readonly Cause[] {
  if (key === 'configMap' || key === 'secret') {
    return [...(isSet(one.name) ? [] : [required(`${path}.name`)]), ...validateItems(one, path)];
  }
  if (key === 'downwardAPI') return validateDownward(one, path);
  if (key !== 'serviceAccountToken') return [];
  const { expirationSeconds: seconds } = one;
  return [
    ...(typeof seconds === 'number' && seconds < 600
      ? [invalidValue(`${path}.expirationSeconds`, seconds, 'may not specify a duration less than 10 minutes')]
      : []),
    // As there: said of the volume.
    ...(isSet(one.path) ? relativePath(one.path, `${volume}.path`) : [required(`${volume}.path`)]),
  ];
}

/** Whose token would it be? Templates may leave that to whoever makes pods of them. */
export function tokenProblems(spec: Mapping): readonly Cause[] {
  if (isSet(spec.serviceAccountName)) return [];
  return itemsOf(spec, 'volumes').flatMap((volume, number) =>
    itemsOf(maybeMapping(volume, 'projected'), 'sources').flatMap((one, index) =>
      maybeMapping(one, 'serviceAccountToken') === undefined
        ? []
        : [
            forbiddenField(
              `spec.volumes[${number}].projected.sources[${index}].serviceAccountToken`,
              'must not be specified when serviceAccountName is not set',
            ),
          ],
    ),
  );
}

/** Also of volumes that are objects of their own. */
export function volumeSourceProblems(key: string, source: Mapping, path: string): readonly Cause[] {
  return key === 'nfs' || key === 'hostPath' ? (checks[key]?.(source, path) ?? []) : [];
}

const checks: Readonly<Record<string, Check>> = {
  configMap: withItems('name'),
  secret: withItems('secretName'),
  persistentVolumeClaim: needs('claimName'),
  nfs: (source, path) => [
    ...needs('server', 'path')(source, path),
    ...(String(source.path ?? '').startsWith('/')
      ? []
      : [invalidValue(`${path}.path`, source.path ?? '', 'must be an absolute path')]),
  ],
  hostPath: (source, path) => [
    ...(isSet(source.path)
      ? String(source.path).split('/').includes('..')
        ? [invalidValue(`${path}.path`, source.path, BACKSTEPS)]
        : []
      : [required(`${path}.path`)]),
    ...(HOST_PATHS.includes(String(source.type ?? '')) ? [] : [notSupported(`${path}.type`, source.type, HOST_PATHS)]),
  ],
  emptyDir: (source, path) =>
    source.sizeLimit !== undefined && compareQuantities(String(source.sizeLimit), '0') < 0
      ? [forbiddenField(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
      : [],
  downwardAPI: (source, path) => [
    ...modeProblem(source.defaultMode, `${path}.defaultMode`),
    ...validateDownward(source, path),
  ],
  projected: validateProjected,
};
