/** The addresses and node ports of services: found for those who ask for none, and given to nobody twice. */
import { randomInt } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import type { Mapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../contracts/objects.js';
import { invalidValue } from '../text/field-causes.js';
import { itemsOf, mappingAt, maybeMapping } from './defaults/setting.js';

const [FIRST_PORT, LAST_PORT] = [30_000, 32_767];
/** All addresses of the cluster begin so; nothing routes to them. */
const NETWORK = '10.96.';
const MOST_ADDRESSES = 65_536;

export const isGiven = (value: unknown): boolean => value !== undefined && value !== '' && value !== 0;

export const hasNodePorts = (spec: Mapping): boolean =>
  spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);

interface Allocation {
  readonly spec: Mapping;
  readonly before: Mapping;
  /** Of all other services; they are looked at only if they matter. */
  readonly others: () => Iterable<Mapping>;
  readonly isDryRun: boolean;
}

/** `others` are all services. What is wrong is told, the first of it only. */
export function allocateAddresses(
  service: ServedObject,
  old: ServedObject | undefined,
  others: () => Iterable<ServedObject>,
  isDryRun: boolean,
): readonly Cause[] {
  const spec = mappingAt(service, 'spec');
  if (spec.type === 'ExternalName') return [];
  const specs = function* (): Iterable<Mapping> {
    for (const other of others()) if (other.metadata.uid !== service.metadata.uid) yield mappingAt(other, 'spec');
  };
  const allocation = { spec, before: maybeMapping(old, 'spec') ?? {}, others: specs, isDryRun };
  const problem = allocateAddress(allocation) ?? allocatePorts(allocation);
  return problem === undefined ? [] : [problem];
}

function allocateAddress({ spec, before, others, isDryRun }: Allocation): Cause | undefined {
  const isFound = !isGiven(spec.clusterIP);
  // In a dry run, nobody gets this one.
  if (isFound) spec.clusterIP = isDryRun ? addressNumber(0) : freeAddress(others);
  spec.clusterIPs ??= [spec.clusterIP];
  const { clusterIP } = spec;
  if (isFound || clusterIP === 'None' || clusterIP === before.clusterIP || typeof clusterIP !== 'string') {
    return undefined;
  }
  if (isIPv6(clusterIP)) {
    return invalidValue('spec.clusterIPs[0]', spec.clusterIPs, 'IPv6 is not configured on this cluster');
  }
  const refused = (why: string): Cause =>
    invalidValue('spec.clusterIPs', spec.clusterIPs, `failed to allocate IP ${clusterIP}: ${why}`);
  const isOfNetwork = isIPv4(clusterIP) && clusterIP.startsWith(NETWORK);
  if (!isOfNetwork || clusterIP === addressNumber(0) || clusterIP === addressNumber(MOST_ADDRESSES - 1)) {
    return refused('the provided network does not match the current range');
  }
  for (const other of others()) if (other.clusterIP === clusterIP) return refused('provided IP is already allocated');
  return undefined;
}

/** One that no other service has, by chance; the first and the last are of the network itself. */
function freeAddress(others: () => Iterable<Mapping>): string {
  const taken = new Set<unknown>();
  for (const { clusterIP } of others()) taken.add(clusterIP);
  const count = MOST_ADDRESSES - 2;
  let number = randomInt(count);
  // If none is free, then it does not matter either.
  for (let tries = 0; tries < count && taken.has(addressNumber(number + 1)); tries++) number = (number + 1) % count;
  return addressNumber(number + 1);
}

const addressNumber = (number: number): string => `${NETWORK}${number >>> 8}.${number & 255}`;

/** Ports of one service may share a number if their protocols differ; ports of two services never do. */
function allocatePorts({ spec, before, others, isDryRun }: Allocation): Cause | undefined {
  const ports = itemsOf(spec, 'ports');
  const own = new Set(portsOf(before));
  const wanted = ports.filter(({ nodePort }) => isGiven(nodePort) && !own.has(nodePort));
  const isNeeded = hasNodePorts(spec) && ports.some(({ nodePort }) => !isGiven(nodePort));
  const isHealthNeeded = needsHealthPort(spec) && !isGiven(spec.healthCheckNodePort);
  if (wanted.length === 0 && !isNeeded && !isHealthNeeded) return undefined;
  const taken = new Set<unknown>();
  for (const other of others()) for (const number of portsOf(other)) taken.add(number);
  const seen = new Set<string>();
  for (const [index, { nodePort, protocol }] of ports.entries()) {
    if (!isGiven(nodePort)) continue;
    const refused = (why: string): Cause => invalidValue(`spec.ports[${index}].nodePort`, nodePort, why);
    if (Number(nodePort) < FIRST_PORT || Number(nodePort) > LAST_PORT) {
      const range = `${FIRST_PORT}-${LAST_PORT}`;
      return refused(`provided port is not in the valid range. The range of valid ports is ${range}`);
    }
    const key = `${String(protocol)}/${String(nodePort)}`;
    if (taken.has(nodePort) || seen.has(key)) return refused('provided port is already allocated');
    seen.add(key);
  }
  for (const number of portsOf(spec)) taken.add(number);
  const next = isDryRun ? imaginaryPorts(wanted) : freePorts(taken);
  if (isNeeded) for (const port of ports) if (!isGiven(port.nodePort)) port.nodePort = next();
  if (isHealthNeeded) spec.healthCheckNodePort = next();
  return undefined;
}

/** With the one by which balancers ask for its health. */
function portsOf(spec: Mapping): readonly unknown[] {
  const numbers = itemsOf(spec, 'ports').map(({ nodePort }) => nodePort);
  return [...numbers, spec.healthCheckNodePort].filter(isGiven);
}

/** Balancers that keep to local pods ask the nodes whether there are any. */
export const needsHealthPort = (spec: Mapping): boolean =>
  spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';

function freePorts(taken: Set<unknown>): () => number {
  const count = LAST_PORT - FIRST_PORT + 1;
  return () => {
    let number = randomInt(count);
    for (let tries = 0; tries < count && taken.has(FIRST_PORT + number); tries++) number = (number + 1) % count;
    taken.add(FIRST_PORT + number);
    return FIRST_PORT + number;
  };
}

/** In a dry run, they are beyond those that there are, or beyond those that are asked for. */
function imaginaryPorts(wanted: readonly Mapping[]): () => number {
  let last = wanted.length === 0 ? LAST_PORT + 1 : Math.max(...wanted.map(({ nodePort }) => Number(nodePort)));
  return () => {
    last += 1;
    return last;
  };
}
