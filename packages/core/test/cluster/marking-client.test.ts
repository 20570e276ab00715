import { describe, expect, it } from 'vitest';
import { markingClient } from '../../src/cluster/marking-client.js';
import { apiError } from '../../src/errors.js';
import type { KubeClient, KubeRequest } from '../../src/seams/client.js';
import type { AnyObject } from '../../src/values/objects/body.js';
import { TRACE_ANNOTATION, traceMarkOf } from '../../src/values/objects/trace-marks.js';
import { scriptedClient } from './scripted-client.js';

const MARK = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const PODS = '/api/v1/namespaces/default/pods';
const KEX = '/apis/kopf.dev/v1/namespaces/default/kopfexamples';

const pod = (metadata: AnyObject['metadata'] = { name: 'p' }): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata,
});
const create = (path: string, body: unknown): KubeRequest => ({ method: 'POST', path, body });
const apply = (path: string, body: unknown = pod()): KubeRequest => ({
  method: 'PATCH',
  path,
  body,
  contentType: 'application/apply-patch+yaml',
});

function marking(mark: () => string | undefined = () => MARK) {
  const scripted = scriptedClient();
  const client = markingClient(scripted, { mark });
  const sent = async (request: KubeRequest): Promise<string | undefined> => {
    await client.request(request);
    return traceMarkOf(scripted.requests.at(-1)?.body as AnyObject);
  };
  return { scripted, client, sent };
}

describe('a new object', () => {
  it.each([
    [PODS],
    [`${PODS}?fieldManager=kopf`],
    [KEX],
    ['/api/v1/namespaces'],
    ['/apis/kopf.dev/v1/clusterkopfexamples'],
  ])('that is created at %s is marked', async (path) => {
    const { scripted, sent } = marking();
    scripted.answerAll({});
    expect(await sent(create(path, pod()))).toBe(MARK);
    expect(scripted.log).toEqual([`POST ${path}`]);
  });

  it('keeps all else that it has, and the given one is not changed', async () => {
    const { scripted, client } = marking();
    scripted.answerAll({});
    const object = { ...pod({ generateName: 'p-', labels: { a: 'b' }, annotations: { c: 'd' } }), spec: {} };
    const before = structuredClone(object);
    await client.request(create(PODS, object));
    expect(object).toEqual(before);
    const annotations = { c: 'd', [TRACE_ANNOTATION]: MARK };
    expect(scripted.requests[0]?.body).toEqual({ ...object, metadata: { ...object.metadata, annotations } });
  });

  it('keeps the mark that it has', async () => {
    const { scripted, sent } = marking();
    scripted.answerAll({});
    expect(await sent(create(PODS, pod({ annotations: { [TRACE_ANNOTATION]: 'own' } })))).toBe('own');
  });

  it.each([
    ['there is none', undefined],
    ['it is empty', ''],
    ['it is too long', 'x'.repeat(513)],
  ])('is not marked if %s', async (_, mark) => {
    const { scripted, client } = marking(() => mark);
    scripted.answerAll({});
    const request = create(PODS, pod());
    await client.request(request);
    expect(scripted.requests).toEqual([request]);
  });
});

describe('an applied object', () => {
  const missing = apiError({ status: 404 });

  it('is marked if it is new', async () => {
    const { scripted, sent } = marking();
    scripted.answer(missing, {});
    expect(await sent(apply(`${PODS}/p?fieldManager=kopf&force=true`))).toBe(MARK);
    expect(scripted.log).toEqual([`GET ${PODS}/p`, `PATCH ${PODS}/p?fieldManager=kopf&force=true`]);
  });

  it('keeps the mark of its creation ever after: else it would be another change each time', async () => {
    const { scripted, sent } = marking();
    scripted.answer(pod({ annotations: { [TRACE_ANNOTATION]: 'former' } }), {});
    expect(await sent(apply(`${PODS}/p`))).toBe('former');
  });

  it.each([
    ['exists without a mark', pod()],
    ['cannot be looked at', apiError({ status: 403 })],
  ])('is applied as it is, if it %s', async (_, answer) => {
    const { scripted, sent } = marking();
    scripted.answer(answer, {});
    expect(await sent(apply(`${PODS}/p`))).toBeUndefined();
    expect(scripted.log).toHaveLength(2);
  });

  it('gets the mark of the moment when it is asked for', async () => {
    let mark = 'first';
    const { scripted, client } = marking(() => mark);
    scripted.answer(missing, {});
    const applied = client.request(apply(`${PODS}/p`));
    mark = 'second';
    await applied;
    expect(traceMarkOf(scripted.requests[1]?.body as AnyObject)).toBe('first');
  });
});

describe('no other request is changed', () => {
  it.each<[string, KubeRequest]>([
    ['reading', { method: 'GET', path: PODS }],
    ['patching', { method: 'PATCH', path: `${PODS}/p`, body: pod(), contentType: 'application/merge-patch+json' }],
    ['replacing', { method: 'PUT', path: `${PODS}/p`, body: pod() }],
    ['applying a status', apply(`${PODS}/p/status`)],
    ['evicting', create(`${PODS}/p/eviction`, { kind: 'Eviction', metadata: { name: 'p' } })],
    ['asking for tokens', create('/api/v1/namespaces/default/serviceaccounts/x/token', { kind: 'TokenRequest' })],
    ['posting events', create('/api/v1/namespaces/default/events', { kind: 'Event', metadata: {} })],
    [
      'asking for rights',
      create('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { kind: 'SelfSubjectAccessReview' }),
    ],
    ['posting texts', create(PODS, 'text')],
    ['asking something else', create('/other/api', pod())],
  ])('%s', async (_, request) => {
    const { scripted, client } = marking();
    scripted.answerAll({});
    await client.request(request);
    expect(scripted.requests).toEqual([request]);
    expect(scripted.requests[0]).toBe(request);
  });

  it('and whatever else the client can do, it still can', async () => {
    const texts: KubeClient = {
      ...scriptedClient(),
      async *text() {
        yield 'line';
      },
      connect: () => Promise.reject(new Error('connected')),
    };
    const all = markingClient(texts, { mark: () => MARK });
    for await (const line of all.text?.({ method: 'GET', path: '/' }) ?? []) expect(line).toBe('line');
    await expect(all.connect?.({ path: '/', protocols: [] })).rejects.toThrow('connected');
    const { client } = marking();
    expect([client.text, client.connect]).toEqual([undefined, undefined]);
  });
});
