import type { HttpKubeClient } from '@kopf-ts/client';
import {
  type AnyObject,
  ApiConflictError,
  ApiNotFoundError,
  ApiUnprocessableError,
  type KubeClient,
  Patch,
  type Resource,
  settings,
} from '@kopf-ts/core';
import {
  allowDeletion,
  blockDeletion,
  createObject,
  discover,
  list,
  listPages,
  patchObject,
  postEvent,
  resourceUrl,
} from '@kopf-ts/core/engine';
import { recordingLogger } from '@kopf-ts/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runKubectl } from '../controlplane/index.js';
import { clientOf, realClock, recordingClient } from '../support/client.js';
import { configMaps, createThing, getObject, newKind, newNamespace } from '../support/objects.js';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';

/** The verbs of core over the default client: what they assume of a server has to be so. */
describeOnRealCluster('on a real cluster', () => {
  let client: HttpKubeClient;
  let namespace: string;
  /** With a status subresource, and without one. */
  let things: Resource;
  let plainThings: Resource;

  beforeAll(async () => {
    client = clientOf(realCluster());
    namespace = await newNamespace(client);
    [things, plainThings] = await Promise.all([newKind(client), newKind(client, { statusIsSubresource: false })]);
  });

  afterAll(async () => {
    await client?.close();
  });

  const create = (name: string, body: AnyObject = {}, resource = things) =>
    createThing(client, resource, namespace, name, body);
  const read = (name: string, resource = things) => getObject(client, resource, namespace, name);

  describe('discovering', () => {
    /** A client of a server that is too old to tell everything at once. */
    const withoutAggregation = (inner: KubeClient): KubeClient => ({
      request: ({ accept: _, ...request }) => inner.request(request),
      stream: (request) => inner.stream(request),
    });

    it('takes two requests, and finds built-in and custom kinds', async () => {
      const recording = recordingClient(client);
      const { resources, failed } = await discover(recording);
      expect(failed).toEqual([]);
      expect(recording.requests.sort()).toEqual(['GET /api', 'GET /apis']);
      const find = (group: string, plural: string) => resources.find((r) => r.group === group && r.plural === plural);
      expect(find('', 'pods')).toMatchObject({
        kind: 'Pod',
        singular: 'pod',
        version: 'v1',
        namespaced: true,
        preferred: true,
        shortcuts: new Set(['po']),
        categories: new Set(['all']),
        subresources: expect.toSatisfy((set: ReadonlySet<string>) => set.has('status') && set.has('log')),
        verbs: expect.toSatisfy((set: ReadonlySet<string>) => set.has('list') && set.has('watch')),
      });
      expect(find('', 'namespaces')).toMatchObject({ namespaced: false });
      expect(find(things.group, 'things')).toEqual({
        ...things,
        shortcuts: new Set(),
        categories: new Set(),
        verbs: new Set(['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']),
      });
    });

    it('finds the same kinds version by version, where the server cannot tell them at once', async () => {
      const groups = new Set(['', 'apps', 'batch', 'authorization.k8s.io', 'rbac.authorization.k8s.io']);
      const [atOnce, oneByOne] = await Promise.all([
        discover(client, { groups }),
        discover(withoutAggregation(client), { groups }),
      ]);
      expect(atOnce.resources.length).toBeGreaterThan(25);
      expect(sortedResources(oneByOne.resources)).toEqual(sortedResources(atOnce.resources));
    });
  });

  describe('listing', () => {
    it('goes page by page, gives each object once, and has one version for all', async () => {
      const names = Array.from({ length: 7 }, (_, index) => `page-${index}`);
      const own = await newNamespace(client);
      for (const name of names) await createObject(client, configMaps, { namespace: own, name });
      const recording = recordingClient(client);
      const pages = await collected(listPages(recording, configMaps, { namespace: own, pageSize: 3 }));
      // The cluster adds one of its own, for the certificates.
      const found = pages.map(({ items }) => items.map((item) => item.metadata?.name));
      expect(found.flat().filter((name) => name !== 'kube-root-ca.crt')).toEqual(names);
      expect(recording.requests.length).toBe(pages.length);
      expect(found.slice(0, -1).every((page) => page.length === 3)).toBe(true);
      expect(new Set(pages.map(({ resourceVersion }) => resourceVersion)).size).toBe(1);
      expect(pages.map(({ isFirst }) => isFirst)).toEqual(pages.map((_, index) => index === 0));
    });

    it('tells the kind in each item, though the server does not', async () => {
      await create('listed');
      const { items } = await list(client, things, { namespace });
      expect(items.find((item) => item.metadata?.name === 'listed')).toMatchObject({
        apiVersion: `${things.group}/v1`,
        kind: 'Thing',
      });
    });

    it('is empty, with a version to watch from, where there is nothing', async () => {
      const { items, resourceVersion } = await list(client, things, { namespace: await newNamespace(client) });
      expect(items).toEqual([]);
      expect(resourceVersion).toMatch(/^\d+$/);
    });
  });

  describe('creating', () => {
    it('gives the object as the cluster has it', async () => {
      const created = await create('created', { spec: { field: 'value' } });
      expect(created).toEqual(await read('created'));
      expect(created).toMatchObject({
        spec: { field: 'value' },
        metadata: { name: 'created', namespace, uid: expect.any(String), generation: 1 },
      });
    });

    it('refuses the second of the same name', async () => {
      await create('twice');
      await expect(create('twice')).rejects.toThrow(ApiConflictError);
    });

    it('refuses what the schema does not permit, with the reasons', async () => {
      const strict = await newKind(client, { spec: { type: 'object', properties: { size: { type: 'integer' } } } });
      const refused = create('invalid', { spec: { size: 'big' } }, strict);
      await expect(refused).rejects.toThrow(ApiUnprocessableError);
      await expect(refused).rejects.toMatchObject({
        status: 422,
        details: { causes: [expect.objectContaining({ field: 'spec.size' })] },
      });
    });
  });

  describe('patching', () => {
    it('merges: adds, changes, and removes by nulls', async () => {
      const body = await create('merged', { spec: { kept: 1, changed: 1, removed: 1 } });
      const patch = new Patch({ spec: { changed: 2, removed: null, added: 2 } }, { body });
      const outcome = await patchObject(client, things, { namespace, name: 'merged', patch });
      expect(outcome.body).toEqual(await read('merged'));
      expect(outcome.body).toMatchObject({ spec: { kept: 1, changed: 2, added: 2 } });
      expect(outcome.resourceVersion).toBe(outcome.body?.metadata?.resourceVersion);
      expect(outcome.body?.['spec']).not.toHaveProperty('removed');
    });

    it.each([
      ['as a subresource, in a request of its own', () => things, 2],
      ['as a part of the object, in the same request', () => plainThings, 1],
    ])('writes the status %s', async (_, resource, requests) => {
      const name = `status-${requests}`;
      const body = await create(name, { spec: { a: 1 } }, resource());
      const recording = recordingClient(client);
      const patch = new Patch({ spec: { a: 2 }, status: { b: 3 } }, { body });
      const logger = recordingLogger();
      const outcome = await patchObject(recording, resource(), { namespace, name, patch, logger });
      expect(outcome.body).toMatchObject({ spec: { a: 2 }, status: { b: 3 } });
      expect(outcome.body).toEqual(await read(name, resource()));
      expect(recording.requests).toHaveLength(requests);
      expect(logger.messages('warn')).toEqual([]);
    });

    it('warns of what the schema has pruned', async () => {
      const strict = await newKind(client, { status: { type: 'object' } });
      const body = await create('pruned', {}, strict);
      const logger = recordingLogger();
      const patch = new Patch({ status: { unknown: 'lost' } }, { body });
      await patchObject(client, strict, { namespace, name: 'pruned', patch, logger });
      expect(logger.messages('warn').join()).toMatch(/inconsistencies: .*unknown/);
      expect(await read('pruned', strict)).not.toHaveProperty('status.unknown');
    });

    it('writes the status of an object that others have changed meanwhile', async () => {
      const body = await create('busy', { spec: { a: 1 } });
      await patchObject(client, things, { namespace, name: 'busy', patch: new Patch({ spec: { a: 2 } }) });
      const patch = new Patch({ status: { b: 3 } }, { body });
      const outcome = await patchObject(client, things, { namespace, name: 'busy', patch });
      expect(outcome.body).toMatchObject({ spec: { a: 2 }, status: { b: 3 } });
    });

    it('puts a finalizer on, which blocks the deletion, and takes it off, which ends it', async () => {
      const finalizer = 'example.com/finalizer';
      const patchWith = async (fn: ReturnType<typeof blockDeletion>) => {
        const patch = new Patch({}, { body: await read('finalized'), fns: [fn] });
        return patchObject(client, things, { namespace, name: 'finalized', patch });
      };
      await create('finalized');
      const blocked = await patchWith(blockDeletion(finalizer));
      expect(blocked.body?.metadata?.finalizers).toEqual([finalizer]);
      await client.request({ method: 'DELETE', path: resourceUrl(things, { namespace, name: 'finalized' }) });
      expect((await read('finalized')).metadata?.deletionTimestamp).toBeDefined();
      const released = await patchWith(allowDeletion(finalizer));
      // It was the last change of the object: this version will never come by the stream.
      expect(released.resourceVersion).toMatch(/never/);
      await expect(read('finalized')).rejects.toThrow(ApiNotFoundError);
    });

    it('sends a finalizer and an annotation together', async () => {
      const body = await create('together');
      const recording = recordingClient(client);
      const merge = { metadata: { annotations: { noted: 'yes' } } };
      const patch = new Patch(merge, { body, fns: [blockDeletion('example.com/finalizer')] });
      const outcome = await patchObject(recording, things, { namespace, name: 'together', patch });
      expect(recording.requests).toHaveLength(1);
      expect(outcome.body?.metadata).toMatchObject({
        annotations: { noted: 'yes' },
        finalizers: ['example.com/finalizer'],
      });
    });

    it('applies the functions to the newest state, if others have changed the object meanwhile', async () => {
      const body = await create('conflicting', { spec: { a: 1 } });
      await patchObject(client, things, { namespace, name: 'conflicting', patch: new Patch({ spec: { a: 2 } }) });
      const fn = blockDeletion('example.com/finalizer');
      const patch = new Patch({}, { body, fns: [fn] });
      const outcome = await patchObject(client, things, { namespace, name: 'conflicting', patch });
      expect(outcome.remaining).toBeUndefined();
      expect(await read('conflicting')).toMatchObject({
        metadata: { finalizers: ['example.com/finalizer'] },
        spec: { a: 2 },
      });
    });

    it('tells that the object is gone', async () => {
      const patch = new Patch({ spec: { a: 1 } });
      const outcome = await patchObject(client, things, { namespace, name: 'nonexistent', patch });
      expect(outcome).toEqual({ missing: true });
    });

    it.each([
      ['a merge', { spec: { a: 'of the old one' } }, []],
      ['a status', { status: { a: 'of the old one' } }, []],
      ['a function', {}, [blockDeletion('example.com/of-the-old-one')]],
      ['all at once', { spec: { a: 1 }, status: { a: 1 } }, [blockDeletion('example.com/of-the-old-one')]],
    ])('never touches another object of the same name, by %s', async (title, merge, fns) => {
      const name = `namesake-${title.replaceAll(' ', '-')}`;
      const body = await create(name);
      await client.request({ method: 'DELETE', path: resourceUrl(things, { namespace, name }) });
      const namesake = await create(name);
      const outcome = await patchObject(client, things, { namespace, name, patch: new Patch(merge, { body, fns }) });
      expect(outcome.missing ?? outcome.remaining).toBeTruthy();
      expect(await read(name)).toEqual(namesake);
    });
  });

  describe('posting events', () => {
    const post = async (name: string, message: string) => {
      const about = await create(name);
      const logger = recordingLogger();
      const event = { about, type: 'Normal', reason: 'Tested', message } as const;
      await postEvent(client, event, { settings: settings(), clock: realClock, logger });
      return logger.messages('warn');
    };

    it('shows them in kubectl', async () => {
      expect(await post('eventful', 'It is so.')).toEqual([]);
      const shown = await runKubectl(realCluster(), [
        'events',
        '-n',
        namespace,
        '--for',
        `Thing.v1.${things.group}/eventful`,
      ]);
      expect(shown).toMatch(/Normal\s+Tested\s+Thing\/eventful\s+It is so\./);
    });

    it.each([
      ['plain', 'x'],
      ['cyrillic', 'я'],
      ['emoji', '😀'],
    ])('cuts long messages as much as needed: %s', async (kind, character) => {
      expect(await post(`long-${kind}`, character.repeat(3000))).toEqual([]);
    });
  });
});

function sortedResources(resources: readonly Resource[]): Resource[] {
  const key = ({ group, version, plural }: Resource) => `${group}/${version}/${plural}`;
  return [...resources].sort((a, b) => key(a).localeCompare(key(b)));
}

async function collected<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}
