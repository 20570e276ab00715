/** Where a pod or a service listens, as far as that can be reached from here. */
import { isMapping, type Mapping } from '@kopf-ts/core';
import type { ServiceResolver } from '../admission/calling.js';
import type { ServedObject } from '../contracts/objects.js';
import type { StoreReader } from '../contracts/store.js';
import { badRequest, notFound, StatusError } from '../http/status-errors.js';
import { itemsOf, maybeMapping } from '../kinds/defaults/setting.js';
import { parseRevision } from '../store/revision.js';
import { goQuote } from '../text/go-text.js';
import type { ProxiedPath } from './proxied-path.js';

export interface ProxyTarget {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
}

interface Named {
  readonly scheme: string;
  readonly name: string;
  readonly port: string;
}

const HTTP = 80;
const HTTPS = 443;

/** Throws as the real server refuses. Addresses of this very host are fine here, unlike there: nothing else is reachable. */
export function proxyTarget(path: ProxiedPath, store: StoreReader, resolve: ServiceResolver | undefined): ProxyTarget {
  const named = namedIn(path);
  const found = path.kind === 'pods' ? ofPod(path, named, store) : ofService(path, named, store, resolve);
  const scheme = named.scheme === 'https' ? 'https' : 'http';
  return { scheme, port: scheme === 'https' ? HTTPS : HTTP, ...found };
}

/** `name`, `name:port` or `scheme:name:port`. */
function namedIn({ kind, id }: ProxiedPath): Named {
  const parts = id.split(':');
  const wrong = (): StatusError => badRequest(`invalid ${kind === 'pods' ? 'pod' : 'service'} request ${goQuote(id)}`);
  if (parts.length > 3) throw wrong();
  const [scheme = '', name = '', port = ''] = parts.length === 3 ? parts : ['', parts[0] as string, parts[1] ?? ''];
  if (name === '' || !['', 'http', 'https'].includes(scheme)) throw wrong();
  return { scheme, name, port };
}

type Found = Partial<ProxyTarget> & Pick<ProxyTarget, 'host'>;

function ofPod({ namespace }: ProxiedPath, { name, port }: Named, store: StoreReader): Found {
  const revision = store.get('pods', namespace, name);
  if (revision === undefined) throw notFound({ group: '', plural: 'pods' }, name);
  const pod = parseRevision(revision);
  const host = addressOf(pod);
  if (host === undefined) throw badRequest('address not allowed');
  const first = itemsOf(maybeMapping(pod, 'spec'), 'containers').flatMap((one) => itemsOf(one, 'ports'))[0];
  const number = port === '' ? first?.containerPort : Number(port);
  return { host, ...(typeof number === 'number' ? { port: number } : {}) };
}

function addressOf({ status }: ServedObject): string | undefined {
  const { podIP } = isMapping(status) ? status : {};
  return typeof podIP === 'string' && podIP !== '' ? podIP : undefined;
}

function ofService(
  { namespace, id }: ProxiedPath,
  { name, port }: Named,
  store: StoreReader,
  resolve: ServiceResolver | undefined,
): Found {
  const revision = store.get('services', namespace, name);
  if (revision === undefined) throw notFound({ group: '', plural: 'services' }, name);
  const service = parseRevision(revision);
  const ports = itemsOf(maybeMapping(service, 'spec'), 'ports');
  const wanted = port === '' ? ports[0] : ports.find((one) => String(one.port) === port || one.name === port);
  if (/^\d+$/.test(port) && wanted === undefined) {
    throw unavailable(`no service port ${port} found for service ${goQuote(name)}`);
  }
  const given = resolve?.({ namespace, name, path: '', port: Number(wanted?.port ?? HTTP) });
  if (given !== undefined) return resolved(given);
  const endpoint = readyEndpoint(store, namespace, service, wanted ?? { name: port });
  if (endpoint !== undefined) return endpoint;
  // Without anything that could have endpoints, there is no service to speak of.
  const endpoints = store.get('endpoints', namespace, name);
  if (endpoints === undefined) throw notFound({ group: '', plural: 'services' }, name);
  const isOtherPort = itemsOf(parseRevision(endpoints), 'subsets').length > 0;
  throw unavailable(`no endpoints available for service ${goQuote(isOtherPort ? id : name)}`);
}

function resolved(address: string): Found {
  const url = new URL(address.includes('://') ? address : `http://${address}`);
  const scheme = url.protocol === 'https:' ? 'https' : 'http';
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    ...(address.includes('://') ? { scheme } : {}),
    ...(url.port === '' ? {} : { port: Number(url.port) }),
  } as Found;
}

/** By slices, by the older endpoints, or by the pods themselves: whatever there is. */
function readyEndpoint(store: StoreReader, namespace: string, service: ServedObject, port: Mapping): Found | undefined {
  const name = service.metadata.name ?? '';
  return (
    inSlices(store, namespace, name, port) ??
    inEndpoints(store, namespace, name, port) ??
    inPods(store, namespace, service, port)
  );
}

const isOfPort = (port: Mapping, candidate: Mapping): boolean => (candidate.name ?? '') === (port.name ?? '');

function inSlices(store: StoreReader, namespace: string, name: string, port: Mapping): Found | undefined {
  const own = store
    .list('endpointslices.discovery.k8s.io', namespace)
    .filter(({ labels }) => labels?.['kubernetes.io/service-name'] === name);
  for (const slice of own.map(parseRevision)) {
    const endpoint = itemsOf(slice, 'endpoints').find((one) => maybeMapping(one, 'conditions')?.ready !== false);
    const number = itemsOf(slice, 'ports').find((one) => isOfPort(port, one))?.port;
    const [host] = Array.isArray(endpoint?.addresses) ? endpoint.addresses : [];
    if (host !== undefined && typeof number === 'number') return { host: String(host), port: number };
  }
  return undefined;
}

function inEndpoints(store: StoreReader, namespace: string, name: string, port: Mapping): Found | undefined {
  const revision = store.get('endpoints', namespace, name);
  if (revision === undefined) return undefined;
  for (const subset of itemsOf(parseRevision(revision), 'subsets')) {
    const host = itemsOf(subset, 'addresses')[0]?.ip;
    const number = itemsOf(subset, 'ports').find((one) => isOfPort(port, one))?.port;
    if (host !== undefined && typeof number === 'number') return { host: String(host), port: number };
  }
  return undefined;
}

/** Where nobody keeps endpoints, as in clusters without controllers. */
function inPods(store: StoreReader, namespace: string, service: ServedObject, port: Mapping): Found | undefined {
  const selector = Object.entries(maybeMapping(maybeMapping(service, 'spec'), 'selector') ?? {});
  if (selector.length === 0) return undefined;
  const chosen = store
    .list('pods', namespace)
    .filter(({ labels, isDeleting }) => !isDeleting && selector.every(([key, value]) => labels?.[key] === value))
    .map(parseRevision);
  for (const pod of chosen) {
    const host = addressOf(pod);
    const ports = itemsOf(maybeMapping(pod, 'spec'), 'containers').flatMap((one) => itemsOf(one, 'ports'));
    const { targetPort } = port;
    const number =
      typeof targetPort === 'string' ? ports.find(({ name }) => name === targetPort)?.containerPort : targetPort;
    if (host !== undefined && typeof number === 'number') return { host, port: number };
  }
  return undefined;
}

const unavailable = (message: string): StatusError => new StatusError(503, 'ServiceUnavailable', message);
