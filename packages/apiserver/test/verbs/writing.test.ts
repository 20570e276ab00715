import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Client, JSON_PATCH, listeners, MERGE } from '../support/listeners.js';

const MAPS = '/api/v1/namespaces/default/configmaps';
const map = (name: string, rest: object = {}) => ({ metadata: { name }, ...rest });

describe.each(listeners)('%s', (_name, open) => {
  let client: Client;
  beforeEach(async () => {
    client = await open();
  });
  afterEach(async () => {
    await client.cluster.stop();
  });

  describe('creating', () => {
    it('the server says what only the server can say', async () => {
      const { body } = await client.send('POST', MAPS, map('one', { data: { a: 'b' } }));
      expect(body).toEqual({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: 'one',
          namespace: 'default',
          uid: expect.stringMatching(/^[\da-f-]{36}$/),
          resourceVersion: expect.stringMatching(/^\d+$/),
          creationTimestamp: '2020-01-01T00:00:00Z',
          managedFields: [
            {
              manager: expect.any(String),
              operation: 'Update',
              apiVersion: 'v1',
              time: '2020-01-01T00:00:00Z',
              fieldsType: 'FieldsV1',
              fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } },
            },
          ],
        },
        data: { a: 'b' },
      });
    });

    it('what clients say of the past and the future of a new object does not matter', async () => {
      const metadata = { name: 'one', uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z', selfLink: '/x' };
      const { body } = await client.send('POST', MAPS, {
        metadata: { ...metadata, deletionTimestamp: '2001-01-01T00:00:00Z' },
      });
      expect(body.metadata).toMatchObject({ creationTimestamp: '2020-01-01T00:00:00Z' });
      expect(body.metadata.uid).not.toBe('mine');
      expect(body.metadata).not.toHaveProperty('selfLink');
      expect(body.metadata).not.toHaveProperty('deletionTimestamp');
    });

    it('names are generated where only a prefix is given', async () => {
      const { body } = await client.send('POST', MAPS, { metadata: { generateName: 'gen-' } });
      expect(body.metadata.name).toMatch(/^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    });

    it.each([
      ['a second time', map('twice'), 409, 'configmaps "twice" already exists'],
      [
        'without a name',
        { metadata: {} },
        422,
        'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
      ],
      [
        'with another namespace than that of the path',
        { metadata: { name: 'x', namespace: 'other' } },
        400,
        'the namespace of the provided object does not match the namespace sent on the request',
      ],
      [
        'as another kind',
        { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } },
        400,
        'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
      ],
      [
        'with data of a wrong type',
        map('x', { data: { a: 1 } }),
        400,
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
      ],
      [
        'with a version',
        { metadata: { name: 'x', resourceVersion: '5' } },
        500,
        'resourceVersion should not be set on objects to be created',
      ],
    ])('%s is refused', async (_how, object, status, message) => {
      await client.send('POST', MAPS, map('twice'));
      expect(await client.send('POST', MAPS, object)).toMatchObject({
        status,
        body: { kind: 'Status', code: status, message },
      });
    });

    it('a dry run leaves nothing behind, but is refused like a wet one', async () => {
      const { body } = await client.send('POST', `${MAPS}?dryRun=All`, map('dry'));
      expect(body.metadata).not.toHaveProperty('resourceVersion');
      expect((await client.send('GET', `${MAPS}/dry`)).status).toBe(404);
      expect((await client.send('POST', `${MAPS}?dryRun=Some`, map('dry'))).status).toBe(422);
    });

    it('unknown fields are dropped, or refused by whoever is strict', async () => {
      const { body } = await client.send('POST', MAPS, map('loose', { foo: 1 }));
      expect(body).not.toHaveProperty('foo');
      const strict = await client.send('POST', `${MAPS}?fieldValidation=Strict`, map('strict', { foo: 1 }));
      expect(strict).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('strict decoding error: unknown field "foo"') },
      });
    });

    it('namespaces must be there, and not be about to go', async () => {
      const missing = await client.send('POST', '/api/v1/namespaces/nope/configmaps', map('x'));
      expect(missing).toMatchObject({ status: 404, body: { message: 'namespaces "nope" not found' } });
      await client.send('POST', '/api/v1/namespaces', map('ending'));
      await client.send('DELETE', '/api/v1/namespaces/ending');
      const late = await client.send('POST', '/api/v1/namespaces/ending/configmaps', map('x'));
      expect(late).toMatchObject({
        status: 403,
        body: { details: { causes: [{ reason: 'NamespaceTerminating' }] } },
      });
    });
  });

  describe('updating', () => {
    it('an outdated version is a conflict, none is taken for the latest', async () => {
      const { body: first } = await client.send('POST', MAPS, map('one'));
      const { body: second } = await client.send('PUT', `${MAPS}/one`, map('one', { data: { a: '1' } }));
      expect(second.data).toEqual({ a: '1' });
      const outdated = { metadata: { name: 'one', resourceVersion: first.metadata.resourceVersion }, data: { a: '2' } };
      expect(await client.send('PUT', `${MAPS}/one`, outdated)).toMatchObject({
        status: 409,
        body: {
          reason: 'Conflict',
          message:
            'Operation cannot be fulfilled on configmaps "one": the object has been modified; please apply your changes to the latest version and try again',
        },
      });
    });

    it('an update that changes nothing changes not even the version', async () => {
      const { body: created } = await client.send('POST', MAPS, map('one', { data: { a: 'b', c: 'd' } }));
      const { body: same } = await client.send('PUT', `${MAPS}/one`, map('one', { data: { c: 'd', a: 'b' } }));
      expect(same.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    });

    it('identities do not change', async () => {
      await client.send('POST', MAPS, map('one'));
      const renamed = await client.send('PUT', `${MAPS}/one`, map('two'));
      expect(renamed).toMatchObject({
        status: 400,
        body: { message: 'the name of the object (two) does not match the name on the URL (one)' },
      });
      const other = await client.send('PUT', `${MAPS}/one`, { metadata: { name: 'one', uid: 'another' } });
      expect(other).toMatchObject({
        status: 409,
        body: { message: expect.stringContaining('Precondition failed: UID') },
      });
    });

    it('some kinds are created by updates, most are not', async () => {
      const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
      expect((await client.send('PUT', `${leases}/new`, map('new', { spec: {} }))).status).toBe(200);
      expect((await client.send('PUT', `${MAPS}/new`, map('new'))).status).toBe(404);
    });
  });

  describe('patching', () => {
    beforeEach(async () => {
      await client.send('POST', MAPS, map('one', { data: { a: '1' } }));
    });

    it('merge patches merge, and remove by null', async () => {
      const { body } = await client.send('PATCH', `${MAPS}/one`, { data: { a: null, b: '2' } }, MERGE);
      expect(body.data).toEqual({ b: '2' });
    });

    it('JSON patches go step by step, and all together or not at all', async () => {
      const good = [
        { op: 'test', path: '/data/a', value: '1' },
        { op: 'add', path: '/data/b', value: '2' },
      ];
      expect((await client.send('PATCH', `${MAPS}/one`, good, JSON_PATCH)).body.data).toEqual({ a: '1', b: '2' });
      const bad = [
        { op: 'add', path: '/data/c', value: '3' },
        { op: 'test', path: '/data/a', value: 'x' },
      ];
      expect(await client.send('PATCH', `${MAPS}/one`, bad, JSON_PATCH)).toMatchObject({
        status: 422,
        body: { reason: 'Invalid' },
      });
      expect((await client.send('GET', `${MAPS}/one`)).body.data).toEqual({ a: '1', b: '2' });
    });

    it('a version in the patch is insisted on', async () => {
      const patch = { metadata: { resourceVersion: '1' }, data: { a: '2' } };
      expect((await client.send('PATCH', `${MAPS}/one`, patch, MERGE)).status).toBe(409);
    });

    it.each(['application/apply-patch+cbor', 'application/json', 'text/plain'])(
      '%s is not taken for a patch',
      async (type) => {
        expect(await client.send('PATCH', `${MAPS}/one`, {}, type)).toMatchObject({
          status: 415,
          body: { reason: 'UnsupportedMediaType' },
        });
      },
    );

    it('what nobody is can be patched by nobody', async () => {
      expect((await client.send('PATCH', `${MAPS}/nobody`, {}, MERGE)).status).toBe(404);
    });

    it('identities do not change', async () => {
      expect(await client.send('PATCH', `${MAPS}/one`, { metadata: { uid: 'x' } }, MERGE)).toMatchObject({
        status: 422,
        body: { message: 'ConfigMap "one" is invalid: metadata.uid: Invalid value: "x": field is immutable' },
      });
    });
  });

  describe('deleting', () => {
    it('without finalizers, it is gone at once', async () => {
      const { body: created } = await client.send('POST', MAPS, map('one'));
      const { body } = await client.send('DELETE', `${MAPS}/one`);
      expect(body).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name: 'one', kind: 'configmaps', uid: created.metadata.uid },
      });
      expect((await client.send('GET', `${MAPS}/one`)).status).toBe(404);
    });

    it('with finalizers, it is marked and stays until the last of them is removed', async () => {
      await client.send('POST', MAPS, { metadata: { name: 'one', finalizers: ['example.com/a'] } });
      const { body: marked } = await client.send('DELETE', `${MAPS}/one`);
      expect(marked.metadata).toMatchObject({
        deletionTimestamp: '2020-01-01T00:00:00Z',
        deletionGracePeriodSeconds: 0,
      });
      const more = { metadata: { finalizers: ['example.com/a', 'example.com/b'] } };
      expect((await client.send('PATCH', `${MAPS}/one`, more, MERGE)).status).toBe(422);
      await client.send('PATCH', `${MAPS}/one`, { metadata: { finalizers: [] } }, MERGE);
      expect((await client.send('GET', `${MAPS}/one`)).status).toBe(404);
    });

    it('preconditions are checked', async () => {
      await client.send('POST', MAPS, map('one'));
      expect((await client.send('DELETE', `${MAPS}/one`, { preconditions: { uid: 'other' } })).status).toBe(409);
      expect((await client.send('DELETE', `${MAPS}/one`, { preconditions: { resourceVersion: '1' } })).status).toBe(
        409,
      );
      expect((await client.send('GET', `${MAPS}/one`)).status).toBe(200);
    });

    it.each([
      ['Foreground', 'foregroundDeletion'],
      ['Orphan', 'orphan'],
    ])('%s deletion is left to the garbage collector', async (policy, finalizer) => {
      await client.send('POST', MAPS, map('body'));
      await client.send('POST', MAPS, map('query'));
      const { body: byBody } = await client.send('DELETE', `${MAPS}/body`, { propagationPolicy: policy });
      const { body: byQuery } = await client.send('DELETE', `${MAPS}/query?propagationPolicy=${policy}`);
      expect([byBody.metadata.finalizers, byQuery.metadata.finalizers]).toEqual([[finalizer], [finalizer]]);
    });

    it('collections are deleted by selectors, and the answer is what there was', async () => {
      for (const name of ['a', 'b', 'c']) {
        await client.send('POST', MAPS, { metadata: { name, labels: { which: name === 'c' ? 'keep' : 'drop' } } });
      }
      const { body } = await client.send('DELETE', `${MAPS}?labelSelector=which%3Ddrop`);
      expect(body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(['a', 'b']);
      expect(client.cluster.list('configmaps').map(({ metadata }) => metadata?.name)).toEqual(['c']);
    });

    it('some namespaces live for ever', async () => {
      expect(await client.send('DELETE', '/api/v1/namespaces/default')).toMatchObject({
        status: 403,
        body: { message: 'namespaces "default" is forbidden: this namespace may not be deleted' },
      });
    });
  });
});
