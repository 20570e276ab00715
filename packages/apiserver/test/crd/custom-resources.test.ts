import type { AnyObject } from '@kopf-ts/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Client, inProcess, listeners, MERGE } from '../support/listeners.js';

const THINGS = '/apis/example.com/v1/namespaces/default/things';
const thing = (name: string, rest: object = {}, version = 'v1') => ({
  apiVersion: `example.com/${version}`,
  kind: 'Thing',
  metadata: { name },
  ...rest,
});
const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: { size: { type: 'string' }, replicas: { type: 'integer', default: 1 } },
    },
    status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};

describe.each(listeners)('%s', (_name, open) => {
  let client: Client;
  beforeEach(async () => {
    client = await open();
    await client.cluster.define({
      group: 'example.com',
      version: 'v1',
      plural: 'things',
      kind: 'Thing',
      subresources: ['status', 'scale'],
      schema,
    });
  });
  afterEach(async () => {
    await client.cluster.stop();
  });

  it('objects are pruned, defaulted and validated', async () => {
    const { body } = await client.send('POST', THINGS, thing('one', { spec: { size: 'x', color: 'red' } }));
    expect(body.spec).toEqual({ size: 'x', replicas: 1 });
    expect(await client.send('POST', THINGS, thing('two', { spec: { size: 5 } }))).toMatchObject({
      status: 422,
      body: {
        message:
          'Thing.example.com "two" is invalid: spec.size: Invalid value: "integer": spec.size in body must be of type string: "integer"',
      },
    });
  });

  it('the status is changed by its subresource, and nothing else is', async () => {
    const { body: created } = await client.send(
      'POST',
      THINGS,
      thing('one', { spec: { size: 'x' }, status: { a: 1 } }),
    );
    expect(created).not.toHaveProperty('status');
    const all = { spec: { size: 'y' }, status: { b: 2 }, metadata: { labels: { c: 'd' } } };
    const { body: byObject } = await client.send('PATCH', `${THINGS}/one`, all, MERGE);
    expect(byObject).toMatchObject({ spec: { size: 'y' }, metadata: { labels: { c: 'd' }, generation: 2 } });
    expect(byObject).not.toHaveProperty('status');
    const more = { spec: { size: 'z' }, status: { b: 2 }, metadata: { labels: { c: 'e' } } };
    const { body: byStatus } = await client.send('PATCH', `${THINGS}/one/status`, more, MERGE);
    expect(byStatus).toMatchObject({
      spec: { size: 'y' },
      status: { b: 2 },
      metadata: { labels: { c: 'd' }, generation: 2 },
    });
  });

  it('the scale is a view of the object', async () => {
    await client.send('POST', THINGS, thing('one', { spec: { replicas: 2 } }));
    const { body: scaled } = await client.send('PATCH', `${THINGS}/one/scale`, { spec: { replicas: 5 } }, MERGE);
    expect(scaled).toMatchObject({ kind: 'Scale', spec: { replicas: 5 }, status: { replicas: 0 } });
    expect((await client.send('GET', `${THINGS}/one`)).body).toMatchObject({
      spec: { replicas: 5 },
      metadata: { generation: 2 },
    });
  });

  it('updates must say what they are based on', async () => {
    await client.send('POST', THINGS, thing('one'));
    expect(await client.send('PUT', `${THINGS}/one`, thing('one'))).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'metadata.resourceVersion' }] } },
    });
  });

  it('generations count all changes but those of metadata and status', async () => {
    await client.send('POST', THINGS, thing('one'));
    const generation = async (patch: object, subresource = ''): Promise<number> =>
      (await client.send('PATCH', `${THINGS}/one${subresource}`, patch, MERGE)).body.metadata.generation;
    expect(await generation({ metadata: { labels: { a: 'b' } } })).toBe(1);
    expect(await generation({ spec: { size: 'x' } })).toBe(2);
    expect(await generation({ status: { x: 1 } }, '/status')).toBe(2);
    expect(await generation({ metadata: { generation: 99 } })).toBe(2);
  });
});

describe('definitions', () => {
  let client: Client;
  beforeEach(async () => {
    client = await inProcess();
  });
  afterEach(async () => {
    await client.cluster.stop();
  });
  const definition = (): AnyObject | undefined => client.cluster.get('crd/things.example.com') as AnyObject | undefined;
  const define = (versions: string[]) =>
    client.cluster.define({ group: 'example.com', versions, plural: 'things', kind: 'Thing' });

  it('are established with the names that they asked for', async () => {
    await define(['v1']);
    expect(definition()?.status).toMatchObject({
      acceptedNames: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      conditions: [
        { type: 'NamesAccepted', status: 'True' },
        { type: 'Established', status: 'True' },
      ],
      storedVersions: ['v1'],
    });
  });

  it('several versions are one and the same object', async () => {
    await define(['v1', 'v2']);
    await client.send('POST', THINGS, thing('one', { spec: { a: 1 } }));
    const { body } = await client.send('GET', '/apis/example.com/v2/namespaces/default/things/one');
    expect(body).toMatchObject({ apiVersion: 'example.com/v2', spec: { a: 1 } });
    const list = await client.send('GET', '/apis/example.com/v2/things');
    expect(list.body.items).toMatchObject([{ apiVersion: 'example.com/v2' }]);
  });

  it('what was stored before a default came gets it when it is read', async () => {
    await client.cluster.define({ group: 'example.com', version: 'v1', plural: 'things', kind: 'Thing', schema });
    await client.send('POST', THINGS, thing('one', { spec: {} }));
    const spec = structuredClone(definition()?.spec);
    spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.color = { type: 'string', default: 'red' };
    await client.cluster.patch('crd/things.example.com', { spec });
    expect((await client.send('GET', `${THINGS}/one`)).body.spec).toEqual({ replicas: 1, color: 'red' });
  });

  it('when they go, their objects go first, with their finalizers in time', async () => {
    await define(['v1']);
    await client.send('POST', THINGS, thing('free'));
    await client.send('POST', THINGS, { ...thing('held'), metadata: { name: 'held', finalizers: ['example.com/a'] } });
    await client.cluster.delete('crd/things.example.com');
    expect(client.cluster.list('things').map(({ metadata }) => metadata?.name)).toEqual(['held']);
    expect(definition()?.metadata?.deletionTimestamp).toBeDefined();
    expect(await client.send('POST', THINGS, thing('late'))).toMatchObject({
      status: 403,
      body: {
        message:
          'things.example.com "late" is forbidden: create not allowed while custom resource definition is terminating',
      },
    });
    await client.send('PATCH', `${THINGS}/held`, { metadata: { finalizers: [] } }, MERGE);
    expect(definition()).toBeUndefined();
    expect((await client.send('GET', THINGS)).status).toBe(404);
  });

  it('with wrong names are refused', async () => {
    const wrong = {
      ...(await import('../../src/helpers/resource-definition.js')).definitionOf({
        group: 'example.com',
        plural: 'things',
        kind: 'Thing',
      }),
    };
    wrong.metadata = { name: 'other.example.com' };
    await expect(client.cluster.create(wrong)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('must be spec.names.plural+"."+spec.group'),
    });
  });
});
