/** Volumes, claims and endpoints. */
import { isIP } from 'node:net';
import { deepEqual, type Mapping } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { forbiddenField, invalidValue, notSupported, required } from '../../text/field-causes.js';
import { compareQuantities } from '../../typed/quantity.js';
import { dnsSubdomain } from '../names.js';
import { volumeSourceProblems } from '../pods/pod-volumes.js';
import { validateNodeSelector } from '../pods/scheduling.js';
import type { KindRules } from './rules.js';

/** What is no source of a volume. */
const OTHER_FIELDS: ReadonlySet<string> = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
]);

const isEmpty = (value: unknown): boolean => !Array.isArray(value) || value.length === 0;

function validateVolume(object: Mapping): readonly Cause[] {
  const spec = maybeMapping(object, 'spec') ?? {};
  const capacity = maybeMapping(spec, 'capacity') ?? {};
  const { persistentVolumeReclaimPolicy: policy, volumeMode: mode } = spec;
  const hasSource = Object.keys(spec).some((key) => !OTHER_FIELDS.has(key));
  const isStorageAlone = Object.keys(capacity).join() === 'storage';
  return [
    ...(isEmpty(spec.accessModes) ? [required('spec.accessModes')] : validateModes(spec.accessModes)),
    ...(Object.keys(capacity).length === 0 ? [required('spec.capacity')] : []),
    ...(isStorageAlone ? [] : [notSupported('spec.capacity', spec.capacity ?? null, ['storage'])]),
    ...(isStorageAlone && compareQuantities(String(capacity.storage), '0') <= 0
      ? [invalidValue('spec.capacity[storage]', capacity.storage, 'must be greater than zero')]
      : []),
    ...(policy === undefined || RECLAIM_POLICIES.includes(String(policy))
      ? []
      : [notSupported('spec.persistentVolumeReclaimPolicy', policy, RECLAIM_POLICIES)]),
    ...(hasSource ? [] : [required('spec', 'must specify a volume type')]),
    ...sourcesOf(spec).flatMap((key) => volumeSourceProblems(key, maybeMapping(spec, key) ?? {}, `spec.${key}`)),
    ...sourcesOf(spec)
      .slice(1)
      .map((key) => forbiddenField(`spec.${key}`, 'may not specify more than 1 volume type')),
    ...(sourcesOf(spec)[0] === 'local' && maybeMapping(spec, 'nodeAffinity') === undefined
      ? [required('spec.nodeAffinity', 'Local volume requires node affinity')]
      : []),
    ...affinityProblems(maybeMapping(spec, 'nodeAffinity')),
    ...(typeof spec.storageClassName === 'string' && spec.storageClassName !== ''
      ? dnsSubdomain(spec.storageClassName, false).map((why) =>
          invalidValue('spec.storageClassName', spec.storageClassName, why),
        )
      : []),
    ...(mode === undefined || VOLUME_MODES.includes(String(mode))
      ? []
      : [notSupported('spec.volumeMode', mode, VOLUME_MODES)]),
  ];
}

const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain'];

const volume: KindRules = {
  validate: validateVolume,
  validateUpdate(object, old) {
    const sourceOf = (volumeObject: Mapping): Mapping => {
      const spec = maybeMapping(volumeObject, 'spec') ?? {};
      return Object.fromEntries(sourcesOf(spec).map((key) => [key, spec[key]]));
    };
    const [now, before] = [maybeMapping(object, 'spec')?.volumeMode, maybeMapping(old, 'spec')?.volumeMode];
    const field = 'spec.persistentvolumesource';
    return [
      // As there: a changed volume is looked at as a whole twice.
      ...validateVolume(object),
      ...(deepEqual(sourceOf(object), sourceOf(old))
        ? []
        : [forbiddenField(field, `${field} is immutable after creation`)]),
      ...(now === before ? [] : [invalidValue('volumeMode', now ?? null, 'field is immutable')]),
    ];
  },
};

/** The real server looks at them in an order of its own, and this is one that may be there twice. */
const sourcesOf = (spec: Mapping): string[] =>
  Object.keys(spec)
    .filter((key) => !OTHER_FIELDS.has(key))
    .sort((a, b) => Number(a !== 'hostPath') - Number(b !== 'hostPath'));

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const VOLUME_MODES = ['Block', 'Filesystem'];

function validateModes(value: unknown): readonly Cause[] {
  const field = 'spec.accessModes';
  const modes = Array.isArray(value) ? value : [];
  if (modes.length === 0) return [required(field, 'at least 1 access mode is required')];
  const unknown = modes.filter((mode) => !ACCESS_MODES.includes(mode));
  return [
    ...unknown.map((mode) => notSupported(field, mode, ACCESS_MODES)),
    ...(unknown.length === 0 && modes.length > 1 && modes.includes('ReadWriteOncePod')
      ? [forbiddenField(field, 'may not use ReadWriteOncePod with other access modes')]
      : []),
  ];
}

const claim: KindRules = {
  validate(object) {
    const spec = maybeMapping(object, 'spec') ?? {};
    const requests = maybeMapping(maybeMapping(spec, 'resources'), 'requests') ?? {};
    return [
      ...validateModes(spec.accessModes),
      ...(requests.storage === undefined ? [required('spec.resources[storage]')] : []),
      ...(requests.storage !== undefined && compareQuantities(String(requests.storage), '0') <= 0
        ? [invalidValue('spec.resources[storage]', requests.storage, 'must be greater than zero')]
        : []),
      ...(typeof spec.storageClassName === 'string' && spec.storageClassName !== ''
        ? dnsSubdomain(spec.storageClassName, false).map((why) =>
            invalidValue('spec.storageClassName', spec.storageClassName, why),
          )
        : []),
      ...['dataSource', 'dataSourceRef'].flatMap((key) => {
        const source = maybeMapping(spec, key);
        return ['name', 'kind']
          .filter((field) => source !== undefined && (source[field] === undefined || source[field] === ''))
          .map((field) => required(`spec.${key}.${field}`));
      }),
      ...(spec.volumeMode === undefined || VOLUME_MODES.includes(String(spec.volumeMode))
        ? []
        : [notSupported('spec.volumeMode', spec.volumeMode, VOLUME_MODES)]),
    ];
  },
  validateUpdate(object, old) {
    const isBound = maybeMapping(old, 'status')?.phase === 'Bound';
    const unchangeable = (claimed: Mapping): Mapping => {
      const spec = { ...maybeMapping(claimed, 'spec') };
      if (isBound) {
        spec.resources = undefined;
        spec.volumeAttributesClassName = undefined;
      }
      // A class may be given to a claim that has none, and the volume to one that waits for it.
      const before = maybeMapping(old, 'spec') ?? {};
      if (before.storageClassName === undefined) spec.storageClassName = undefined;
      if (before.volumeName === undefined || before.volumeName === '') spec.volumeName = undefined;
      return spec;
    };
    const storageOf = (holder: Mapping | undefined): string => String(maybeMapping(holder, 'requests')?.storage ?? '0');
    const capacity = String(maybeMapping(maybeMapping(old, 'status'), 'capacity')?.storage ?? '0');
    const wanted = storageOf(maybeMapping(maybeMapping(object, 'spec'), 'resources'));
    const known = storageOf(maybeMapping(maybeMapping(old, 'spec'), 'resources'));
    const tooSmall =
      compareQuantities(wanted, known) < 0 && compareQuantities(wanted, capacity) <= 0
        ? [forbiddenField('spec.resources.requests.storage', 'field can not be less than status.capacity')]
        : [];
    if (deepEqual(unchangeable(object), unchangeable(old))) return tooSmall;
    const why =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    const [mode, oldMode] = [maybeMapping(object, 'spec')?.volumeMode, maybeMapping(old, 'spec')?.volumeMode];
    const ofMode = mode === oldMode ? [] : [invalidValue('volumeMode', mode ?? null, 'field is immutable')];
    return [forbiddenField('spec', why), ...ofMode, ...tooSmall];
  },
};

const endpoints: KindRules = {
  validate: (object) =>
    itemsOf(object, 'subsets').flatMap((subset, number) => [
      ...(isEmpty(subset.addresses) && isEmpty(subset.notReadyAddresses)
        ? [required(`subsets[${number}]`, 'must specify `addresses` or `notReadyAddresses`')]
        : []),
      ...itemsOf(subset, 'ports').flatMap(({ port = 0 }, index) =>
        Number(port) >= 1 && Number(port) <= 65_535
          ? []
          : [invalidValue(`subsets[${number}].ports[${index}].port`, port, 'must be between 1 and 65535, inclusive')],
      ),
      ...['addresses', 'notReadyAddresses'].flatMap((key) =>
        itemsOf(subset, key).flatMap(({ ip }, index) => {
          if (isIP(String(ip ?? '')) !== 0) return [];
          const field = `subsets[${number}].${key}[${index}].ip`;
          // Told twice there, too: once of addresses in general, once of those of endpoints.
          return [
            invalidValue(field, ip ?? '', 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'),
            invalidValue(field, ip ?? '', 'must be a valid IP address'),
          ];
        }),
      ),
    ]),
};

export const volumeRules: Readonly<Record<string, KindRules>> = {
  'core.Endpoints': endpoints,
  'core.PersistentVolume': volume,
  'core.PersistentVolumeClaim': claim,
};

/** The nodes from which the volume can be reached. */
function affinityProblems(affinity: Mapping | undefined): readonly Cause[] {
  if (affinity === undefined) return [];
  const nodes = maybeMapping(affinity, 'required');
  const path = 'spec.nodeAffinity.required';
  return nodes === undefined
    ? [required(path, 'must specify required node constraints')]
    : validateNodeSelector(nodes, path);
}
