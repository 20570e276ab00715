/** Services and leases. */
import { isIP } from 'node:net';
import type { Mapping } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from '../../text/field-causes.js';
import { validateLabels } from '../metadata.js';
import { dnsLabel, dnsSubdomain, qualifiedName } from '../names.js';
import { PORT_RANGE, portNameProblems } from './containers.js';
import type { KindRules } from './rules.js';

const isSet = (value: unknown): boolean => value !== undefined && value !== '';

const ONLY_PUBLISHED = 'may only be set for externally-accessible services';

const isPublished = ({ type, externalIPs }: Mapping): boolean =>
  type === 'NodePort' || type === 'LoadBalancer' || (Array.isArray(externalIPs) && externalIPs.length > 0);

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

const service: KindRules = {
  validate(object) {
    const spec = maybeMapping(object, 'spec') ?? {};
    const ports = itemsOf(spec, 'ports');
    const needsPorts = spec.type !== 'ExternalName' && spec.clusterIP !== 'None';
    const names = new Set<unknown>();
    return [
      ...(ports.length === 0 && needsPorts ? [required('spec.ports')] : []),
      ...(spec.type === 'ExternalName' ? validateExternalName(spec) : []),
      ...ports.flatMap((port, index) => validatePort(port, `spec.ports[${index}]`, ports.length > 1, names)),
      ...validateLabels((maybeMapping(spec, 'selector') ?? {}) as Record<string, string>, 'spec.selector'),
      ...(['ClientIP', 'None'].includes(String(spec.sessionAffinity))
        ? []
        : [notSupported('spec.sessionAffinity', spec.sessionAffinity, ['ClientIP', 'None'])]),
      ...(TYPES.includes(String(spec.type)) ? [] : [notSupported('spec.type', spec.type, TYPES)]),
      ...validateRepeatedPorts(ports),
      ...validateAddresses(spec),
      ...['externalTrafficPolicy', 'internalTrafficPolicy'].flatMap((key) =>
        spec[key] === undefined || ['Cluster', 'Local'].includes(String(spec[key]))
          ? []
          : [notSupported(`spec.${key}`, spec[key], ['Cluster', 'Local'])],
      ),
      ...(spec.externalTrafficPolicy !== undefined && !isPublished(spec)
        ? [invalidValue('spec.externalTrafficPolicy', spec.externalTrafficPolicy, ONLY_PUBLISHED)]
        : []),
      ...validateBalancer(spec),
      ...validateAffinity(spec),
      ...(spec.type === 'LoadBalancer'
        ? []
        : ['loadBalancerClass', 'allocateLoadBalancerNodePorts']
            .filter((key) => spec[key] !== undefined)
            .map((key) => forbiddenField(`spec.${key}`, "may only be used when `type` is 'LoadBalancer'"))),
      ...(spec.type === 'ExternalName'
        ? ['ipFamilies', 'ipFamilyPolicy']
            .filter((key) => spec[key] !== undefined)
            .map((key) => forbiddenField(`spec.${key}`, 'may not be set for ExternalName services'))
        : []),
    ];
  },
  validateUpdate(object, old) {
    const [spec, before] = [maybeMapping(object, 'spec') ?? {}, maybeMapping(old, 'spec') ?? {}];
    const countOf = ({ ipFamilies }: Mapping): number => (Array.isArray(ipFamilies) ? ipFamilies.length : 0);
    if (countOf(before) === 2 && countOf(spec) === 1 && spec.ipFamilyPolicy !== 'SingleStack') {
      const why = "must be 'SingleStack' to release the secondary IP family";
      return [invalidValue('spec.ipFamilyPolicy', spec.ipFamilyPolicy, why)];
    }
    const isKept = spec.type === 'ExternalName' || before.type === 'ExternalName' || before.clusterIP === undefined;
    // Whether the class fits the type is looked at twice.
    const ofClass =
      spec.loadBalancerClass !== undefined && spec.type !== 'LoadBalancer'
        ? [forbiddenField('spec.loadBalancerClass', "may only be used when `type` is 'LoadBalancer'")]
        : [];
    if (isKept || spec.clusterIP === before.clusterIP) return [...ofClass, ...familyProblems(spec)];
    return [invalidValue('spec.clusterIPs[0]', [spec.clusterIP], 'may not change once set'), ...familyProblems(spec)];
  },
  validateStatus(object) {
    const ingress = itemsOf(maybeMapping(maybeMapping(object, 'status'), 'loadBalancer'), 'ingress');
    const isBalanced = maybeMapping(object, 'spec')?.type === 'LoadBalancer';
    if (ingress.length === 0 || isBalanced) return [];
    return [forbiddenField('status.loadBalancer.ingress', "may only be used when `spec.type` is 'LoadBalancer'")];
  },
  warnings(object) {
    const { externalIPs, externalName, clusterIP, loadBalancerIP, sessionAffinity, type } =
      maybeMapping(object, 'spec') ?? {};
    const hasExternal = Array.isArray(externalIPs) && externalIPs.length > 0;
    const ofName =
      type !== 'ExternalName' && isSet(externalName)
        ? ['spec.externalName is ignored when spec.type is not "ExternalName"']
        : [];
    if (clusterIP !== 'None') {
      const deprecated = 'spec.externalIPs is deprecated and may no longer be implemented in some clusters';
      return [...(hasExternal ? [deprecated] : []), ...ofName];
    }
    return [
      ...(isSet(loadBalancerIP) ? ['spec.loadBalancerIP is ignored for headless services'] : []),
      ...(hasExternal ? ['spec.externalIPs is ignored for headless services'] : []),
      ...(sessionAffinity === 'None' ? [] : ['spec.SessionAffinity is ignored for headless services']),
      ...ofName,
    ];
  },
};

const IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

function validateAddresses(spec: Mapping): readonly Cause[] {
  const { clusterIP = '', type, externalIPs } = spec;
  const external = Array.isArray(externalIPs) ? externalIPs : [];
  return [
    ...validateClusterIp(String(clusterIP), type),
    ...external.flatMap((ip, index) =>
      isIP(String(ip)) === 0 ? [invalidValue(`spec.externalIPs[${index}]`, ip, IP)] : [],
    ),
  ];
}

function validateClusterIp(ip: string, type: unknown): readonly Cause[] {
  const field = 'spec.clusterIPs[0]';
  if (type === 'ExternalName') {
    return ip === '' ? [] : [forbiddenField('spec.clusterIPs', 'may not be set for ExternalName services')];
  }
  if (ip === 'None' && (type === 'LoadBalancer' || type === 'NodePort')) {
    return [invalidValue(field, ip, `may not be set to 'None' for ${type} services`)];
  }
  return ip === '' || ip === 'None' || isIP(ip) !== 0 ? [] : [invalidValue(field, ip, IP)];
}

/** Two ports are the same if they have the same number and protocol, whatever their names. */
function validateRepeatedPorts(ports: readonly Mapping[]): readonly Cause[] {
  const seen = new Set<string>();
  return ports.flatMap(({ port, protocol }, index) => {
    const key = `${String(protocol)}/${String(port)}`;
    const isRepeated = seen.has(key);
    seen.add(key);
    if (!isRepeated) return [];
    const shown = { Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
    const message = `Duplicate value: ${JSON.stringify(shown)}`;
    return [{ ...duplicate(`spec.ports[${index}]`, ''), message }];
  });
}

/** The name of the field is spelt so there. */
function validateBalancer(spec: Mapping): readonly Cause[] {
  const { loadBalancerSourceRanges, type, healthCheckNodePort, externalTrafficPolicy } = spec;
  const ranges = Array.isArray(loadBalancerSourceRanges) ? loadBalancerSourceRanges : [];
  const field = 'spec.LoadBalancerSourceRanges';
  const isAsked = type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
  return [
    ...(ranges.length > 0 && type !== 'LoadBalancer'
      ? [forbiddenField(field, "may only be used when `type` is 'LoadBalancer'")]
      : []),
    ...ranges.flatMap((range, index) =>
      isCidr(String(range).trim()) ? [] : [invalidValue(`${field}[${index}]`, range, CIDR)],
    ),
    ...(typeof healthCheckNodePort === 'number' && healthCheckNodePort !== 0 && !isAsked
      ? [invalidValue('spec.healthCheckNodePort', healthCheckNodePort, ONLY_ASKED)]
      : []),
  ];
}

export const CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';
const ONLY_ASKED = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";

export function isCidr(text: string): boolean {
  const [address = '', length = ''] = text.split('/');
  const family = isIP(address);
  return family !== 0 && /^\d{1,3}$/.test(length) && Number(length) <= (family === 4 ? 32 : 128);
}

function validateAffinity(spec: Mapping): readonly Cause[] {
  const timeout = maybeMapping(maybeMapping(spec, 'sessionAffinityConfig'), 'clientIP')?.timeoutSeconds;
  if (typeof timeout !== 'number' || (timeout > 0 && timeout <= 86_400)) return [];
  const field = 'spec.sessionAffinityConfig.clientIP.timeoutSeconds';
  return [invalidValue(field, timeout, 'must be greater than 0 and less than 86400')];
}

function validateExternalName(spec: Mapping): readonly Cause[] {
  const name = String(spec.externalName ?? '').replace(/\.$/, '');
  if (name === '') return [required('spec.externalName')];
  return dnsSubdomain(name, false).map((why) => invalidValue('spec.externalName', name, why));
}

function validatePort(port: Mapping, path: string, needsName: boolean, names: Set<unknown>): readonly Cause[] {
  const { name, protocol, targetPort, appProtocol } = port;
  const hasName = name !== undefined && name !== '';
  const isRepeated = hasName && names.has(name);
  if (hasName) names.add(name);
  const isNumber = (value: unknown): boolean => typeof value === 'number' && value >= 1 && value <= 65_535;
  return [
    ...(needsName && !hasName ? [required(`${path}.name`)] : []),
    ...(hasName ? dnsLabel(String(name), false).map((why) => invalidValue(`${path}.name`, name, why)) : []),
    ...(isRepeated ? [duplicate(`${path}.name`, name)] : []),
    ...(typeof appProtocol === 'string'
      ? qualifiedName(appProtocol).map((why) => invalidValue(`${path}.appProtocol`, appProtocol, why))
      : []),
    ...(isNumber(port.port) ? [] : [invalidValue(`${path}.port`, port.port ?? 0, PORT_RANGE)]),
    ...(['SCTP', 'TCP', 'UDP'].includes(String(protocol))
      ? []
      : [notSupported(`${path}.protocol`, protocol, ['SCTP', 'TCP', 'UDP'])]),
    ...(typeof targetPort === 'string'
      ? portNameProblems(targetPort).map((why) => invalidValue(`${path}.targetPort`, targetPort, why))
      : []),
    ...(typeof targetPort === 'string' || isNumber(targetPort)
      ? []
      : [invalidValue(`${path}.targetPort`, targetPort ?? 0, PORT_RANGE)]),
  ];
}

/** There is only one family in this cluster; who has neither an address nor pods may have more of them. */
function familyProblems(spec: Mapping): readonly Cause[] {
  const isAnything = spec.clusterIP === 'None' && Object.keys(maybeMapping(spec, 'selector') ?? {}).length === 0;
  if (isAnything || spec.type === 'ExternalName') return [];
  const families = Array.isArray(spec.ipFamilies) ? spec.ipFamilies : [];
  return [
    ...families.flatMap((family, index) =>
      family === 'IPv6' ? [invalidValue(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster')] : [],
    ),
    ...(spec.ipFamilyPolicy === 'RequireDualStack'
      ? [
          invalidValue(
            'spec.ipFamilyPolicy',
            'RequireDualStack',
            'this cluster is not configured for dual-stack services',
          ),
        ]
      : []),
  ];
}

const lease: KindRules = {
  validate(object) {
    const { leaseDurationSeconds: duration, leaseTransitions: transitions } = maybeMapping(object, 'spec') ?? {};
    return [
      ...(typeof duration === 'number' && duration <= 0
        ? [invalidValue('spec.leaseDurationSeconds', duration, 'must be greater than 0')]
        : []),
      ...(typeof transitions === 'number' && transitions < 0
        ? [invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0')]
        : []),
    ];
  },
};

export const serviceRules: Readonly<Record<string, KindRules>> = {
  'core.Service': service,
  'coordination.Lease': lease,
};
