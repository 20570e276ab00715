/** What generated requests have found to be otherwise on the real server, on custom kinds. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Client, JSON_PATCH, MERGE, overHttp } from '../support/listeners.js';

const APPLY = 'application/apply-patch+yaml';
const THINGS = '/apis/example.com/v1/namespaces/default/things';
const OLDER = '/apis/example.com/v1beta1/namespaces/default/things';
const schemaOf = (properties: object, rest: object = {}) => ({
  openAPIV3Schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties, ...rest }, status: { type: 'object', properties: STATUS } },
  },
});
const STATUS = { size: { type: 'integer' } };
const COMMON = {
  title: { type: 'string' },
  size: { type: 'integer', default: 1 },
  anything: { 'x-kubernetes-preserve-unknown-fields': true },
  embedded: {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
  },
};
const version = (name: string, schema: object) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema,
  subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
});

let client: Client;
beforeEach(async () => {
  client = await overHttp();
  await client.cluster.create({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        version('v1', schemaOf({ ...COMMON, deep: { type: 'string', default: 'x' } }, { required: ['title'] })),
        version('v1beta1', schemaOf(COMMON)),
      ],
    },
  });
});
afterEach(async () => {
  await client.cluster.stop();
});

const thing = (spec: unknown, rest: object = {}) => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'a' },
  spec,
  ...rest,
});
const create = async (spec: unknown = { title: 'one' }) => await client.send('POST', THINGS, thing(spec));
const versionOf = async (): Promise<number> => {
  const { body } = await client.send('GET', `${THINGS}/a`);
  return Number(body.metadata.resourceVersion);
};
const managersOf = async (): Promise<readonly { manager: string; fieldsV1: object; time?: string }[]> => {
  const { body } = await client.send('GET', `${THINGS}/a`);
  return body.metadata.managedFields ?? [];
};

describe('a patch that changes nothing makes a new version', () => {
  it('if it is made in a version without the defaults of the stored one, and the next one in that', async () => {
    await create();
    const before = await versionOf();
    await client.send('PATCH', `${OLDER}/a`, {}, MERGE);
    const after = await versionOf();
    expect(after).toBeGreaterThan(before);
    expect((await client.send('GET', `${THINGS}/a`)).body.spec.deep).toBe('x');
    await client.send('PATCH', `${THINGS}/a`, {}, MERGE);
    const last = await versionOf();
    expect(last).toBeGreaterThan(after);
    await client.send('PATCH', `${THINGS}/a`, {}, MERGE);
    expect(await versionOf()).toBe(last);
  });

  it('if nulls were applied before: they are stored, and lost by reading', async () => {
    await create();
    const applied = thing({ anything: null });
    const { body } = await client.send('PATCH', `${THINGS}/a?fieldManager=m`, applied, APPLY);
    expect(body.spec).not.toHaveProperty('anything');
    const before = await versionOf();
    await client.send('PATCH', `${THINGS}/a`, {}, MERGE);
    expect(await versionOf()).toBeGreaterThan(before);
  });

  it('if it scales what somebody has updated: the replicas get an entry without a time', async () => {
    await create();
    const before = await versionOf();
    await client.send('PATCH', `${THINGS}/a/scale`, { spec: { replicas: 1 } }, MERGE);
    expect(await versionOf()).toBeGreaterThan(before);
    const [ofReplicas, ofOthers] = await managersOf();
    expect(ofReplicas?.fieldsV1).toEqual({ 'f:spec': { 'f:size': {} } });
    expect(ofReplicas?.time).toBeUndefined();
    expect(ofOthers?.fieldsV1).toHaveProperty(['f:spec', 'f:title']);
    expect(ofOthers?.fieldsV1).not.toHaveProperty(['f:spec', 'f:size']);
  });
});

describe('managers', () => {
  it('are forgotten when something does not fit into the schema', async () => {
    await create();
    await client.send('PATCH', `${THINGS}/a`, { status: 'x' }, MERGE);
    expect(await managersOf()).toEqual([]);
  });

  it('of another version, which does not know a field, stop an application', async () => {
    await create();
    await client.send('PATCH', `${OLDER}/a/status`, { status: { size: 1 } }, MERGE);
    const { status, body } = await client.send('PATCH', `${THINGS}/a?fieldManager=m`, thing({ title: 'two' }), APPLY);
    expect(status).toBe(500);
    expect(body).toMatchObject({ message: '.spec.deep: field not declared in schema' });
    expect(body).not.toHaveProperty('details');
  });
});

describe('custom objects are refused', () => {
  const messageOf = async (method: 'POST' | 'PUT' | 'PATCH', path: string, body: unknown, type?: string) =>
    (await client.send(method, path, body, type)).body.message;

  it('with what is wrong in the version that they say to be of, and only then for being of that version', async () => {
    const older = thing({ title: 'x', deep: 'y' }, { apiVersion: 'example.com/v1beta1' });
    expect(await messageOf('POST', `${THINGS}?fieldValidation=Strict`, older)).toBe(
      'Thing in version "v1beta1" cannot be handled as a Thing: strict decoding error: unknown field "spec.deep"',
    );
    expect(await messageOf('POST', THINGS, older)).toBe(
      'the API version in the data (example.com/v1beta1) does not match the expected API version (example.com/v1)',
    );
  });

  it('without a kind, in other words for those who do not want to know of fields', async () => {
    const text = '{"metadata":{"name":"a"}}';
    const missing = `Object 'Kind' is missing in '${text}'`;
    expect(await messageOf('POST', THINGS, text)).toContain(`unrecognized (must be of type Thing): ${missing}`);
    expect(await messageOf('POST', `${THINGS}?fieldValidation=Ignore`, text)).toBe(
      `Thing in version "v1" cannot be handled as a Thing: ${missing}`,
    );
  });

  it('with resources in them that are none', async () => {
    const embedded = { apiVersion: 1.5, kind: 'Pod', metadata: { name: 'x' } };
    expect(await messageOf('POST', THINGS, thing({ title: 'x', embedded }))).toBe(
      'Thing in version "v1" cannot be handled as a Thing: spec.embedded.apiVersion: Invalid value: 1.5: must be a string',
    );
  });

  it('where their replicas cannot be reached', async () => {
    const { body } = await create([]);
    expect(body.details.causes).toContainEqual({
      reason: 'FieldValueInvalid',
      field: '.spec.size',
      message:
        'Invalid value: 0: .spec.size accessor error: [] is of the type []interface {}, expected map[string]interface{}',
    });
  });

  it('for another kind alone, whatever else is wrong', async () => {
    await create();
    const patch = [
      { op: 'replace', path: '/kind', value: 'Other' },
      { op: 'add', path: '/spec/title', value: 1 },
    ];
    const { body } = await client.send('PATCH', `${THINGS}/a`, patch, JSON_PATCH);
    expect(body.details.causes.map(({ field }: { field: string }) => field)).toEqual(['kind']);
  });

  it('without a version, as a mishap', async () => {
    await create();
    const { status, body } = await client.send(
      'PATCH',
      `${THINGS}/a`,
      [{ op: 'remove', path: '/apiVersion' }],
      JSON_PATCH,
    );
    expect(status).toBe(500);
    expect(body.message).toContain("Object 'apiVersion' is missing in 'object has no apiVersion field'");
  });

  it.each([
    ['PUT', THINGS, 400, 'name must be provided'],
    ['PATCH', THINGS, 400, 'name must be provided'],
    ['POST', `${THINGS}/a/status`, 405, 'create is not supported on resources of kind "things.example.com"'],
    ['POST', `${THINGS}/a`, 409, 'things.example.com "a" already exists'],
  ] as const)('by %s to %s, in the words of their handlers', async (method, path, code, message) => {
    await create();
    const { status, body } = await client.send(
      method,
      path,
      thing({ title: 'x' }),
      method === 'PATCH' ? MERGE : undefined,
    );
    expect({ status, message: body.message }).toEqual({ status: code, message });
  });
});

describe('the scale of a custom object', () => {
  const NO_KIND = 'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"';

  it.each([{ kind: 'Other' }, { spec: 'x' }, { spec: { replicas: 'x' } }])(
    'that is none (%j) has no kind',
    async (rest) => {
      await create();
      const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' }, ...rest };
      const { status, body } = await client.send('PUT', `${THINGS}/a/scale`, scale);
      expect({ status, message: body.message }).toEqual({ status: 400, message: NO_KIND });
    },
  );

  it('has the name of the object, and is refused without it before anything is looked for', async () => {
    const { status, body } = await client.send('PUT', `${THINGS}/none/scale`, { spec: { replicas: 3 } });
    expect({ status, message: body.message }).toEqual({
      status: 400,
      message: 'the name of the object (none based on URL) was undeterminable: name must be provided',
    });
  });

  it('is of one object, if it says of which', async () => {
    await create();
    const metadata = { name: 'a', uid: 'other' };
    expect((await client.send('PUT', `${THINGS}/a/scale`, { metadata, spec: { replicas: 3 } })).status).toBe(409);
  });

  it('may be based on no version', async () => {
    await create();
    const metadata = { name: 'a', resourceVersion: '' };
    const { body } = await client.send('PUT', `${THINGS}/a/scale`, { metadata, spec: { replicas: 3 } });
    expect(body.spec).toEqual({ replicas: 3 });
  });
});

it('embedded metadata are kept without what says nothing', async () => {
  const embedded = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', labels: {} } };
  const { body } = await create({ title: 'x', embedded });
  expect(body.spec.embedded.metadata).toEqual({ name: 'x' });
});
