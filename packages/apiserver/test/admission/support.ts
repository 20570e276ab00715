/** A webhook server over real TLS, and just enough of a cluster around the admission plugin. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Clock, Mapping } from '@kopf-ts/core';
import { type WebhookAdmission, type WebhookAdmissionOptions, webhookAdmission } from '../../src/admission/webhooks.js';
import type { AdmissionAttributes } from '../../src/contracts/admission.js';
import type { ServedObject } from '../../src/contracts/objects.js';
import type { Catalog, ResourceInfo } from '../../src/contracts/resource.js';
import type { Revision, StoreEvent, StoreReader } from '../../src/contracts/store.js';
import { type Authority, createAuthority, type KeyAndCertificate } from '../../src/server/certificates.js';
import { systemClock } from '../../src/system-clock.js';

const resource = (group: string, version: string, plural: string, kind: string, namespaced = true): ResourceInfo => ({
  group,
  version,
  plural,
  kind,
  singular: kind.toLowerCase(),
  listKind: `${kind}List`,
  namespaced,
  shortNames: [],
  categories: [],
  verbs: [],
  collection: group === '' ? plural : `${plural}.${group}`,
});
export const things = ['v1', 'v2'].map((version) => resource('example.com', version, 'things', 'Thing')) as [
  ResourceInfo,
  ResourceInfo,
];
export const namespaces = resource('', 'v1', 'namespaces', 'Namespace', false);
export const configurations = resource(
  'admissionregistration.k8s.io',
  'v1',
  'mutatingwebhookconfigurations',
  'MutatingWebhookConfiguration',
  false,
);

export const thing = (extra: object = {}): ServedObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'x', namespace: 'ns' },
  ...extra,
});

export interface Answered {
  readonly url: string;
  readonly request: Mapping;
  readonly apiVersion: string;
}

/** What the webhook answers: the `response` of a review (without `uid`), or whatever the function does. */
export type Answer =
  | Mapping
  | ((review: Answered, outgoing: ServerResponse, incoming: IncomingMessage) => Mapping | undefined);

export class HookServer {
  readonly asked: Answered[] = [];
  readonly answers = new Map<string, Answer>();
  readonly ca: string;
  #server: Server;
  private constructor(server: Server, ca: string) {
    this.#server = server;
    this.ca = ca;
  }

  static async start(authority: Authority, certificate: KeyAndCertificate): Promise<HookServer> {
    const server = createServer(certificate);
    const self = new HookServer(server, authority.cert);
    server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
      let text = '';
      incoming.on('data', (chunk) => {
        text += chunk;
      });
      incoming.on('end', () => self.#answer(JSON.parse(text), incoming, outgoing));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return self;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(review: { apiVersion: string; request: Mapping }, incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { apiVersion, request } = review;
    const answered: Answered = { url: incoming.url ?? '', request, apiVersion };
    this.asked.push(answered);
    const path = answered.url.replace(/\?.*/, '');
    const answer = this.answers.get(path) ?? { allowed: true };
    const response = typeof answer === 'function' ? answer(answered, outgoing, incoming) : answer;
    if (response === undefined) return;
    outgoing.setHeader('content-type', 'application/json');
    outgoing.end(
      JSON.stringify({ apiVersion, kind: 'AdmissionReview', response: { uid: request['uid'], ...response } }),
    );
  }
}

export function certify(): { authority: Authority; certificate: KeyAndCertificate } {
  const authority = createAuthority('webhooks');
  const hosts = ['127.0.0.1', 'localhost', 'hooks.ns.svc'];
  return { authority, certificate: authority.issueServer({ commonName: 'hooks' }, hosts) };
}

export const jsonPatchOf = (...operations: object[]): Mapping => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

/** A store with nothing but what the plugin reads. */
class TinyStore implements StoreReader {
  readonly version = 1;
  readonly compactedVersion = 0;
  readonly rows: Revision[] = [];
  readonly #listeners = new Set<{ collection: string | undefined; listener: (event: StoreEvent) => void }>();
  collections(): Iterable<string> {
    return new Set(this.rows.map(({ collection }) => collection));
  }
  get(collection: string, namespace: string, name: string): Revision | undefined {
    return this.list(collection).find((row) => row.namespace === namespace && row.name === name);
  }
  list(collection: string): readonly Revision[] {
    return this.rows.filter((row) => row.collection === collection).sort((a, b) => (a.name < b.name ? -1 : 1));
  }
  count(collection: string): number {
    return this.list(collection).length;
  }
  observe(collection: string | undefined, listener: (event: StoreEvent) => void): () => void {
    const entry = { collection, listener };
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }
  put(collection: string, object: ServedObject): void {
    const row: Revision = {
      collection,
      namespace: object.metadata.namespace ?? '',
      name: object.metadata.name ?? '',
      uid: 'u',
      version: 1,
      labels: object.metadata.labels,
      owners: [],
      finalizers: [],
      isDeleting: false,
      json: JSON.stringify(object),
      schemaEpoch: 0,
    };
    this.rows.push(row);
    for (const { collection: wanted, listener } of this.#listeners) {
      if (wanted === undefined || wanted === collection)
        listener({ type: 'ADDED', version: 1, object: row, previous: undefined });
    }
  }
}

export class Cluster {
  readonly store = new TinyStore();
  readonly warnings: string[] = [];
  readonly plugin: WebhookAdmission;
  readonly #hooks: HookServer;

  constructor(hooks: HookServer, options: Partial<WebhookAdmissionOptions> & { clock?: Clock } = {}) {
    this.#hooks = hooks;
    const all = [...things, namespaces, configurations];
    const catalog: Catalog = {
      all: () => all,
      find: (group, version, plural) =>
        all.find((one) => one.group === group && one.version === version && one.plural === plural),
      findKind: () => undefined,
      versionsOf: (collection) => all.filter((one) => one.collection === collection),
    };
    this.plugin = webhookAdmission({ store: this.store, catalog, clock: systemClock(), ...options });
    this.store.put('namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'ns', labels: { team: 'a' } },
    });
  }

  /** Adds a configuration with one webhook, called at the path by the name of the configuration. */
  add(kind: 'Mutating' | 'Validating', name: string, hook: Mapping = {}): void {
    this.store.put(`${kind.toLowerCase()}webhookconfigurations.admissionregistration.k8s.io`, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: `${kind}WebhookConfiguration`,
      metadata: { name },
      webhooks: [
        {
          name: `${name}.example.com`,
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          timeoutSeconds: 5,
          rules: [
            {
              apiGroups: ['example.com'],
              apiVersions: ['v1'],
              resources: ['things'],
              operations: ['CREATE', 'UPDATE'],
            },
          ],
          clientConfig: {
            url: `https://127.0.0.1:${this.#hooks.port}/${name}`,
            caBundle: Buffer.from(this.#hooks.ca).toString('base64'),
          },
          ...hook,
        },
      ],
    });
  }

  attributes(changes: Partial<AdmissionAttributes> = {}): AdmissionAttributes {
    return {
      operation: 'CREATE',
      resource: things[0],
      subresource: '',
      namespace: 'ns',
      name: 'x',
      object: thing(),
      oldObject: undefined,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
      dryRun: false,
      userInfo: { username: 'me', groups: ['system:authenticated'] },
      warn: (text) => void this.warnings.push(text),
      signal: undefined,
      ...changes,
    };
  }
}
