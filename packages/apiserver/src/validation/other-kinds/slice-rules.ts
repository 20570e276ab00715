/** Slices of endpoints. */
import { BlockList, isIP } from 'node:net';
import type { Mapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { duplicate, invalidValue, notSupported, required } from '../../text/field-causes.js';
import type { KindRules } from '../kinds/rules.js';
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from '../names.js';

const TYPES = ['FQDN', 'IPv4', 'IPv6'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);
const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';

const slice: KindRules = {
  validateCreate: (object) => validateSlice(object),
  validateUpdate: (object, old) => [
    // Addresses that stay are not refused for being of another type all of a sudden.
    ...validateSlice(object, String(old.addressType)),
    ...(object.addressType === old.addressType
      ? []
      : [invalidValue('addressType', object.addressType, 'field is immutable')]),
  ],
  warnings: (object, old) =>
    object.addressType === 'FQDN' && old === undefined ? ['spec.addressType: FQDN endpoints are deprecated'] : [],
};

function validateSlice(object: ServedObject, known?: string): readonly Cause[] {
  const type = String(object.addressType ?? '');
  const ofAddresses = known ?? type;
  return [
    ...validateType(type),
    ...itemsOf(object, 'endpoints').flatMap((one, index) => validateEndpoint(one, ofAddresses, `endpoints[${index}]`)),
    ...validatePorts(itemsOf(object, 'ports')),
  ];
}

function validateType(type: string): readonly Cause[] {
  if (type === '') return [required('addressType')];
  return TYPES.includes(type) ? [] : [notSupported('addressType', type, TYPES)];
}

function validateEndpoint(endpoint: Mapping, type: string, path: string): readonly Cause[] {
  const addresses = textsOf(endpoint.addresses);
  const { nodeName, hostname } = endpoint;
  const zones = itemsOf(maybeMapping(endpoint, 'hints'), 'forZones');
  return [
    ...(addresses.length === 0 ? [required(`${path}.addresses`, 'must contain at least 1 address')] : []),
    ...addresses.flatMap((address, index) => validateAddress(address, type, `${path}.addresses`, index)),
    ...(isEmpty(nodeName)
      ? []
      : dnsSubdomain(String(nodeName), false).map((why) => invalidValue(`${path}.nodeName`, nodeName, why))),
    ...(isEmpty(hostname)
      ? []
      : dnsLabel(String(hostname), false).map((why) => invalidValue(`${path}.hostname`, hostname, why))),
    ...zones.flatMap(({ name }, index) =>
      labelValue(String(name ?? '')).map((why) => invalidValue(`${path}.hints.forZones[${index}].name`, name, why)),
    ),
  ];
}

function validateAddress(address: string, type: string, path: string, index: number): readonly Cause[] {
  const field = `${path}[${index}]`;
  if (type === 'FQDN' && address === '') return [required(field)];
  if (type === 'FQDN') return dnsSubdomain(address, false).map((why) => invalidValue(field, address, why));
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  const family = isIP(address);
  if (family === 0) return [invalidValue(field, address, IP)];
  if (`IPv${family}` !== type) return [invalidValue(path, address, `must be an ${type} address`)];
  return reservedFor(address, family).map((why) => invalidValue(field, address, why));
}

/** Addresses that lead to no other machine. */
const RESERVED: readonly (readonly [why: string, ...networks: (readonly [string, number])[]])[] = [
  ['may not be unspecified (0.0.0.0)', ['0.0.0.0', 32], ['::', 128]],
  ['may not be in the loopback range (127.0.0.0/8, ::1/128)', ['127.0.0.0', 8], ['::1', 128]],
  ['may not be in the link-local range (169.254.0.0/16, fe80::/10)', ['169.254.0.0', 16], ['fe80::', 10]],
  ['may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)', ['224.0.0.0', 24], ['ff02::', 16]],
];

function reservedFor(address: string, family: number): readonly string[] {
  const reserved = RESERVED.find(([, ...networks]) => {
    const list = new BlockList();
    for (const [network, prefix] of networks) list.addSubnet(network, prefix, `ipv${isIP(network) as 4 | 6}`);
    return list.check(address, `ipv${family as 4 | 6}`);
  });
  return reserved === undefined ? [] : [reserved[0]];
}

function validatePorts(ports: readonly Mapping[]): readonly Cause[] {
  const names = new Set<unknown>();
  return ports.flatMap(({ name = '', protocol, appProtocol }, index) => {
    const path = `ports[${index}]`;
    const isRepeated = names.has(name);
    names.add(name);
    return [
      ...(name === '' ? [] : dnsLabel(String(name), false).map((why) => invalidValue(`${path}.name`, name, why))),
      ...(isRepeated ? [duplicate(`${path}.name`, name)] : []),
      ...(PROTOCOLS.includes(String(protocol)) ? [] : [notSupported(`${path}.protocol`, protocol ?? '', PROTOCOLS)]),
      ...(isEmpty(appProtocol)
        ? []
        : qualifiedName(String(appProtocol)).map((why) => invalidValue(`${path}.appProtocol`, appProtocol, why))),
    ];
  });
}

export const sliceRules: Readonly<Record<string, KindRules>> = { 'discovery.EndpointSlice': slice };
