import { recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { OutpacedError, type PatchObjectOptions, patchObject } from '../../src/cluster/patching/patch-object.js';
import { apiError, KopfError } from '../../src/errors.js';
import type { KubeRequest } from '../../src/seams/client.js';
import type { AnyObject } from '../../src/values/objects/body.js';
import { allowDeletion, blockDeletion } from '../../src/values/objects/finalizers.js';
import { Patch, type PatchFn } from '../../src/values/patches/patch.js';
import { KEX, KEX_WITH_STATUS, kex, SECRETS } from './fixtures.js';
import { type Answer, scriptedClient } from './scripted-client.js';

const OBJECT = '/apis/kopf.dev/v1/namespaces/ns/kopfexamples/a';
const STATUS = `${OBJECT}/status`;
const MERGE = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const BY_NAME = '/apis/kopf.dev/v1/namespaces/ns/kopfexamples?fieldSelector=metadata.name%3Da&limit=500';

const listOf = (...items: AnyObject[]): object => ({
  apiVersion: 'kopf.dev/v1',
  kind: 'KopfExampleList',
  metadata: { resourceVersion: '100' },
  items,
});

/** Adds these keys to a field of the object. */
const setField =
  (field: string, keys: object): PatchFn =>
  (body) => {
    body[field] = { ...body[field], ...keys };
  };
const setSpec = setField('spec', { viaFn: 'hello' });
const setStatus = setField('status', { viaFn: 'hello' });

interface Scenario extends Partial<Omit<PatchObjectOptions, 'patch' | 'logger'>> {
  readonly merge?: object;
  readonly fns?: PatchFn[];
  readonly resource?: typeof KEX;
  readonly answers?: Answer[];
}

async function patching({ merge = {}, fns = [], resource = KEX_WITH_STATUS, answers = [], ...options }: Scenario) {
  const client = scriptedClient();
  const logger = recordingLogger();
  client.answer(...answers);
  const patch = new Patch(merge as Record<string, unknown>, { fns });
  const outcome = patchObject(client, resource, { namespace: 'ns', name: 'a', patch, logger, ...options });
  const result = await outcome.then(
    (value) => value,
    (error: unknown) => ({ error }),
  );
  const sent = client.requests.map(({ path, contentType, body }) => [path, contentType, body]);
  return { result, sent, logger, client };
}

const versionTest = (value: string | null) => ({ op: 'test', path: '/metadata/resourceVersion', value });
const uidTest = { op: 'test', path: '/metadata/uid', value: 'uid-a' };

describe('a patch with nothing to do', () => {
  it.each([
    ['an empty patch', {}],
    ['a function that changes nothing', { fns: [() => {}] }],
    ['a merge-patch with what is already there', { merge: { spec: { x: 1 }, status: { gone: null } } }],
    ['a finalizer that is already there', { fns: [blockDeletion('fin')] }],
  ])('sends nothing: %s', async (_title, scenario) => {
    const body = kex('a', '1', { spec: { x: 1 }, metadata: { finalizers: ['fin'] } });
    const { result, sent, logger } = await patching({ ...scenario, body });
    expect(result).toEqual({});
    expect(sent).toEqual([]);
    expect(logger.lines).toEqual([]);
  });
});

describe('a patch in the way of Kopf', () => {
  const compat = 'kopf';

  it('goes in the order: object, status, object by functions, status by functions', async () => {
    const { result, sent, logger } = await patching({
      compat,
      merge: { spec: { x: 'y' }, status: { s: 't' } },
      fns: [setSpec, setStatus],
      body: kex('a', '1'),
      answers: [
        kex('a', '2', { spec: { x: 'y' } }),
        kex('a', '3', { spec: { x: 'y' }, status: { s: 't' } }),
        kex('a', '4', { spec: { x: 'y', viaFn: 'hello' }, status: { s: 't' } }),
        kex('a', '5', { spec: { x: 'y', viaFn: 'hello' }, status: { s: 't', viaFn: 'hello' } }),
      ],
    });
    expect(sent).toEqual([
      [OBJECT, MERGE, { spec: { x: 'y' } }],
      [STATUS, MERGE, { status: { s: 't' } }],
      [OBJECT, JSON_PATCH, [versionTest('3'), { op: 'add', path: '/spec/viaFn', value: 'hello' }]],
      [STATUS, JSON_PATCH, [versionTest('4'), { op: 'add', path: '/status/viaFn', value: 'hello' }]],
    ]);
    expect(result).toMatchObject({ body: { metadata: { resourceVersion: '5' } }, resourceVersion: '5' });
    expect(result).not.toHaveProperty('remaining');
    expect(logger.messages()).toEqual([
      'Merge-patching the resource with: {"spec":{"x":"y"}}',
      'Merge-patching the status with: {"status":{"s":"t"}}',
      expect.stringMatching(/^JSON-patching the resource with: \[\{"op":"test"/),
      expect.stringMatching(/^JSON-patching the status with: \[\{"op":"test"/),
    ]);
  });

  it('sends the status with the object if it is not a subresource', async () => {
    const { sent } = await patching({
      compat,
      resource: KEX,
      merge: { spec: { x: 'y' }, status: { s: 't' } },
      fns: [setSpec, setStatus],
      body: kex('a', '1'),
      answers: [kex('a', '2', { spec: { x: 'y' }, status: { s: 't' } }), kex('a', '3')],
    });
    expect(sent).toEqual([
      [OBJECT, MERGE, { spec: { x: 'y' }, status: { s: 't' } }],
      [
        OBJECT,
        JSON_PATCH,
        [
          versionTest('2'),
          { op: 'add', path: '/spec/viaFn', value: 'hello' },
          { op: 'add', path: '/status/viaFn', value: 'hello' },
        ],
      ],
    ]);
  });

  it('sends what is already there, too', async () => {
    const { sent } = await patching({
      compat,
      merge: { spec: { x: 1 }, status: {} },
      body: kex('a', '1', { spec: { x: 1 } }),
      answers: [kex('a', '1', { spec: { x: 1 } }), kex('a', '1', { spec: { x: 1 }, status: {} })],
    });
    expect(sent).toEqual([
      [OBJECT, MERGE, { spec: { x: 1 } }],
      [STATUS, MERGE, { status: {} }],
    ]);
  });

  it('takes the version of the body it began with if only functions are there', async () => {
    const { sent } = await patching({
      compat,
      fns: [setStatus],
      body: kex('a', '1'),
      answers: [kex('a', '2')],
    });
    expect(sent).toEqual([
      [STATUS, JSON_PATCH, [versionTest('1'), { op: 'add', path: '/status', value: { viaFn: 'hello' } }]],
    ]);
  });

  it('takes the body it began with if the answer is empty, and no version if there is no body', async () => {
    const withBody = await patching({
      compat,
      merge: { x: 1 },
      fns: [setSpec],
      body: kex('a', '1'),
      answers: [{}, {}],
    });
    expect(withBody.sent[1]?.[2]).toMatchObject([versionTest('1'), {}]);
    const without = await patching({ compat, fns: [setSpec], answers: [{}] });
    expect(without.sent[0]?.[2]).toMatchObject([versionTest(null), {}]);
    expect(without.result).toEqual({});
  });
});

describe('a patch', () => {
  it('carries the uid, so that a re-created namesake is never touched', async () => {
    const { sent } = await patching({
      merge: { spec: { x: 'y' } },
      fns: [setStatus],
      body: kex('a', '1'),
      answers: [kex('a', '2', { spec: { x: 'y' } }), kex('a', '3')],
    });
    expect(sent).toEqual([
      [OBJECT, MERGE, { spec: { x: 'y' }, metadata: { uid: 'uid-a', resourceVersion: '1' } }],
      [STATUS, JSON_PATCH, [versionTest('2'), uidTest, { op: 'add', path: '/status', value: { viaFn: 'hello' } }]],
    ]);
  });

  it('sends only what differs from the object', async () => {
    const { sent } = await patching({
      merge: { spec: { x: 1, y: 2 }, metadata: { labels: { a: 'b' } }, status: { s: 't' } },
      body: kex('a', '1', { spec: { x: 1 }, status: { s: 't' }, metadata: { labels: { a: 'b' } } }),
      answers: [kex('a', '2', { spec: { x: 1, y: 2 }, status: { s: 't' }, metadata: { labels: { a: 'b' } } })],
    });
    expect(sent).toEqual([[OBJECT, MERGE, { spec: { y: 2 }, metadata: { uid: 'uid-a', resourceVersion: '1' } }]]);
  });

  it('uses the newest body rather than that of the patch', async () => {
    const client = scriptedClient();
    client.answer(kex('a', '3'));
    const patch = new Patch({}, { body: kex('a', '1'), fns: [blockDeletion('fin')] });
    await patchObject(client, KEX, { namespace: 'ns', name: 'a', patch, body: kex('a', '2') });
    expect(client.requests[0]?.body).toMatchObject([versionTest('2'), {}, {}]);
  });

  it('uses the body of the patch, and its namespace, if there is nothing newer', async () => {
    const client = scriptedClient();
    client.answer(kex('a', '3'));
    const patch = new Patch({ spec: { x: 1 } }, { body: kex('a', '1') });
    await patchObject(client, KEX, { name: 'a', patch });
    expect(client.requests[0]).toMatchObject({ path: OBJECT, body: { metadata: { uid: 'uid-a' } } });
  });

  it('works without any body', async () => {
    const { sent, result } = await patching({
      merge: { status: { s: 't' } },
      answers: [kex('a', '9', { status: { s: 't' } })],
    });
    expect(sent).toEqual([[STATUS, MERGE, { status: { s: 't' } }]]);
    expect(result).toMatchObject({ resourceVersion: '9' });
  });

  it('removes the whole status if asked to', async () => {
    const { sent } = await patching({
      merge: { status: null },
      body: kex('a', '1', { status: { s: 't' } }),
      answers: [kex('a', '2')],
    });
    expect(sent).toEqual([[STATUS, MERGE, { status: null, metadata: { uid: 'uid-a', resourceVersion: '1' } }]]);
  });

  it('does not change the conditions that the patch itself has', async () => {
    const { sent } = await patching({
      merge: { metadata: { resourceVersion: '0' }, spec: { x: 1 } },
      body: kex('a', '1'),
      answers: [kex('a', '2', { spec: { x: 1 } })],
    });
    expect(sent[0]?.[2]).toEqual({ metadata: { uid: 'uid-a', resourceVersion: '0' }, spec: { x: 1 } });
  });

  it('is silent without a logger', async () => {
    const client = scriptedClient();
    client.answer(kex('a', '2'));
    const patch = new Patch({ spec: { lost: true } });
    expect(await patchObject(client, KEX, { namespace: 'ns', name: 'a', patch })).toMatchObject({
      resourceVersion: '2',
    });
  });

  it('stops as soon as writing is not permitted', async () => {
    let permissions = 1;
    const { sent, result, logger } = await patching({
      merge: { spec: { x: 1 }, status: { s: 't' } },
      body: kex('a', '1'),
      answers: [kex('a', '2', { spec: { x: 1 } })],
      mayWrite: () => permissions-- > 0,
    });
    expect(sent).toHaveLength(1);
    expect(result).toMatchObject({ resourceVersion: '2' });
    expect(logger.find('writing is not permitted')).toBeDefined();
    expect(logger.messages('warn')).toEqual([]);
  });

  it('stops also if writing is forbidden while the request waits to be sent', async () => {
    let isPermitted = true;
    const { result, logger, sent } = await patching({
      merge: { spec: { x: 1 }, status: { s: 't' } },
      body: kex('a', '1'),
      answers: [
        ({ mayBegin }: KubeRequest) => {
          isPermitted = false;
          return mayBegin?.() === false ? new KopfError('No.', { code: 'KOPF_REQUEST_FORBIDDEN' }) : kex('a', '2');
        },
      ],
      mayWrite: () => isPermitted,
    });
    expect(sent).toHaveLength(1);
    expect(result).toEqual({});
    expect(logger.find('writing is not permitted')).toBeDefined();
  });
});

describe('a patch of both a merge-patch and functions', () => {
  const annotations = { metadata: { annotations: { note: 'x' } } };

  it('goes in one request for the known version', async () => {
    const { sent, result } = await patching({
      merge: annotations,
      fns: [blockDeletion('fin')],
      body: kex('a', '1', { metadata: { finalizers: ['other'] } }),
      answers: [kex('a', '2', { metadata: { annotations: { note: 'x' }, finalizers: ['other', 'fin'] } })],
    });
    expect(sent).toEqual([
      [
        OBJECT,
        MERGE,
        { metadata: { uid: 'uid-a', resourceVersion: '1', annotations: { note: 'x' }, finalizers: ['other', 'fin'] } },
      ],
    ]);
    expect(result).toMatchObject({ resourceVersion: '2' });
  });

  it('goes again for the newest version if the known one is outdated', async () => {
    const { sent, result } = await patching({
      merge: annotations,
      fns: [allowDeletion('fin')],
      body: kex('a', '1', { metadata: { finalizers: ['fin'] } }),
      answers: [
        apiError({ status: 409 }),
        listOf(kex('a', '5', { metadata: { finalizers: ['new', 'fin'] } })),
        kex('a', '6', { metadata: { annotations: { note: 'x' }, finalizers: ['new'] } }),
      ],
    });
    const metadata = { uid: 'uid-a', annotations: { note: 'x' } };
    expect(sent).toEqual([
      [OBJECT, MERGE, { metadata: { ...metadata, resourceVersion: '1', finalizers: null } }],
      [BY_NAME, undefined, undefined],
      [OBJECT, MERGE, { metadata: { ...metadata, resourceVersion: '5', finalizers: ['new'] } }],
    ]);
    expect(result).toMatchObject({ resourceVersion: '6' });
  });

  it('goes in two requests, not four, with a status that has its own address', async () => {
    const { sent } = await patching({
      merge: { ...annotations, status: { s: 't' } },
      fns: [blockDeletion('fin'), setStatus],
      body: kex('a', '1'),
      answers: [
        kex('a', '2', { metadata: { annotations: { note: 'x' }, finalizers: ['fin'] } }),
        kex('a', '3', {
          metadata: { annotations: { note: 'x' }, finalizers: ['fin'] },
          status: { s: 't', viaFn: 'hello' },
        }),
      ],
    });
    expect(sent).toEqual([
      [
        OBJECT,
        MERGE,
        { metadata: { uid: 'uid-a', resourceVersion: '1', annotations: { note: 'x' }, finalizers: ['fin'] } },
      ],
      [STATUS, MERGE, { status: { s: 't', viaFn: 'hello' }, metadata: { uid: 'uid-a', resourceVersion: '2' } }],
    ]);
  });

  it('does not send the object again if only the status was in conflict', async () => {
    const applied = { metadata: { annotations: { note: 'x' }, finalizers: ['fin'] } };
    const { sent } = await patching({
      merge: { ...annotations, status: { s: 't' } },
      fns: [blockDeletion('fin'), setStatus],
      body: kex('a', '1'),
      answers: [
        kex('a', '2', applied),
        apiError({ status: 409 }),
        listOf(kex('a', '7', { ...applied, status: { by: 'others' } })),
        kex('a', '8', { ...applied, status: { by: 'others', s: 't', viaFn: 'hello' } }),
      ],
    });
    expect(sent.slice(2)).toEqual([
      [BY_NAME, undefined, undefined],
      [STATUS, MERGE, { status: { s: 't', viaFn: 'hello' }, metadata: { uid: 'uid-a', resourceVersion: '7' } }],
    ]);
  });

  it('looks again at what seemed to be there already, if the other address was in conflict', async () => {
    const { sent } = await patching({
      merge: { spec: { x: 'ours' }, status: { marks: 1 } },
      body: kex('a', '1', { spec: { x: 'ours' } }),
      answers: [
        apiError({ status: 409 }),
        listOf(kex('a', '2', { spec: { x: 'theirs' } })),
        kex('a', '3', { spec: { x: 'ours' } }),
        kex('a', '4', { spec: { x: 'ours' }, status: { marks: 1 } }),
      ],
    });
    expect(sent.slice(2).map(([path, , body]) => [path, body])).toEqual([
      [OBJECT, { spec: { x: 'ours' }, metadata: { uid: 'uid-a', resourceVersion: '2' } }],
      [STATUS, { status: { marks: 1 }, metadata: { uid: 'uid-a', resourceVersion: '3' } }],
    ]);
  });

  it('puts the address that is to be last at the end', async () => {
    const { sent } = await patching({
      merge: { ...annotations, status: { s: 't' } },
      body: kex('a', '1'),
      last: 'object',
      answers: [kex('a', '2', { status: { s: 't' } }), kex('a', '3', { ...annotations, status: { s: 't' } })],
    });
    expect(sent.map(([path]) => path)).toEqual([STATUS, OBJECT]);
  });

  it.each<[string, object, PatchFn[], AnyObject]>([
    ['a function puts a null', { spec: { x: 1 } }, [setField('spec', { y: { z: null } })], kex('a', '1')],
    [
      'a function begins anew what the merge-patch removes',
      { spec: { x: null } },
      [setField('spec', { x: { fresh: 1 } })],
      kex('a', '1', { spec: { x: { old: 1 }, y: 1 } }),
    ],
  ])('goes as one JSON-patch if a merge-patch cannot tell all: %s', async (_title, merge, fns, body) => {
    const { sent } = await patching({ merge, fns, body, answers: [{}] });
    expect(sent.map(([, contentType]) => contentType)).toEqual([JSON_PATCH]);
  });

  it('keeps what a merge-patch says literally, such as an empty mapping', async () => {
    const { sent } = await patching({
      merge: { spec: { emptyDir: {}, old: { key: null } } },
      fns: [blockDeletion('fin')],
      body: kex('a', '1', { spec: { old: { key: 1 } } }),
      answers: [kex('a', '2', { spec: { emptyDir: {}, old: {} }, metadata: { finalizers: ['fin'] } })],
    });
    expect(sent).toEqual([
      [
        OBJECT,
        MERGE,
        {
          spec: { emptyDir: {}, old: { key: null } },
          metadata: { uid: 'uid-a', resourceVersion: '1', finalizers: ['fin'] },
        },
      ],
    ]);
  });

  it('lets a function have the last word on a field', async () => {
    const { sent } = await patching({
      merge: { spec: { x: 1, deep: { a: 1 } } },
      fns: [setField('spec', { x: 2, deep: { a: 1, b: 2 } })],
      body: kex('a', '1'),
      answers: [kex('a', '2', { spec: { x: 2, deep: { a: 1, b: 2 } } })],
    });
    expect(sent[0]?.[2]).toMatchObject({ spec: { x: 2, deep: { a: 1, b: 2 } }, metadata: { resourceVersion: '1' } });
  });

  it('applies functions to the answer if they had nothing to do before it', async () => {
    const onlyIfDefaulted: PatchFn = (body) => {
      if (body.spec?.defaulted) body.spec.seen = true;
    };
    const { sent } = await patching({
      merge: { spec: { x: 1 } },
      fns: [onlyIfDefaulted],
      body: kex('a', '1'),
      answers: [kex('a', '2', { spec: { x: 1, defaulted: true } }), {}],
    });
    expect(sent[1]).toEqual([
      OBJECT,
      JSON_PATCH,
      [versionTest('2'), uidTest, { op: 'add', path: '/spec/seen', value: true }],
    ]);
  });
});

describe('a status with its own address', () => {
  const merge = { status: { s: 't' } };

  it('is written for the known version, since the uid alone is not checked there', async () => {
    const { sent } = await patching({ merge, body: kex('a', '1'), answers: [kex('a', '2', merge)] });
    expect(sent).toEqual([[STATUS, MERGE, { status: { s: 't' }, metadata: { uid: 'uid-a', resourceVersion: '1' } }]]);
  });

  it('is written after all if the object has changed, but is still the same; and no empty patch is ever sent', async () => {
    const { sent, result } = await patching({
      merge,
      body: kex('a', '1'),
      answers: [apiError({ status: 409 }), listOf(kex('a', '5')), kex('a', '6', merge)],
    });
    expect(sent.slice(1)).toEqual([
      [BY_NAME, undefined, undefined],
      [STATUS, MERGE, { status: { s: 't' }, metadata: { uid: 'uid-a', resourceVersion: '5' } }],
    ]);
    expect(result).toMatchObject({ resourceVersion: '6' });
  });

  it('is not written for ever if others change the object all the time, nor for the uid alone', async () => {
    const conflict = apiError({ status: 409 });
    const answers = Array.from({ length: 30 }, (_, index) =>
      index % 2 === 0 ? conflict : listOf(kex('a', `${index}`)),
    );
    const { sent, result } = await patching({ merge, body: kex('a', '1'), answers });
    expect(result).toEqual({ error: conflict });
    const patches = sent.filter(([path]) => path === STATUS);
    expect(patches).toHaveLength(10);
    expect(patches.every(([, , body]) => 'resourceVersion' in (body as AnyObject).metadata!)).toBe(true);
  });
});

describe('a conflict with newer changes', () => {
  it.each([409, 422])('of functions (HTTP %i) is resolved by applying them to the newest state', async (status) => {
    const { result, sent, logger } = await patching({
      fns: [setSpec],
      body: kex('a', '1'),
      answers: [
        apiError({ status }),
        listOf(kex('a', '4', { spec: { theirs: 1 } })),
        kex('a', '5', { spec: { theirs: 1, viaFn: 'hello' } }),
      ],
    });
    expect(sent.at(-1)).toEqual([
      OBJECT,
      JSON_PATCH,
      [versionTest('4'), uidTest, { op: 'add', path: '/spec/viaFn', value: 'hello' }],
    ]);
    expect(result).toMatchObject({ resourceVersion: '5' });
    expect(logger.find('Could not apply the patch in full due to conflicts with newer changes.')?.level).toBe('debug');
  });

  it('never makes what functions have made of one state be written over another one', async () => {
    const addFinalizer: PatchFn = (body) => {
      const metadata = body.metadata ?? {};
      body.metadata = { ...metadata, finalizers: [...(metadata.finalizers ?? []), 'ours'] };
    };
    const others = ['a', 'b', 'c', 'd', 'e'];
    const { sent } = await patching({
      merge: { metadata: { annotations: { mark: 'x' } } },
      fns: [addFinalizer],
      body: kex('a', '1'),
      answers: [
        ...others.flatMap((name, index) => [
          apiError({ status: 409 }),
          listOf(kex('a', `${index + 2}`, { metadata: { finalizers: [name] } })),
        ]),
        kex('a', '9', { metadata: { finalizers: ['e', 'ours'], annotations: { mark: 'x' } } }),
      ],
    });
    const written = sent.filter(([path]) => path === OBJECT).map(([, , body]) => (body as AnyObject).metadata);
    expect(written.map((metadata) => [metadata?.resourceVersion, metadata?.finalizers])).toEqual([
      ['1', ['ours']],
      ...others.map((name, index) => [`${index + 2}`, [name, 'ours']]),
    ]);
  });

  it.each([409, 422])('again and again (HTTP %i) is told from a wrong patch', async (status) => {
    const answers = Array.from({ length: 30 }, (_, index) =>
      index % 2 === 0 ? apiError({ status }) : listOf(kex('a', `${index + 2}`)),
    );
    const { sent, result } = await patching({ fns: [setSpec], body: kex('a', '1'), answers });
    expect(sent.filter(([path]) => path === OBJECT)).toHaveLength(10);
    expect(result).toEqual({ error: expect.any(OutpacedError) });
    expect(result).toMatchObject({ error: { status: 409 } });
  });

  it('is not what it is when the server says so, but nobody has changed the object', async () => {
    const conflict = apiError({ status: 409 });
    const answers = Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? conflict : listOf(kex('a', '1'))));
    const { result } = await patching({ fns: [setSpec], body: kex('a', '1'), answers });
    expect(result).toEqual({ error: conflict });
    expect(result).not.toEqual({ error: expect.any(OutpacedError) });
  });

  it('is not what a refusal of functions is, if nobody has changed the object', async () => {
    const refusal = apiError({ status: 422 });
    const { result } = await patching({
      fns: [setSpec],
      body: kex('a', '1'),
      answers: [refusal, listOf(kex('a', '1'))],
    });
    expect(result).toEqual({ error: refusal });
  });

  it('is not what a denial of an admission webhook is', async () => {
    const message = 'admission webhook "x.example.com" denied the request: not today';
    const denial = apiError({ status: 422, payload: { kind: 'Status', message } });
    const { result, sent } = await patching({ fns: [setSpec], body: kex('a', '1'), answers: [denial] });
    expect(result).toEqual({ error: denial });
    expect(sent).toHaveLength(1);
  });

  it.each([false, true])(
    'three times in a row is enough for a merge-patch; always guarded: %s',
    async (isAlwaysGuarded) => {
      const conflict = apiError({ status: 409 });
      const writes: unknown[] = [];
      const { sent } = await patching({
        merge: { spec: { x: 'ours' } },
        body: kex('a', '1', { spec: { y: 1 } }),
        isAlwaysGuarded,
        onWrite: (write) => void writes.push(write),
        answers: [
          conflict,
          listOf(kex('a', '2', { spec: { y: 2 } })),
          conflict,
          listOf(kex('a', '3', { spec: { y: 3 } })),
          conflict,
          listOf(kex('a', '4', { spec: { y: 4 } })),
          kex('a', '6', { spec: { y: 5, x: 'ours' } }),
        ],
      });
      const guards = sent.filter(([path]) => path === OBJECT).map(([, , body]) => (body as AnyObject).metadata);
      const last = isAlwaysGuarded ? { uid: 'uid-a', resourceVersion: '4' } : { uid: 'uid-a' };
      expect(guards).toEqual([...['1', '2', '3'].map((resourceVersion) => ({ uid: 'uid-a', resourceVersion })), last]);
      // What others have changed meanwhile is theirs: only our own field is different between the two.
      const after = { spec: { y: 5, x: 'ours' } };
      expect(writes).toMatchObject([{ before: isAlwaysGuarded ? { spec: { y: 4 } } : { spec: { y: 5 } }, after }]);
    },
  );

  /** Somebody changes the object before each of the first requests. */
  const outpaced = (times: number, fields: object = {}): Answer[] =>
    Array.from({ length: times }, (_, index) => [
      apiError({ status: 409 }),
      listOf(kex('a', `${index + 2}`, { spec: { count: index }, ...fields })),
    ]).flat();

  const others = { metadata: { finalizers: ['theirs'] } };
  const finalizersTest = (value: unknown) => ({ op: 'test', path: '/metadata/finalizers', value });
  const deletionTest = (value: string | null) => ({ op: 'test', path: '/metadata/deletionTimestamp', value });

  it.each([
    ['a new one', blockDeletion('ours'), {}, null, { op: 'add', path: '/metadata/finalizers', value: ['ours'] }],
    [
      'one after those of others',
      blockDeletion('ours'),
      others,
      ['theirs'],
      { op: 'add', path: '/metadata/finalizers/1', value: 'ours' },
    ],
    [
      'one that is not needed any more',
      allowDeletion('theirs'),
      others,
      ['theirs'],
      { op: 'remove', path: '/metadata/finalizers' },
    ],
  ])('does not keep finalizers from getting through: %s', async (_title, fn, fields, finalizers, op) => {
    const writes: unknown[] = [];
    const { sent } = await patching({
      fns: [fn],
      body: kex('a', '1', fields),
      onWrite: (write) => void writes.push(write),
      answers: [...outpaced(3, fields), kex('a', '9', { spec: { count: 7 }, metadata: { finalizers: ['any'] } })],
    });
    expect(sent.filter(([path]) => path === OBJECT)).toHaveLength(4);
    expect(sent.at(-1)).toEqual([OBJECT, JSON_PATCH, [uidTest, deletionTest(null), finalizersTest(finalizers), op]]);
    // Only the finalizers are ours.
    expect(writes).toMatchObject([{ before: { spec: { count: 7 } }, after: { spec: { count: 7 } } }]);
  });

  it('makes what goes with a new finalizer go before it', async () => {
    const { sent } = await patching({
      merge: { spec: { x: 1 } },
      fns: [blockDeletion('ours')],
      body: kex('a', '1'),
      answers: [...outpaced(3), kex('a', '8', { spec: { x: 1 } }), kex('a', '9', { spec: { x: 1 } })],
    });
    expect(sent.filter(([path]) => path === OBJECT).slice(3)).toEqual([
      [OBJECT, MERGE, { spec: { x: 1 }, metadata: { uid: 'uid-a' } }],
      [
        OBJECT,
        JSON_PATCH,
        [
          uidTest,
          deletionTest(null),
          finalizersTest(null),
          { op: 'add', path: '/metadata/finalizers', value: ['ours'] },
        ],
      ],
    ]);
  });

  it('never makes a finalizer be taken off before all the rest is stored', async () => {
    const { sent } = await patching({
      merge: { spec: { x: 1 } },
      fns: [allowDeletion('theirs')],
      body: kex('a', '1', others),
      answers: [...outpaced(5, others), kex('a', '9', { spec: { x: 1 } })],
    });
    const written = sent.filter(([path]) => path === OBJECT);
    expect(written).toHaveLength(6);
    for (const [, , body] of written) expect(body).toMatchObject({ metadata: { finalizers: null }, spec: { x: 1 } });
  });

  it('keeps finalizers for the known version where nothing may be written otherwise', async () => {
    const { sent } = await patching({
      isAlwaysGuarded: true,
      fns: [blockDeletion('ours')],
      body: kex('a', '1'),
      answers: [...outpaced(4), kex('a', '9')],
    });
    expect(sent.filter(([path]) => path === OBJECT).map(([, , body]) => (body as object[])[0])).toEqual(
      ['1', '2', '3', '4', '5'].map(versionTest),
    );
  });

  it('asks for the newest state where it can be had without a request, and waits between the tries', async () => {
    const pauses: number[] = [];
    const { sent } = await patching({
      merge: { spec: { x: 1 } },
      body: kex('a', '1'),
      newest: (known) => kex('a', `${Number(known.metadata?.resourceVersion) + 1}`),
      pause: async (conflicts) => void pauses.push(conflicts),
      answers: [apiError({ status: 409 }), apiError({ status: 409 }), kex('a', '4', { spec: { x: 1 } })],
    });
    expect(sent.map(([path]) => path)).toEqual([OBJECT, OBJECT, OBJECT]);
    expect(pauses).toEqual([1, 2]);
  });

  it('with all that is wanted there already sends nothing more, and tells what the object is', async () => {
    const { result, sent } = await patching({
      merge: { spec: { x: 1 } },
      body: kex('a', '1'),
      answers: [apiError({ status: 409 }), listOf(kex('a', '2', { spec: { x: 1 } }))],
    });
    expect(sent).toHaveLength(2);
    expect(result).toMatchObject({ body: { metadata: { resourceVersion: '2' } } });
    expect(result).not.toHaveProperty('resourceVersion');
  });
});

describe('HTTP 404 to a patch', () => {
  it('means that the object is gone only if it is not in the list', async () => {
    const gone = await patching({
      merge: { spec: { x: 1 } },
      body: kex('a', '1'),
      answers: [apiError({ status: 404 }), listOf()],
    });
    expect(gone.result).toEqual({ missing: true });
    expect(gone.logger.find('Patching was skipped: the object does not exist anymore.')).toBeDefined();
  });

  it('is an error like any other if the object is still there: one of the servers does not know of it yet', async () => {
    const error = apiError({ status: 404 });
    const there = await patching({
      merge: { spec: { x: 1 } },
      body: kex('a', '1'),
      answers: [error, listOf(kex('a', '1'))],
    });
    expect(there.result).toEqual({ error });
  });
});

describe('a patch of what does not exist anymore', () => {
  const merge = { spec: { x: 'y' }, status: { s: 't' } };
  const fns = [setSpec, setStatus];
  const successes = [
    kex('a', '2', { spec: { x: 'y' } }),
    kex('a', '3', { spec: { x: 'y' }, status: { s: 't' } }),
    kex('a', '4', { spec: { x: 'y', viaFn: 'hello' }, status: { s: 't' } }),
  ];

  it.each([0, 1, 2, 3])('is skipped after %s successful requests', async (count) => {
    const answers = [...successes.slice(0, count), apiError({ status: 404 })];
    const { result, sent, logger } = await patching({ compat: 'kopf', merge, fns, body: kex('a', '1'), answers });
    expect(result).toEqual({ missing: true });
    expect(sent).toHaveLength(count + 1);
    expect(logger.find('Patching was skipped: the object does not exist anymore.')).toMatchObject({ level: 'debug' });
    expect(logger.messages('warn')).toEqual([]);
  });

  const uidRefusal = apiError({
    status: 422,
    payload: {
      kind: 'Status',
      reason: 'Invalid',
      message: 'KopfExample.kopf.dev "a" is invalid: metadata.uid: Invalid value: "uid-a": field is immutable',
      details: { causes: [{ reason: 'FieldValueInvalid', field: 'metadata.uid', message: 'field is immutable' }] },
    },
  });
  const uidPrecondition = apiError({
    status: 409,
    payload: 'Precondition failed: UID in precondition: x, UID in object meta: y',
  });

  it.each([
    ['the uid is refused', { merge: { spec: { x: 1 } } }, [uidRefusal], 1],
    ['the precondition fails', { merge: { spec: { x: 1 } } }, [uidPrecondition], 1],
    ['the precondition of a status fails', { merge: { status: { x: 1 } } }, [uidPrecondition], 1],
    [
      'another object is in the list after a conflict',
      { merge: { status: { x: 1 } } },
      [apiError({ status: 409 }), listOf(kex('a', '2', { metadata: { uid: 'new' } }))],
      2,
    ],
    [
      'another object is in the answer',
      { merge: { spec: { x: 1 } } },
      [kex('a', '2', { metadata: { uid: 'new' } })],
      1,
    ],
    ['the uid is refused for all in one', { merge: { spec: { x: 1 } }, fns: [setSpec] }, [uidRefusal], 1],
  ])('is skipped if there is a new one of the same name: %s', async (_title, scenario, answers, calls) => {
    const { result, sent, logger } = await patching({ ...scenario, answers, body: kex('a', '1') });
    expect(result).toEqual({ missing: true });
    expect(sent).toHaveLength(calls);
    expect(logger.find('There is a new one of the same name.')).toMatchObject({ level: 'debug' });
  });
});

describe('other errors of patching', () => {
  const merge = { spec: { x: 'y' }, status: { s: 't' } };
  const answers = [
    kex('a', '2', { spec: { x: 'y' } }),
    kex('a', '3', { spec: { x: 'y' }, status: { s: 't' } }),
    kex('a', '4', { spec: { x: 'y', viaFn: 'hello' }, status: { s: 't' } }),
  ];
  const cases = [400, 403, 409, 500, 666].flatMap((status) => [0, 1, 2, 3].map((count) => [status, count] as const));

  it.each(cases)('HTTP %s is thrown after %s successful requests', async (status, count) => {
    const error = apiError({ status });
    const { result, sent } = await patching({
      compat: 'kopf',
      merge,
      fns: [setSpec, setStatus],
      body: kex('a', '1'),
      answers: [...answers.slice(0, count), error],
    });
    expect(result).toEqual({ error });
    expect(sent).toHaveLength(count + 1);
  });

  it.each([0, 1])('HTTP 422 of a merge-patch is thrown after %s successful requests', async (count) => {
    const error = apiError({ status: 422, payload: { kind: 'Status', message: 'spec.x is wrong' } });
    const { result } = await patching({ merge, body: kex('a', '1'), answers: [...answers.slice(0, count), error] });
    expect(result).toEqual({ error });
  });
});

describe('the answer to a merge-patch', () => {
  const warning = 'Merge-patching finished with inconsistencies:';

  it.each<[string, object, AnyObject]>([
    ['as asked', { spec: { x: 1 } }, { spec: { x: 1 } }],
    ['with more than asked', { spec: { x: 1 } }, { spec: { x: 1, y: 2 }, status: {} }],
    ['with the field removed', { spec: { x: null } }, { spec: {} }],
    [
      'with what JSON has no word for',
      { status: { x: [1, undefined, { y: undefined }] } },
      { status: { x: [1, null, {}] } },
    ],
    ['with a date as a text', { spec: { x: new Date(0) } }, { spec: { x: '1970-01-01T00:00:00.000Z' } }],
    ['with what is no number as nothing', { spec: { x: [Number.NaN] } }, { spec: { x: [null] } }],
    ['with empty labels dropped', { metadata: { labels: {} } }, {}],
    ['with empty annotations dropped', { metadata: { annotations: {} } }, {}],
    ['with empty finalizers dropped', { metadata: { finalizers: [] } }, {}],
  ])('%s is fine', async (_title, merge, extra) => {
    const { logger } = await patching({ compat: 'kopf', resource: KEX, merge, answers: [kex('a', '2', extra)] });
    expect(logger.messages('warn')).toEqual([]);
  });

  it.each<[string, object, AnyObject, string]>([
    ['with a field lost', { status: { x: 1 } }, { status: {} }, '[["remove","status.x",1,null]]'],
    ['with a field changed', { spec: { x: 1 } }, { spec: { x: 2 } }, '[["change","spec.x",1,2]]'],
    ['with a list changed', { spec: { x: [undefined] } }, { spec: { x: [1] } }, '[["change","spec.x",[null],[1]]]'],
    ['with a field not removed', { spec: { x: null } }, { spec: { x: 2 } }, '[["add","spec.x",null,2]]'],
    ['with labels lost', { metadata: { labels: { a: 'b' } } }, {}, '[["remove","metadata.labels",{"a":"b"},null]]'],
    ['with another mapping lost', { metadata: { other: {} } }, {}, '[["remove","metadata.other",{},null]]'],
  ])('%s is warned of', async (_title, merge, extra, text) => {
    const { logger } = await patching({ compat: 'kopf', resource: KEX, merge, answers: [kex('a', '2', extra)] });
    expect(logger.messages('warn')).toEqual([`${warning} ${text}`]);
  });

  it('is not checked for what the functions do', async () => {
    const { logger } = await patching({ fns: [setSpec], body: kex('a', '1'), answers: [kex('a', '2')] });
    expect(logger.messages('warn')).toEqual([]);
  });
});

describe('the version to expect after a patch', () => {
  it.each([
    ['of an ordinary object', {}, '2'],
    ['of one being deleted and blocked', { deletionTimestamp: '…', finalizers: ['fin'] }, '2'],
    ['of one being deleted, with no finalizers', { deletionTimestamp: '…' }, '2~which~never~arrives'],
    [
      'of one being deleted, with empty finalizers',
      { deletionTimestamp: '…', finalizers: [] },
      '2~which~never~arrives',
    ],
  ])('%s', async (_title, metadata, expected) => {
    const { result } = await patching({
      merge: { spec: { x: 1 } },
      answers: [kex('a', '2', { metadata, spec: { x: 1 } })],
    });
    expect(result).toMatchObject({ resourceVersion: expected, body: { metadata: { resourceVersion: '2' } } });
  });
});

describe('values of Secrets', () => {
  it('are not logged', async () => {
    const body = { metadata: { name: 'a', namespace: 'ns', uid: 'u', resourceVersion: '1' }, data: { old: 'hidden1' } };
    const { logger, sent } = await patching({
      compat: 'kopf',
      resource: SECRETS,
      merge: { data: { password: 'hidden2', old: null }, metadata: { labels: { shown: 'yes' } } },
      fns: [setField('stringData', { x: 'hidden3' })],
      body,
      answers: [{ ...body, data: { password: 'hidden4' } }, body],
    });
    expect(JSON.stringify(sent)).toMatch(/hidden2.*hidden3/);
    const text = logger.messages().join('\n');
    expect(text).not.toContain('hidden');
    expect(text).toContain('{"data":{"password":"***","old":null},"metadata":{"labels":{"shown":"yes"}}}');
    expect(text).toContain('"value":{"x":"***"}');
    expect(logger.messages('warn')).toEqual([expect.stringContaining('"data.password","***"')]);
  });

  it('are not logged from annotations either, where their copies are kept', async () => {
    const annotations = { 'kopf.zalando.org/last-handled-configuration': '{"data":{"password":"hidden1"}}' };
    const body = { metadata: { name: 'a', namespace: 'ns', uid: 'u', resourceVersion: '1' } };
    const { logger, sent } = await patching({
      compat: 'kopf',
      resource: SECRETS,
      merge: { metadata: { annotations } },
      fns: [setField('metadata', { ...body.metadata, annotations: { 'example.com/copy': 'hidden2' } })],
      body,
      answers: [body, body],
    });
    expect(JSON.stringify(sent)).toMatch(/hidden1.*hidden2/);
    expect(logger.messages().join('\n')).not.toContain('hidden');
    expect(logger.messages('debug')).toEqual([
      expect.stringContaining('"kopf.zalando.org/last-handled-configuration":"***"'),
      expect.stringContaining('"path":"/metadata/annotations","value":{"example.com/copy":"***"}'),
    ]);
  });
});

describe('a patch that must never be for the uid alone', () => {
  const body = kex('a', '5', { spec: { x: 1 } });

  it('carries the known version in all its requests', async () => {
    const { sent } = await patching({
      isAlwaysGuarded: true,
      body,
      merge: { spec: { x: 2 }, status: { done: true } },
      answers: [kex('a', '6', { spec: { x: 2 } }), kex('a', '7', { spec: { x: 2 }, status: { done: true } })],
    });
    expect(sent).toEqual([
      [OBJECT, MERGE, { metadata: { uid: 'uid-a', resourceVersion: '5' }, spec: { x: 2 } }],
      [STATUS, MERGE, { metadata: { uid: 'uid-a', resourceVersion: '6' }, status: { done: true } }],
    ]);
  });

  it('carries it in the way of Kopf, too, where no uid is sent', async () => {
    const { sent } = await patching({
      isAlwaysGuarded: true,
      compat: 'kopf',
      body,
      merge: { spec: { x: 2 } },
      answers: [kex('a', '6')],
    });
    expect(sent).toEqual([[OBJECT, MERGE, { metadata: { resourceVersion: '5' }, spec: { x: 2 } }]]);
  });
});
