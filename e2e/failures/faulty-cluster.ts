/** A real cluster behind a line that fails on demand: operators go through the line, the tests go directly. */
import { type Faults, faultProxy } from '@kopf-ts/apiserver';
import type { AnyObject, ConnectionInfo, KubeClient, SettingsOverrides } from '@kopf-ts/core';
import { onTestFinished } from 'vitest';
import type { ControlPlaneAccess } from '../controlplane/index.js';
import { freePorts } from '../controlplane/ports.js';
import type { TestKind } from '../support/operators/kinds.js';
import { isVersionCheck } from '../support/version-checks.js';

export interface FaultyCluster {
  /** As the administrator, through the line. */
  readonly connection: ConnectionInfo;
  readonly faults: Faults;
  /** Of all who go through the line: `GET /path?query`, in order. */
  readonly requests: string[];
}

/** A line of the running test; it ends with the test. */
export async function newLine({ url, ca, token }: ControlPlaneAccess): Promise<FaultyCluster> {
  const proxy = await faultProxy({ target: { url, ca } });
  onTestFinished(() => proxy.stop());
  const requests: string[] = [];
  // It sees every request, and does nothing to any: it must be the first of all.
  const record = (request: { readonly method: string; readonly url: string }): boolean => {
    requests.push(`${request.method} ${request.url}`);
    return false;
  };
  proxy.faults.add({ match: { where: record }, latency: 0 });
  return { connection: { server: proxy.url, token }, faults: proxy.faults, requests };
}

/** The requests that ask for all the objects of the kind, in whatever way; not those that look for one by its name. */
export function listsOf(requests: readonly string[], kind: TestKind): readonly string[] {
  return ofKind(requests, kind).filter(
    (request) =>
      request.startsWith('GET ') &&
      (!request.includes('watch=true') || request.includes('sendInitialEvents')) &&
      !request.includes('fieldSelector=metadata.name') &&
      !isVersionCheck(request),
  );
}

/** The requests that go on with the watching of the kind. */
export function watchesOf(requests: readonly string[], kind: TestKind): readonly string[] {
  return ofKind(requests, kind).filter(
    (request) => request.includes('watch=true') && !request.includes('sendInitialEvents'),
  );
}

function ofKind(requests: readonly string[], { plural }: TestKind): readonly string[] {
  return requests.filter((request) => pathOf(plural).test(request.split(/[ ?]/)[1] ?? ''));
}

/** The streams and the lists of the kind; neither single objects nor the discovery of the kind. */
export function pathOf(plural: string): RegExp {
  return new RegExp(`^/apis/[^/]+/v1/(namespaces/[^/]+/)?${plural}$`);
}

/** All limits of time are shorter than by default; nothing else differs. */
export const SHORT_TIMES = {
  watching: { serverTimeout: 5, inactivityTimeout: 3, reconnectBackoff: 0.1, unhealthyAfter: 3 },
  networking: { errorBackoffs: [0.1, 0.1, 0.2] },
  queueing: { errorDelays: [0.2, 0.5, 1] },
} satisfies SettingsOverrides;

interface Probe {
  readonly isGreen: boolean;
  /** As it was sent. */
  readonly text: string;
}

export interface Probes {
  /** For the operator. */
  readonly liveness: string;
  isAlive(): Promise<Probe>;
  isReady(): Promise<Probe>;
}

/** Where an operator is to tell of its health, and how it is asked. */
export async function newProbes(): Promise<Probes> {
  const [port] = await freePorts(1);
  const base = `http://127.0.0.1:${port}`;
  const ask = async (path: string): Promise<Probe> => {
    const answer = await fetch(`${base}${path}`);
    return { isGreen: answer.status === 200, text: await answer.text() };
  };
  return { liveness: `${base}/healthz`, isAlive: () => ask('/healthz'), isReady: () => ask('/readyz') };
}

/** A merge-patch of the status of an object. */
export function patchStatus(
  client: KubeClient,
  { group, plural }: TestKind,
  at: { readonly namespace: string; readonly name: string },
  status: object,
): Promise<AnyObject> {
  return client.request({
    method: 'PATCH',
    path: `/apis/${group}/v1/namespaces/${at.namespace}/${plural}/${at.name}/status`,
    body: { status },
    contentType: 'application/merge-patch+json',
  });
}
