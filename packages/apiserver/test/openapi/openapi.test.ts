import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalCluster, localCluster } from '../../src/index.js';

let cluster: LocalCluster;
beforeEach(async () => {
  cluster = await localCluster({ controllers: false });
});
afterEach(async () => {
  await cluster.stop();
});

const get = async (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  await fetch(`${cluster.url}${path}`, {
    headers: { authorization: `Bearer ${cluster.token}`, ...headers },
    redirect: 'manual',
  });

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: object }> };
  readonly 'x-kubernetes-group-version-kind': object;
}
interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, Record<string, unknown>> };
}
const document = async (name: string): Promise<Document> =>
  (await (await get(`/openapi/v3/${name}`)).json()) as Document;
const index = async (): Promise<Record<string, string>> => {
  const { paths } = (await (await get('/openapi/v3')).json()) as {
    paths: Record<string, { serverRelativeURL: string }>;
  };
  return Object.fromEntries(Object.entries(paths).map(([name, { serverRelativeURL }]) => [name, serverRelativeURL]));
};
const schema = (color: string) => ({
  type: 'object',
  properties: {
    metadata: { type: 'object' },
    spec: { type: 'object', properties: { [color]: { type: 'string' }, port: { 'x-kubernetes-int-or-string': true } } },
  },
});
const definition = (openAPIV3Schema: object) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, subresources: { status: {} } },
      { name: 'v1alpha1', served: false, storage: false, schema: { openAPIV3Schema } },
    ],
  },
});

describe('the index of the descriptions', () => {
  it('has all groups and versions that are served, those of definitions as they come and go', async () => {
    expect(Object.keys(await index())).toEqual(expect.arrayContaining(['api/v1', 'apis/apps/v1']));
    await cluster.create(definition(schema('color')));
    const names = Object.keys(await index());
    expect(names).toContain('apis/example.com/v1');
    expect(names).not.toContain('apis/example.com/v1alpha1');
    await cluster.delete('customresourcedefinitions/things.example.com');
    expect(Object.keys(await index())).not.toContain('apis/example.com/v1');
  });

  it('has addresses that change with the documents, and only with them', async () => {
    await cluster.create(definition(schema('color')));
    const before = await index();
    await cluster.patch('customresourcedefinitions/things.example.com', {
      spec: { versions: definition(schema('colour')).spec.versions },
    });
    const after = await index();
    const changed = Object.keys(after).filter((name) => after[name] !== before[name]);
    expect(changed).toEqual(['apis/example.com/v1']);
  });
});

describe('a description', () => {
  it('may be kept for good by its address in the index', async () => {
    const response = await get((await index())['api/v1'] as string);
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'public, immutable']);
    const again = await get('/openapi/v3/api/v1', { 'if-none-match': response.headers.get('etag') as string });
    expect([again.status, again.headers.get('cache-control')]).toEqual([304, 'no-cache, private']);
  });

  it('that is outdated leads to the one of now', async () => {
    const response = await get('/openapi/v3/api/v1?hash=0');
    expect([response.status, response.headers.get('location')]).toEqual([301, (await index())['api/v1']]);
  });

  it('that does not exist is not found, with no words', async () => {
    const response = await get('/openapi/v3/apis/example.com/v1');
    expect([response.status, await response.text()]).toEqual([404, '']);
  });

  it('has no dangling references and no operation twice, whatever the group', async () => {
    await cluster.create(definition(schema('color')));
    for (const name of Object.keys(await index())) {
      const { paths, components } = await document(name);
      const references = [
        ...JSON.stringify({ paths, components }).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g),
      ];
      const dangling = references.map(([, to]) => to as string).filter((to) => !Object.hasOwn(components.schemas, to));
      expect([name, dangling]).toEqual([name, []]);
      const ids = Object.values(paths).flatMap((path) =>
        Object.values(path).flatMap(({ operationId }) => operationId ?? []),
      );
      expect(ids.length).toBeGreaterThan(0);
      expect(ids).toEqual([...new Set(ids)]);
    }
  });

  it.each([
    ['api/v1', '/api/v1/namespaces/{namespace}/configmaps/{name}', { group: '', version: 'v1', kind: 'ConfigMap' }],
    ['api/v1', '/api/v1/namespaces/{name}', { group: '', version: 'v1', kind: 'Namespace' }],
    [
      'apis/example.com/v1',
      '/apis/example.com/v1/namespaces/{namespace}/things/{name}',
      { group: 'example.com', version: 'v1', kind: 'Thing' },
    ],
  ])('of %s tells that %s is validated by the server, as kubectl wants to know', async (name, path, kind) => {
    await cluster.create(definition(schema('color')));
    const operation = (await document(name)).paths[path]?.patch;
    expect(operation?.['x-kubernetes-group-version-kind']).toEqual(kind);
    expect(operation?.parameters?.map((parameter) => parameter.name)).toContain('fieldValidation');
    expect(Object.keys(operation?.requestBody?.content ?? {})).toEqual([
      'application/json-patch+json',
      'application/merge-patch+json',
      ...(kind.kind === 'Thing' ? [] : ['application/strategic-merge-patch+json']),
    ]);
  });

  it('of a definition has its schema, but for what is the same for all objects', async () => {
    await cluster.create(definition(schema('color')));
    const { paths, components } = await document('apis/example.com/v1');
    expect(Object.keys(paths)).toEqual([
      '/apis/example.com/v1/namespaces/{namespace}/things',
      '/apis/example.com/v1/namespaces/{namespace}/things/{name}',
      '/apis/example.com/v1/namespaces/{namespace}/things/{name}/status',
      '/apis/example.com/v1/things',
    ]);
    expect(components.schemas['com.example.v1.Thing']).toEqual({
      type: 'object',
      properties: {
        apiVersion: { type: 'string', description: expect.stringMatching(/^APIVersion defines /) as string },
        kind: { type: 'string', description: expect.stringMatching(/^Kind is a string /) as string },
        metadata: {
          allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }],
          description: expect.stringMatching(/^Standard object's metadata/) as string,
        },
        spec: {
          type: 'object',
          properties: {
            color: { type: 'string' },
            port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
          },
        },
      },
      'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Thing' }],
    });
  });

  it('of built-in kinds has their fields', async () => {
    const { schemas } = (await document('api/v1')).components;
    expect(schemas['io.k8s.api.core.v1.ConfigMap']?.properties).toMatchObject({
      binaryData: { type: 'object', additionalProperties: { type: 'string', format: 'byte' } },
      immutable: { type: 'boolean' },
    });
  });
});

describe('the description in OpenAPI 2', () => {
  const PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

  it('has the schemas of all groups, without what could not be said then', async () => {
    await cluster.create(definition(schema('color')));
    const response = await get('/openapi/v2');
    const { swagger, definitions } = (await response.json()) as {
      swagger: string;
      definitions: Record<string, object>;
    };
    expect([swagger, response.headers.get('content-type')]).toEqual(['2.0', 'application/json']);
    expect(definitions['io.k8s.apimachinery.pkg.util.intstr.IntOrString']).toMatchObject({ type: 'string' });
    expect(definitions['io.k8s.api.core.v1.PodTemplate']).toMatchObject({
      properties: { template: { $ref: '#/definitions/io.k8s.api.core.v1.PodTemplateSpec' } },
    });
    expect(definitions['com.example.v1.Thing']).toMatchObject({
      properties: { spec: { properties: { port: { 'x-kubernetes-int-or-string': true } } } },
    });
  });

  it('comes as protobuf, too', async () => {
    const response = await get('/openapi/v2', { accept: PROTOBUF });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(response.headers.get('content-type')).toBe(PROTOBUF.replace('@', '.'));
    // The first field is the version: its number, its length, its text.
    expect(bytes.subarray(0, 5)).toEqual(Buffer.from([0x0a, 3, ...Buffer.from('2.0')]));
    expect(bytes.includes('io.k8s.api.core.v1.PodTemplateSpec')).toBe(true);
    const again = await get('/openapi/v2', {
      accept: PROTOBUF,
      'if-none-match': response.headers.get('etag') as string,
    });
    expect(again.status).toBe(304);
  });
});
