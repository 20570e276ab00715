/** A cluster of one kind that remembers objects only until they are handled: all the memory is then the operator's. */
import { apiError, type KubeClient, type KubeRequest, type Mapping } from '@kopf-ts/core';
import { applyMergePatch } from '@kopf-ts/core/engine';

export interface StubCluster {
  readonly client: KubeClient;
  /** An object as it comes, as a text. */
  readonly sample: string;
  /** Creates so many; resolves when each of them was patched as often as said. */
  create(count: number, patches: number): Promise<void>;
}

const KIND = 'kopfexamples';
const VERBS = ['get', 'list', 'watch', 'patch'];

interface StubObject extends Mapping {
  readonly metadata: { name: string; resourceVersion: string } & Mapping;
}

export function stubCluster(): StubCluster {
  const texts = new Map<string, { text: string; patchesLeft: number }>();
  const lines: string[] = [];
  let wakeReader = (): void => {};
  let onHandled = (): void => {};
  let version = 1000;
  let created = 0;

  const emit = (type: string, text: string): void => {
    // The lines are texts until they are read, as they are on the wire.
    lines.push(`{"type":"${type}","object":${text}}`);
    wakeReader();
  };
  const answers: Record<string, object> = {
    '/api': { versions: [] },
    '/apis': { groups: [{ name: 'kopf.dev', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } }] },
    '/apis/kopf.dev/v1': {
      resources: [
        { name: KIND, singularName: 'kopfexample', kind: 'KopfExample', namespaced: true, verbs: VERBS },
        { name: `${KIND}/status`, kind: 'KopfExample', namespaced: true, verbs: ['get', 'patch'] },
      ],
    },
  };

  const patched = ({ path, body, contentType }: KubeRequest): unknown => {
    // After the name, there may be parameters: as whom it is written.
    const name = path.split(/[/?]/)[7] ?? '';
    const entry = texts.get(name);
    if (entry === undefined) throw apiError({ status: 404, payload: {} });
    const object = JSON.parse(entry.text) as StubObject;
    if (contentType === 'application/json-patch+json') addFinalizers(object, body as readonly Mapping[]);
    else applyMergePatch(object, JSON.parse(JSON.stringify(body)) as object);
    object.metadata.resourceVersion = String(++version);
    entry.text = JSON.stringify(object);
    emit('MODIFIED', entry.text);
    entry.patchesLeft -= 1;
    if (entry.patchesLeft === 0) texts.delete(name);
    if (texts.size === 0) onHandled();
    return JSON.parse(entry.text);
  };

  return {
    sample: JSON.stringify(newObject('object-00000', '1')),
    client: {
      async request<T>(request: KubeRequest): Promise<T> {
        await turn();
        const answer = request.method === 'PATCH' ? patched(request) : answers[request.path];
        if (answer === undefined) throw apiError({ status: 404, payload: {} });
        return answer as T;
      },
      async *stream<T>({ path, signal }: KubeRequest): AsyncGenerator<T> {
        if (!path.includes(KIND)) throw apiError({ status: 404, payload: {} });
        const bookmark = {
          metadata: { resourceVersion: '1000', annotations: { 'k8s.io/initial-events-end': 'true' } },
        };
        yield { type: 'BOOKMARK', object: bookmark } as T;
        while (!signal?.aborted) {
          for (let line = lines.shift(); line !== undefined; line = lines.shift()) yield JSON.parse(line) as T;
          await new Promise<void>((resolve) => {
            wakeReader = resolve;
          });
        }
      },
    },
    async create(count, patches) {
      const areHandled = new Promise<void>((resolve) => {
        onHandled = resolve;
      });
      for (let index = 0; index < count; index++) {
        const name = `object-${created++}`;
        const text = JSON.stringify(newObject(name, String(++version)));
        texts.set(name, { text, patchesLeft: patches });
        emit('ADDED', text);
        // As if they came over a network: a few at a time.
        if (index % 8 === 0) await turn();
      }
      await areHandled;
      for (let round = 0; round < 20; round++) await turn();
    },
  };
}

/** The only thing that is patched so. */
function addFinalizers(object: StubObject, ops: readonly Mapping[]): void {
  const added = ops.find(({ op, path }) => op === 'add' && path === '/metadata/finalizers');
  if (added !== undefined) object.metadata['finalizers'] = added['value'];
}

function newObject(name: string, resourceVersion: string): StubObject {
  const fieldsV1 = { 'f:spec': { '.': {}, 'f:duration': {}, 'f:field': {}, 'f:items': {} } };
  const creationTimestamp = '2026-01-01T00:00:00Z';
  const managed = {
    apiVersion: 'kopf.dev/v1',
    fieldsType: 'FieldsV1',
    fieldsV1,
    manager: 'bench',
    operation: 'Update',
  };
  const metadata = { name, namespace: 'default', uid: `4f8a1c52-${name}`, resourceVersion, generation: 1 };
  return {
    apiVersion: 'kopf.dev/v1',
    kind: 'KopfExample',
    metadata: { ...metadata, creationTimestamp, managedFields: [{ ...managed, time: creationTimestamp }] },
    spec: { duration: '1m', field: 'value', items: ['item1', 'item2'] },
  };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
