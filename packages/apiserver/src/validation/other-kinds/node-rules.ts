/** Nodes: their taints, networks and sizes. */
import { isIP } from 'node:net';
import type { Mapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from '../../text/field-causes.js';
import type { KindRules } from '../kinds/rules.js';
import { labelValue, qualifiedName } from '../names.js';
import { quantityProblems } from '../pods/pod-resources.js';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** As there: they are said to be metadata. */
function taintProblems(spec: Mapping): readonly Cause[] {
  const seen = new Set<string>();
  return itemsOf(spec, 'taints').flatMap(({ key = '', value = '', effect = '', timeAdded = null }, index) => {
    const at = `metadata.taints[${index}]`;
    const pair = JSON.stringify([key, effect]);
    const isRepeated = seen.has(pair);
    seen.add(pair);
    const shown = JSON.stringify({ Key: key, Value: value, Effect: effect, TimeAdded: timeAdded });
    const wrong = labelValue(String(value));
    return [
      ...qualifiedName(String(key)).map((why) => invalidValue(`${at}.key`, key, why)),
      ...(wrong.length === 0 ? [] : [invalidValue(`${at}.value`, value, wrong.join(';'))]),
      ...(effect === ''
        ? [required(`${at}.effect`)]
        : EFFECTS.includes(String(effect))
          ? []
          : [notSupported(`${at}.effect`, effect, EFFECTS)]),
      ...(isRepeated
        ? [
            {
              ...duplicate(at, ''),
              message: `Duplicate value: ${shown}: taints must be unique by key and effect pair`,
            },
          ]
        : []),
    ];
  });
}

const NETWORK = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

/** 4 or 6; 0 if it is none. */
function familyOf(network: unknown): number {
  const [, address = '', length = ''] = /^(.+)\/(\d{1,3})$/.exec(String(network)) ?? [];
  const family = isIP(address);
  return Number(length) <= (family === 4 ? 32 : 128) ? family : 0;
}

const networksOf = (spec: Mapping): readonly unknown[] => (Array.isArray(spec.podCIDRs) ? spec.podCIDRs : []);

function networkProblems(spec: Mapping): readonly Cause[] {
  const networks = networksOf(spec);
  const families = networks.map(familyOf);
  const isPair = families.length === 2 && families.includes(4) && families.includes(6);
  const why = 'may specify no more than one CIDR for each IP family';
  return [
    ...networks.flatMap((network, index) =>
      families[index] === 0 ? [invalidValue(`spec.podCIDRs[${index}]`, network, NETWORK)] : [],
    ),
    ...(networks.length < 2 || isPair ? [] : [invalidValue('spec.podCIDRs', networks, why)]),
  ];
}

function sizeProblems(object: ServedObject): readonly Cause[] {
  return ['capacity', 'allocatable'].flatMap((list) =>
    Object.entries(maybeMapping(maybeMapping(object, 'status'), list) ?? {}).flatMap(([name, quantity]) =>
      quantityProblems(name, quantity, `status.${list}.${name}`),
    ),
  );
}

function addressProblems(object: ServedObject): readonly Cause[] {
  const seen = new Set<string>();
  return itemsOf(maybeMapping(object, 'status'), 'addresses').flatMap(({ type = '', address = '' }, index) => {
    const shown = JSON.stringify({ Type: type, Address: address });
    const isRepeated = seen.has(shown);
    seen.add(shown);
    return isRepeated ? [{ ...duplicate(`status.addresses[${index}]`, ''), message: `Duplicate value: ${shown}` }] : [];
  });
}

const specOf = (object: ServedObject): Mapping => maybeMapping(object, 'spec') ?? {};

function changes(object: ServedObject, old: ServedObject): readonly Cause[] {
  const [spec, before] = [specOf(object), specOf(old)];
  const [now, then] = [networksOf(spec), networksOf(before)];
  const changed = now.length === then.length ? then.filter((network, index) => network !== now[index]) : [undefined];
  const kept = (what: string): string => `node updates may not change ${what} except from "" to valid`;
  const provider = before.providerID ?? '';
  return [
    ...sizeProblems(object),
    ...addressProblems(object),
    ...(then.length === 0 ? [] : changed.map(() => forbiddenField('spec.podCIDRs', kept('podCIDR')))),
    ...(provider === '' || provider === spec.providerID ? [] : [forbiddenField('spec.providerID', kept('providerID'))]),
    ...taintProblems(spec),
  ];
}

const ofNew = (object: ServedObject): readonly Cause[] => [
  ...taintProblems(specOf(object)),
  ...sizeProblems(object),
  ...networkProblems(specOf(object)),
];

const node: KindRules = {
  validateCreate: ofNew,
  // As there: what a changed node may be, after what a new one may be.
  validateUpdate: (object, old) => [...ofNew(object), ...changes(object, old)],
  validateStatus: (object, old) => changes(object, old),
};

export const nodeRules: Readonly<Record<string, KindRules>> = { 'core.Node': node };
