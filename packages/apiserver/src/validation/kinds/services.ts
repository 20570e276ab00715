/** Services and leases. */
import type { Mapping } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from '../../text/field-causes.js';
import { validateLabels } from '../metadata.js';
import { dnsLabel, dnsSubdomain } from '../names.js';
import { PORT_RANGE } from './pods.js';
import type { KindRules } from './rules.js';

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
    ];
  },
  validateUpdate(object, old) {
    const [spec, before] = [maybeMapping(object, 'spec') ?? {}, maybeMapping(old, 'spec') ?? {}];
    const isKept = spec.type === 'ExternalName' || before.type === 'ExternalName' || before.clusterIP === undefined;
    if (isKept || spec.clusterIP === before.clusterIP) return [];
    return [invalidValue('spec.clusterIPs[0]', [spec.clusterIP], 'may not change once set')];
  },
  validateStatus(object) {
    const ingress = itemsOf(maybeMapping(maybeMapping(object, 'status'), 'loadBalancer'), 'ingress');
    const isBalanced = maybeMapping(object, 'spec')?.type === 'LoadBalancer';
    if (ingress.length === 0 || isBalanced) return [];
    return [forbiddenField('status.loadBalancer.ingress', "may only be used when `spec.type` is 'LoadBalancer'")];
  },
};

function validateExternalName(spec: Mapping): readonly Cause[] {
  const name = String(spec.externalName ?? '').replace(/\.$/, '');
  if (name === '') return [required('spec.externalName')];
  return dnsSubdomain(name, false).map((why) => invalidValue('spec.externalName', name, why));
}

function validatePort(port: Mapping, path: string, needsName: boolean, names: Set<unknown>): readonly Cause[] {
  const { name, protocol, targetPort } = port;
  const hasName = name !== undefined && name !== '';
  const isRepeated = hasName && names.has(name);
  if (hasName) names.add(name);
  const isNumber = (value: unknown): boolean => typeof value === 'number' && value >= 1 && value <= 65_535;
  return [
    ...(needsName && !hasName ? [required(`${path}.name`)] : []),
    ...(hasName ? dnsLabel(String(name), false).map((why) => invalidValue(`${path}.name`, name, why)) : []),
    ...(isRepeated ? [duplicate(`${path}.name`, name)] : []),
    ...(isNumber(port.port) ? [] : [invalidValue(`${path}.port`, port.port ?? 0, PORT_RANGE)]),
    ...(['SCTP', 'TCP', 'UDP'].includes(String(protocol))
      ? []
      : [notSupported(`${path}.protocol`, protocol, ['SCTP', 'TCP', 'UDP'])]),
    ...(typeof targetPort === 'string' || isNumber(targetPort)
      ? []
      : [invalidValue(`${path}.targetPort`, targetPort ?? 0, PORT_RANGE)]),
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
