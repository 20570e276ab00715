/** The cluster with the objects that the measured operators handle. */
import { Pool } from 'undici';
import type { ControlPlane } from '../../e2e/controlplane/index.js';

const KINDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const OBJECTS = '/apis/kopf.dev/v1/namespaces/default/kopfexamples';
const CHILDREN = '/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%21%3Dkube-root-ca.crt';
const MERGE_PATCH = 'application/merge-patch+json';
const AT_ONCE = 32;

export interface Objects {
  create(name: string, number: number): Promise<void>;
  patch(name: string, patch: object): Promise<void>;
  /** Many at once; gives how long that took, in seconds. */
  createMany(count: number, onCreate?: (name: string) => void): Promise<number>;
  removeAll(): Promise<void>;
  count(): Promise<number>;
  /** No other cluster has the same. */
  clusterIdentity(): Promise<string>;
  /** Calls the function with each object that is changed from now on, until stopped. */
  watch(onObject: (object: HandledObject) => void): Promise<() => void>;
  close(): Promise<void>;
}

interface HandledObject {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly create_fn?: { readonly ok?: boolean } };
}

export async function objectsOf({ url, token, ca }: ControlPlane): Promise<Objects> {
  const pool = new Pool(url, { connections: 64, connect: { ca } });
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };

  const request = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object, type?: string) => {
    const { statusCode, body: answer } = await pool.request({
      method,
      path,
      headers: { ...headers, 'content-type': type ?? 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.text();
    if (statusCode >= 400) throw new Error(`${method} ${path}: HTTP ${statusCode}: ${text}`);
    return JSON.parse(text) as { metadata: { resourceVersion: string; uid: string }; items: HandledObject[] };
  };

  await request('POST', KINDS, DEFINITION);
  // It is served a moment later.
  while (
    await request('GET', OBJECTS).then(
      () => false,
      () => true,
    )
  )
    await pause(0.05);

  const create: Objects['create'] = async (name, number) => {
    const spec = { duration: '1m', field: 'value', items: ['item1', 'item2'], number };
    await request('POST', OBJECTS, { apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata: { name }, spec });
  };
  return {
    create,
    async patch(name, patch) {
      await request('PATCH', `${OBJECTS}/${name}`, patch, MERGE_PATCH);
    },
    async createMany(count, onCreate) {
      const startedAt = performance.now();
      let next = 0;
      const work = async (): Promise<void> => {
        while (next < count) {
          const number = next++;
          onCreate?.(`object-${number}`);
          await create(`object-${number}`, number);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      return (performance.now() - startedAt) / 1000;
    },
    async removeAll() {
      await request('DELETE', CHILDREN);
      for (;;) {
        await request('DELETE', OBJECTS);
        const { items } = await request('GET', `${OBJECTS}?limit=500`);
        if (items.length === 0) return;
        const release = { metadata: { finalizers: null } };
        const released = items.map(({ metadata: { name } }) =>
          request('PATCH', `${OBJECTS}/${name}`, release, MERGE_PATCH).catch(() => undefined),
        );
        await Promise.all(released);
      }
    },
    async count() {
      return (await request('GET', OBJECTS)).items.length;
    },
    async clusterIdentity() {
      return (await request('GET', '/api/v1/namespaces/kube-system')).metadata.uid;
    },
    async watch(onObject) {
      const leaving = new AbortController();
      const follow = async (): Promise<void> => {
        const { metadata, items } = await request('GET', OBJECTS);
        items.forEach(onObject);
        const path = `${OBJECTS}?watch=1&resourceVersion=${metadata.resourceVersion}`;
        const { body } = await pool.request({ method: 'GET', path, headers, signal: leaving.signal, bodyTimeout: 0 });
        let text = '';
        body.setEncoding('utf8');
        body.on('error', () => {});
        // The server ends the streams of those who read too slowly, e.g. because the machine is busy.
        body.on('end', () => void follow());
        body.on('data', (chunk: string) => {
          text += chunk;
          for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
            onObject((JSON.parse(text.slice(0, end)) as { object: HandledObject }).object);
            text = text.slice(end + 1);
          }
        });
      };
      await follow();
      return () => leaving.abort();
    },
    close: () => pool.destroy(),
  };
}

export function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

const ANYTHING = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'kopfexamples.kopf.dev' },
  spec: {
    group: 'kopf.dev',
    scope: 'Namespaced',
    names: { kind: 'KopfExample', plural: 'kopfexamples', singular: 'kopfexample' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: ANYTHING, status: ANYTHING } } },
      },
    ],
  },
};
