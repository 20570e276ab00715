/** Network policies: who may talk to whom. */
import { BlockList, isIPv6 } from 'node:net';
import type { Mapping } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { forbiddenField, invalidValue, notSupported, required } from '../../text/field-causes.js';
import { PORT_RANGE, portNameProblems } from '../kinds/containers.js';
import type { KindRules } from '../kinds/rules.js';
import { CIDR, isCidr } from '../kinds/services.js';
import { validateSelectorObject } from '../selector-rules.js';

const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];
const TYPES = ['Ingress', 'Egress'];

const isPort = (value: number): boolean => value >= 1 && value <= 65_535;

function validatePort({ protocol, port, endPort }: Mapping, path: string): readonly Cause[] {
  const end = `${path}.endPort`;
  const causes = PROTOCOLS.includes(String(protocol ?? 'TCP'))
    ? []
    : [notSupported(`${path}.protocol`, protocol, PROTOCOLS)];
  if (typeof port === 'number') {
    if (!isPort(port)) causes.push(invalidValue(`${path}.port`, port, PORT_RANGE));
    if (typeof endPort !== 'number') return causes;
    // As there: it is the other one that is shown.
    if (endPort < port) causes.push(invalidValue(end, port, 'must be greater than or equal to `port`'));
    if (!isPort(endPort)) causes.push(invalidValue(end, endPort, PORT_RANGE));
    return causes;
  }
  if (endPort !== undefined) {
    const why = port === undefined ? 'not specified' : 'non-numeric';
    causes.push(invalidValue(end, endPort, `may not be specified when \`port\` is ${why}`));
  }
  if (port === undefined) return causes;
  return [...causes, ...portNameProblems(String(port)).map((problem) => invalidValue(`${path}.port`, port, problem))];
}

function validatePeer(peer: Mapping, path: string): readonly Cause[] {
  const [pods, namespaces, block] = ['podSelector', 'namespaceSelector', 'ipBlock'].map((key) =>
    maybeMapping(peer, key),
  );
  const count = [pods, namespaces, block].filter((one) => one !== undefined).length;
  return [
    ...validateSelectorObject(pods, `${path}.podSelector`),
    ...validateSelectorObject(namespaces, `${path}.namespaceSelector`),
    ...(block === undefined ? [] : validateBlock(block, `${path}.ipBlock`)),
    ...(count === 0 ? [required(path, 'must specify a peer')] : []),
    ...(count > 1 && block !== undefined
      ? [forbiddenField(path, 'may not specify both ipBlock and another peer')]
      : []),
  ];
}

function validateBlock(block: Mapping, path: string): readonly Cause[] {
  const cidr = String(block.cidr ?? '');
  if (cidr === '') return [required(`${path}.cidr`)];
  if (!isCidr(cidr)) return [invalidValue(`${path}.cidr`, cidr, CIDR)];
  const except: readonly unknown[] = Array.isArray(block.except) ? block.except : [];
  return except.flatMap((one, index) => {
    const field = `${path}.except[${index}]`;
    if (!isCidr(String(one))) return [invalidValue(field, one, CIDR)];
    return isInside(String(one), cidr) ? [] : [invalidValue(field, one, 'must be a strict subset of `cidr`')];
  });
}

function isInside(inner: string, outer: string): boolean {
  const [[address = '', bits], [network = '', outerBits]] = [inner.split('/'), outer.split('/')] as [
    string[],
    string[],
  ];
  const familyOf = (text: string): 'ipv4' | 'ipv6' => (isIPv6(text) ? 'ipv6' : 'ipv4');
  if (familyOf(address) !== familyOf(network) || Number(bits) <= Number(outerBits)) return false;
  const range = new BlockList();
  range.addSubnet(network, Number(outerBits), familyOf(network));
  return range.check(address, familyOf(address));
}

const networkPolicy: KindRules = {
  validate(object) {
    const spec = maybeMapping(object, 'spec') ?? {};
    const ofRules = (
      [
        ['ingress', 'from'],
        ['egress', 'to'],
      ] as const
    ).flatMap(([way, peers]) =>
      itemsOf(spec, way).flatMap((rule, index) => {
        const path = `spec.${way}[${index}]`;
        return [
          ...itemsOf(rule, 'ports').flatMap((port, number) => validatePort(port, `${path}.ports[${number}]`)),
          ...itemsOf(rule, peers).flatMap((peer, number) => validatePeer(peer, `${path}.${peers}[${number}]`)),
        ];
      }),
    );
    const types: readonly unknown[] = Array.isArray(spec.policyTypes) ? spec.policyTypes : [];
    const ofTypes =
      types.length > TYPES.length
        ? [invalidValue('spec.policyTypes', types, 'may not specify more than two policyTypes')]
        : types.flatMap((type, index) =>
            TYPES.includes(String(type)) ? [] : [notSupported(`spec.policyTypes[${index}]`, type, TYPES)],
          );
    return [...validateSelectorObject(maybeMapping(spec, 'podSelector'), 'spec.podSelector'), ...ofRules, ...ofTypes];
  },
};

export const networkPolicyRules: Readonly<Record<string, KindRules>> = { 'networking.NetworkPolicy': networkPolicy };
