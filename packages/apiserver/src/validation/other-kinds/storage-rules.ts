/** Classes, drivers and attachments of storage. */
import { deepEqual, type Mapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from '../../text/field-causes.js';
import { compareQuantities } from '../../typed/quantity.js';
import type { KindRules } from '../kinds/rules.js';
import { dnsSubdomain, labelValue, qualifiedName } from '../names.js';
import { validateSelectorObject } from '../selector-rules.js';

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';
const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

const subdomain = (value: unknown, field: string): readonly Cause[] =>
  dnsSubdomain(String(value ?? ''), false).map((why) => invalidValue(field, value ?? '', why));

/** Names of drivers; capital letters do not matter. */
function driverName(value: unknown, field: string): readonly Cause[] {
  if (isEmpty(value)) return [required(field)];
  return dnsSubdomain(String(value).toLowerCase(), false).map((why) => invalidValue(field, value, why));
}

const choice = (value: unknown, field: string, choices: readonly string[]): readonly Cause[] =>
  value === undefined || choices.includes(String(value)) ? [] : [notSupported(field, value, choices)];

const unchanged = (object: Mapping, old: Mapping, keys: readonly string[], path = ''): readonly Cause[] =>
  keys
    .filter((key) => !deepEqual(object[key], old[key]))
    .map((key) => invalidValue(`${path}${key}`, object[key], 'field is immutable'));

function validateParameters(parameters: Mapping): readonly Cause[] {
  return Object.keys(parameters).includes('') ? [invalidValue('parameters', '', 'field can not be empty.')] : [];
}

const storageClass: KindRules = {
  validate(object) {
    const { provisioner } = object;
    const name = String(provisioner ?? '').toLowerCase();
    return [
      ...(name === '' ? [required('provisioner')] : []),
      ...(name === '' ? [] : qualifiedName(name).map((why) => invalidValue('provisioner', name, why))),
      ...validateParameters(maybeMapping(object, 'parameters') ?? {}),
      ...choice(object.reclaimPolicy, 'reclaimPolicy', ['Delete', 'Retain']),
      ...choice(object.volumeBindingMode, 'volumeBindingMode', ['Immediate', 'WaitForFirstConsumer']),
      ...itemsOf(object, 'allowedTopologies').flatMap((term, index) =>
        validateTerm(term, `allowedTopologies[${index}].matchLabelExpressions`),
      ),
    ];
  },
  validateUpdate: (object, old) =>
    unchanged(object, old, ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode']),
};

function validateTerm(term: Mapping, path: string): readonly Cause[] {
  const keys = new Set<unknown>();
  return itemsOf(term, 'matchLabelExpressions').flatMap(({ key = '', values }, index) => {
    const at = `${path}[${index}]`;
    const isRepeated = keys.has(key);
    keys.add(key);
    const seen = new Set<string>();
    return [
      ...(textsOf(values).length === 0 ? [required(`${at}.values`)] : []),
      ...textsOf(values).flatMap((value, number) => {
        const isKnown = seen.has(value);
        seen.add(value);
        return [
          ...labelValue(value).map((why) => invalidValue(`${at}.values[${number}]`, value, why)),
          ...(isKnown ? [duplicate(`${at}.values[${number}]`, value)] : []),
        ];
      }),
      ...qualifiedName(String(key)).map((why) => invalidValue(`${at}.key`, key, why)),
      ...(isRepeated ? [duplicate(`${at}.key`, key)] : []),
    ];
  });
}

const attachment: KindRules = {
  validate(object) {
    const spec = maybeMapping(object, 'spec') ?? {};
    return [
      ...driverName(spec.attacher, 'spec.attacher'),
      ...validateSource(maybeMapping(spec, 'source') ?? {}),
      ...subdomain(spec.nodeName, 'spec.nodeName'),
    ];
  },
  validateUpdate: (object, old) => (deepEqual(object.spec, old.spec) ? [] : [immutableAttachment(object)]),
};

function validateSource({ persistentVolumeName: name, inlineVolumeSpec: inline }: Mapping): readonly Cause[] {
  const why = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (name === undefined && inline === undefined) return [required('spec.source', why)];
  if (name !== undefined && inline !== undefined) return [forbiddenField('spec.source', why)];
  if (name === undefined) return [];
  const field = 'spec.source.persistentVolumeName';
  return [
    ...(name === '' ? [required(field, 'must specify non empty persistentVolumeName')] : []),
    ...subdomain(name, field),
  ];
}

/** Structs are shown in the order of their fields, unlike mappings. */
function immutableAttachment(object: ServedObject): Cause {
  const { attacher, source, nodeName } = maybeMapping(object, 'spec') ?? {};
  const { persistentVolumeName = null, inlineVolumeSpec = null } = (source ?? {}) as Mapping;
  const shown = {
    Attacher: attacher,
    Source: { PersistentVolumeName: persistentVolumeName, InlineVolumeSpec: inlineVolumeSpec },
    NodeName: nodeName,
  };
  const message = `Invalid value: ${JSON.stringify(shown)}: field is immutable`;
  return { reason: 'FieldValueInvalid', message, field: 'spec' };
}

const TOKENS =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes';
const LEAST_PERIOD = 10;

const driver: KindRules = {
  validate(object) {
    const spec = maybeMapping(object, 'spec') ?? {};
    const period = spec.nodeAllocatableUpdatePeriodSeconds;
    return [
      ...choice(spec.fsGroupPolicy, 'spec.fsGroupPolicy', ['File', 'None', 'ReadWriteOnceWithFSType']),
      ...validateTokens(itemsOf(spec, 'tokenRequests')),
      ...textsOf(spec.volumeLifecycleModes).flatMap((mode) =>
        choice(mode, 'spec.volumeLifecycleModes', ['Persistent', 'Ephemeral']),
      ),
      ...(typeof period === 'number' && period < LEAST_PERIOD
        ? [
            invalidValue(
              'spec.nodeAllocatableUpdatePeriodSeconds',
              period,
              `must be greater than or equal to ${LEAST_PERIOD} seconds`,
            ),
          ]
        : []),
    ];
  },
  validateUpdate(object, old) {
    const [spec, before] = [maybeMapping(object, 'spec') ?? {}, maybeMapping(old, 'spec') ?? {}];
    return [
      ...(spec.attachRequired === before.attachRequired
        ? []
        : [invalidValue('spec.attachedRequired', spec.attachRequired, 'field is immutable')]),
      ...unchanged(spec, before, ['volumeLifecycleModes'], 'spec.'),
    ];
  },
  warnings(object, old) {
    const isToBeTold = (one: ServedObject | undefined): boolean => {
      const spec = maybeMapping(one, 'spec') ?? {};
      return spec.serviceAccountTokenInSecrets === undefined && itemsOf(spec, 'tokenRequests').length > 0;
    };
    return isToBeTold(object) && !isToBeTold(old) ? [TOKENS] : [];
  },
};

function validateTokens(tokens: readonly Mapping[]): readonly Cause[] {
  const audiences = new Set<unknown>();
  return tokens.flatMap(({ audience = '' }, index) => {
    const isRepeated = audiences.has(audience);
    audiences.add(audience);
    return isRepeated ? [duplicate(`spec.tokenRequests[${index}].audience`, audience)] : [];
  });
}

const node: KindRules = {
  validate(object) {
    const names = new Set<unknown>();
    return itemsOf(maybeMapping(object, 'spec'), 'drivers').flatMap((one, index) => {
      const path = `spec.drivers[${index}]`;
      const isRepeated = names.has(one.name);
      names.add(one.name);
      const { count } = maybeMapping(one, 'allocatable') ?? {};
      return [
        ...driverName(one.name, `${path}.name`),
        ...(isEmpty(one.nodeID) ? [required(`${path}.nodeID`)] : []),
        ...(typeof count === 'number' && count < 0
          ? [invalidValue(`${path}.allocatable.count`, count, 'must be greater than or equal to 0')]
          : []),
        ...(isRepeated ? [duplicate(`${path}.name`, one.name)] : []),
        ...validateTopology(textsOf(one.topologyKeys), path),
      ];
    });
  },
  validateUpdate(object, old) {
    const before = new Map(itemsOf(maybeMapping(old, 'spec'), 'drivers').map((one) => [one.name, one]));
    return itemsOf(maybeMapping(object, 'spec'), 'drivers').flatMap((one) => {
      const known = before.get(one.name);
      const isSame = (key: string): boolean => deepEqual(one[key] ?? null, known?.[key] ?? null);
      if (known === undefined || (isSame('nodeID') && isSame('topologyKeys'))) return [];
      const shown = {
        Name: one.name,
        NodeID: one.nodeID,
        TopologyKeys: one.topologyKeys ?? null,
        Allocatable: one.allocatable ?? null,
      };
      const message = `Invalid value: ${JSON.stringify(shown)}: field is immutable`;
      return [{ reason: 'FieldValueInvalid', message, field: 'spec.drivers' }];
    });
  },
};

function validateTopology(keys: readonly string[], field: string): readonly Cause[] {
  const seen = new Set<string>();
  return keys.flatMap((key) => {
    const isRepeated = seen.has(key);
    seen.add(key);
    return [
      ...(key === '' ? [required(field)] : []),
      ...(isRepeated ? [duplicate(field, key)] : []),
      ...qualifiedName(key).map((why) => invalidValue(field, key, why)),
    ];
  });
}

const capacity: KindRules = {
  validate: (object) => [
    ...subdomain(object.storageClassName, 'storageClassName'),
    ...validateSelectorObject(maybeMapping(object, 'nodeTopology'), 'nodeTopology'),
    ...(object.capacity !== undefined && compareQuantities(String(object.capacity), '0') < 0
      ? [invalidValue('capacity', object.capacity, 'must be greater than or equal to 0')]
      : []),
  ],
  validateUpdate: (object, old) => unchanged(object, old, ['nodeTopology', 'storageClassName']),
};

const attributesClass: KindRules = {
  validate(object) {
    const parameters = maybeMapping(object, 'parameters') ?? {};
    const isMissing = Object.keys(parameters).length === 0;
    return [
      ...driverName(object.driverName, 'driverName'),
      ...(isMissing ? [required('parameters', 'must contain at least one key/value pair')] : []),
      ...validateParameters(parameters),
    ];
  },
  validateUpdate: (object, old) =>
    ['driverName', 'parameters']
      .filter((key) => !deepEqual(object[key], old[key]))
      .map((key) => forbiddenField(key, `updates to ${key} are forbidden.`)),
};

export const storageRules: Readonly<Record<string, KindRules>> = {
  'storage.StorageClass': storageClass,
  'storage.VolumeAttachment': attachment,
  'storage.CSIDriver': driver,
  'storage.CSINode': node,
  'storage.CSIStorageCapacity': capacity,
  'storage.VolumeAttributesClass': attributesClass,
};
