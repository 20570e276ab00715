import { type ManualClock, manualClock } from '@kopf-ts/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalCluster, localCluster } from '../../src/index.js';

let cluster: LocalCluster;
let clock: ManualClock;
beforeEach(async () => {
  clock = manualClock();
  cluster = await localCluster({ clock, controllers: false });
});
afterEach(async () => {
  await cluster.stop();
});

const DEFINITION = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com';
const at = (version: string, name = ''): string => `/apis/example.com/${version}/namespaces/default/things${name}`;
const schemaOf = (properties: object) => ({
  openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
});
const version = (name: string, rest: object = {}) => ({
  name,
  served: true,
  storage: false,
  schema: schemaOf({ size: { type: 'integer' } }),
  ...rest,
});
const define = async (versions: readonly object[], metadata: object = {}): Promise<unknown> =>
  await cluster.create({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com', ...metadata },
    spec: { group: 'example.com', scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, versions },
  });

async function send(method: string, path: string, body?: object): Promise<Response> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  return await fetch(`${cluster.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${cluster.token}`, 'content-type': type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by the tests
const specOf = async (response: Response): Promise<any> => ((await response.json()) as { spec: unknown }).spec;

describe('deprecated versions', () => {
  it.each([
    [
      'the best of the others',
      { deprecated: true },
      'example.com/v1beta1 Thing is deprecated; use example.com/v2 Thing',
    ],
    ['what the definition says', { deprecated: true, deprecationWarning: 'do not' }, 'do not'],
  ])('warn everyone, and tell %s', async (_, rest, text) => {
    await define([version('v1', { storage: true }), version('v2'), version('v1beta1', rest)]);
    expect((await send('GET', at('v1beta1'))).headers.get('warning')).toBe(`299 - "${text}"`);
    expect((await send('GET', at('v1beta1', '/none'))).headers.get('warning')).toBe(`299 - "${text}"`);
    expect((await send('GET', at('v1'))).headers.get('warning')).toBeNull();
  });

  it('have nothing to recommend if all the better ones are deprecated, too', async () => {
    await define([version('v2', { deprecated: true }), version('v1', { storage: true, deprecated: true })]);
    expect((await send('GET', at('v1'))).headers.get('warning')).toBe('299 - "example.com/v1 Thing is deprecated"');
  });
});

describe('versions of different schemas', () => {
  beforeEach(async () => {
    await define([
      version('v1', { storage: true, schema: schemaOf({ a: { type: 'string' }, b: { type: 'integer', default: 5 } }) }),
      version('v2', { schema: schemaOf({ a: { type: 'string' }, c: { type: 'boolean', default: true } }) }),
    ]);
    const body = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'x' }, spec: { a: 'text' } };
    await send('POST', at('v1'), body);
  });

  it('show only what they know, and default only what is stored', async () => {
    expect(await specOf(await send('GET', at('v1', '/x')))).toEqual({ a: 'text', b: 5 });
    expect(await specOf(await send('GET', at('v2', '/x')))).toEqual({ a: 'text' });
  });

  it('keep only what the stored version knows', async () => {
    expect(await specOf(await send('PATCH', at('v2', '/x'), { spec: { a: 'new', c: false } }))).toEqual({ a: 'new' });
    expect(await specOf(await send('GET', at('v1', '/x')))).toEqual({ a: 'new', b: 5 });
  });
});

describe('watches of a kind', () => {
  it.each([
    ['is deleted', async () => await send('DELETE', DEFINITION)],
    [
      'changes',
      async () =>
        await send('PATCH', DEFINITION, { spec: { versions: [version('v1', { storage: true, deprecated: true })] } }),
    ],
  ])('that %s end a second later', async (_, change) => {
    await define([version('v1', { storage: true })]);
    const stream = cluster.client.stream({ method: 'GET', path: `${at('v1')}?watch=true` })[Symbol.asyncIterator]();
    let hasEnded = false;
    const ending = stream.next().then(({ done }) => {
      hasEnded = done === true;
    });
    await cluster.settled();
    await change();
    await cluster.settled();
    expect(hasEnded).toBe(false);
    await clock.advance(1);
    await ending;
    expect(hasEnded).toBe(true);
  });
});

describe('the deletion of a definition', () => {
  it('is told as completed while somebody else holds the definition', async () => {
    await define([version('v1', { storage: true })], { finalizers: ['example.com/keep'] });
    await send('DELETE', DEFINITION);
    const left = (await (await send('GET', DEFINITION)).json()) as {
      metadata: { finalizers: unknown };
      status: { conditions: readonly object[] };
    };
    expect(left.metadata.finalizers).toEqual(['example.com/keep']);
    expect(left.status.conditions).toContainEqual(
      expect.objectContaining({ type: 'Terminating', status: 'False', reason: 'InstanceDeletionCompleted' }),
    );
  });
});
