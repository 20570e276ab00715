/** Volumes, claims and endpoints. */
import { isIP } from 'node:net';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { invalidValue, notSupported, required } from '../../text/field-causes.js';
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

const volume: KindRules = {
  validate(object) {
    const spec = maybeMapping(object, 'spec') ?? {};
    const { storage } = maybeMapping(spec, 'capacity') ?? {};
    const hasSource = Object.keys(spec).some((key) => !OTHER_FIELDS.has(key));
    return [
      ...(isEmpty(spec.accessModes) ? [required('spec.accessModes')] : []),
      ...(spec.capacity === undefined ? [required('spec.capacity')] : []),
      ...(storage === undefined ? [notSupported('spec.capacity', spec.capacity ?? null, ['storage'])] : []),
      ...(hasSource ? [] : [required('spec', 'must specify a volume type')]),
    ];
  },
};

const claim: KindRules = {
  validate(object) {
    const spec = maybeMapping(object, 'spec') ?? {};
    const requests = maybeMapping(maybeMapping(spec, 'resources'), 'requests') ?? {};
    return [
      ...(isEmpty(spec.accessModes) ? [required('spec.accessModes', 'at least 1 access mode is required')] : []),
      ...(requests.storage === undefined ? [required('spec.resources[storage]')] : []),
    ];
  },
};

const endpoints: KindRules = {
  validate: (object) =>
    itemsOf(object, 'subsets').flatMap((subset, number) =>
      ['addresses', 'notReadyAddresses'].flatMap((key) =>
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
    ),
};

export const volumeRules: Readonly<Record<string, KindRules>> = {
  'core.Endpoints': endpoints,
  'core.PersistentVolume': volume,
  'core.PersistentVolumeClaim': claim,
};
