/** Messages and statuses are those of kube-apiserver 1.36.4 for the same answers of a webhook. */
import { manualClock } from '@kopf-ts/testing';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AdmissionAttributes } from '../../src/contracts/admission.js';
import { StatusError } from '../../src/http/status-errors.js';
import { Cluster, certify, configurations, HookServer, jsonPatchOf, namespaces, thing, things } from './support.js';

let certified: Awaited<ReturnType<typeof certify>>;
let hooks: HookServer;
let cluster: Cluster;

beforeAll(async () => {
  certified = certify();
});
beforeEach(async () => {
  hooks = await HookServer.start(certified.authority, certified.certificate);
  cluster = new Cluster(hooks);
});
afterEach(async () => {
  cluster.plugin.close();
  await hooks.stop();
});

async function refusal(action: Promise<unknown>): Promise<StatusError['status']> {
  const error = await action.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StatusError);
  return (error as StatusError).status;
}
const failure = async (action: Promise<unknown>): Promise<string | undefined> => {
  const status = await refusal(action);
  expect([status.code, status.reason]).toEqual([500, 'InternalError']);
  expect(status.details?.causes?.[0]?.message).toBe(status.message?.replace('Internal error occurred: ', ''));
  return status.message;
};
const paths = (): string[] => hooks.asked.map(({ url }) => url.replace(/\?.*/, ''));

describe('which requests are sent', () => {
  it.each<[string, object, Partial<AdmissionAttributes>, boolean]>([
    ['by default', {}, {}, true],
    ['another operation', {}, { operation: 'DELETE', object: undefined, oldObject: thing() }, false],
    ['any operation', { operations: ['*'] }, { operation: 'DELETE', object: undefined, oldObject: thing() }, true],
    ['another group', { apiGroups: ['other.com'] }, {}, false],
    ['any group and version', { apiGroups: ['*'], apiVersions: ['*'] }, {}, true],
    ['another resource', { resources: ['pods'] }, {}, false],
    ['any resource', { resources: ['*'] }, {}, true],
    ['a subresource, not asked for', {}, { subresource: 'status' }, false],
    ['a subresource', { resources: ['things/status'] }, { subresource: 'status' }, true],
    ['the object, if only the subresource is asked for', { resources: ['things/status'] }, {}, false],
    ['any subresource', { resources: ['things/*'] }, { subresource: 'status' }, true],
    ['a subresource of anything', { resources: ['*/status'] }, { subresource: 'status' }, true],
    ['a subresource, if any resource is asked for', { resources: ['*'] }, { subresource: 'status' }, false],
    ['everything of everything', { resources: ['*/*'] }, { subresource: 'scale' }, true],
    ['in the scope of namespaces', { scope: 'Namespaced' }, {}, true],
    ['in the scope of the cluster', { scope: 'Cluster' }, {}, false],
  ])('%s', (_title, rule, attributes, isSent) => {
    const rules = [
      { apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['things'], operations: ['CREATE'], ...rule },
    ];
    cluster.add('Validating', 'hook', { rules });
    expect(cluster.plugin.isInterested(cluster.attributes(attributes))).toBe(isSent);
  });

  it.each<[string, Record<string, unknown>, boolean]>([
    ['labels of the namespace', { namespaceSelector: { matchLabels: { team: 'a' } } }, true],
    ['other labels of the namespace', { namespaceSelector: { matchLabels: { team: 'b' } } }, false],
    [
      'an expression',
      { namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'In', values: ['a', 'b'] }] } },
      true,
    ],
    [
      'a negative expression',
      { namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] } },
      false,
    ],
    ['labels of the object', { objectSelector: { matchLabels: { tier: 'x' } } }, true],
    ['labels of the old object', { objectSelector: { matchLabels: { tier: 'old' } } }, true],
    ['labels of neither', { objectSelector: { matchLabels: { tier: 'y' } } }, false],
    [
      'an expression about absent labels',
      { objectSelector: { matchExpressions: [{ key: 'z', operator: 'NotIn', values: ['1'] }] } },
      true,
    ],
  ])('selected by %s', (_title, selector, isSent) => {
    cluster.add('Mutating', 'hook', selector);
    const object = thing({ metadata: { name: 'x', namespace: 'ns', labels: { tier: 'x' } } });
    const oldObject = thing({ metadata: { name: 'x', namespace: 'ns', labels: { tier: 'old' } } });
    expect(cluster.plugin.isInterested(cluster.attributes({ operation: 'UPDATE', object, oldObject }))).toBe(isSent);
  });

  it('of namespaces themselves: by the labels that they are about to have', () => {
    const rules = [
      { apiGroups: [''], apiVersions: ['v1'], resources: ['namespaces'], operations: ['*'], scope: 'Cluster' },
    ];
    cluster.add('Validating', 'hook', { rules, namespaceSelector: { matchLabels: { team: 'b' } } });
    const object = (team: string) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'ns', labels: { team } },
    });
    const changed = {
      resource: namespaces,
      namespace: '',
      name: 'ns',
      operation: 'UPDATE',
      object: object('b'),
    } as const;
    expect(cluster.plugin.isInterested(cluster.attributes(changed))).toBe(true);
    expect(cluster.plugin.isInterested(cluster.attributes({ ...changed, object: object('a') }))).toBe(false);
  });

  it('never the configurations of webhooks', async () => {
    const rules = [{ apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], operations: ['*'] }];
    cluster.add('Mutating', 'hook', { rules });
    const attributes = cluster.attributes({ resource: configurations, namespace: '' });
    expect(cluster.plugin.isInterested(attributes)).toBe(false);
    expect(await cluster.plugin.mutate(attributes)).toBe(attributes.object);
    expect(hooks.asked).toEqual([]);
  });

  it('configurations are noticed as they come', () => {
    expect(cluster.plugin.isInterested(cluster.attributes())).toBe(false);
    cluster.add('Validating', 'hook');
    expect(cluster.plugin.isInterested(cluster.attributes())).toBe(true);
  });
});

describe('what is sent', () => {
  it('is a review with everything about the request', async () => {
    cluster.add('Validating', 'hook');
    await cluster.plugin.validate(
      cluster.attributes({ operation: 'UPDATE', oldObject: thing({ spec: 1 }), dryRun: true }),
    );
    const { url, request, apiVersion } = hooks.asked[0] ?? { url: '', request: {}, apiVersion: '' };
    expect([url, apiVersion]).toEqual(['/hook?timeout=5s', 'admission.k8s.io/v1']);
    const { uid, ...rest } = request;
    expect(uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(rest).toEqual({
      kind: { group: 'example.com', version: 'v1', kind: 'Thing' },
      resource: { group: 'example.com', version: 'v1', resource: 'things' },
      requestKind: { group: 'example.com', version: 'v1', kind: 'Thing' },
      requestResource: { group: 'example.com', version: 'v1', resource: 'things' },
      name: 'x',
      namespace: 'ns',
      operation: 'UPDATE',
      userInfo: { username: 'me', groups: ['system:authenticated'] },
      object: thing(),
      oldObject: thing({ spec: 1 }),
      dryRun: true,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    });
  });

  it('is in the version that the rules name, if the policy says so', async () => {
    cluster.add('Mutating', 'hook');
    hooks.answers.set('/hook', jsonPatchOf({ op: 'add', path: '/spec', value: 5 }));
    const object = { ...thing(), apiVersion: 'example.com/v2' };
    const mutated = await cluster.plugin.mutate(cluster.attributes({ resource: things[1], object }));
    expect(hooks.asked[0]?.request).toMatchObject({
      kind: { version: 'v1' },
      requestKind: { version: 'v2' },
      object: { apiVersion: 'example.com/v1' },
    });
    expect(mutated).toEqual({ ...object, spec: 5 });
  });

  it('is nothing for other versions, if the policy is to be exact', () => {
    cluster.add('Mutating', 'hook', { matchPolicy: 'Exact' });
    expect(cluster.plugin.isInterested(cluster.attributes({ resource: things[1] }))).toBe(false);
  });

  it('is a review of an older version for older webhooks', async () => {
    cluster.add('Validating', 'hook', { admissionReviewVersions: ['v7', 'v1beta1'] });
    await cluster.plugin.validate(cluster.attributes());
    expect(hooks.asked[0]?.apiVersion).toBe('admission.k8s.io/v1beta1');
  });
});

describe('answers', () => {
  it('warnings reach the client, also those of refusals', async () => {
    cluster.add('Validating', 'hook');
    hooks.answers.set('/hook', { allowed: false, warnings: ['careful', 'twice'] });
    await refusal(cluster.plugin.validate(cluster.attributes()));
    expect(cluster.warnings).toEqual(['careful', 'twice']);
  });

  it.each<[string, object, object]>([
    [
      'nothing else',
      {},
      { message: 'admission webhook "hook.example.com" denied the request without explanation', code: 400 },
    ],
    [
      'a status',
      { status: { code: 418, message: 'tea', reason: 'Teapot' } },
      { message: 'admission webhook "hook.example.com" denied the request: tea', reason: 'Teapot', code: 418 },
    ],
    [
      'a reason only',
      { status: { reason: 'Forbidden' } },
      { message: 'admission webhook "hook.example.com" denied the request: Forbidden', reason: 'Forbidden', code: 400 },
    ],
    [
      'a code of success',
      { status: { code: 200, message: 'no' } },
      { message: 'admission webhook "hook.example.com" denied the request: no', code: 400 },
    ],
  ])('a refusal with %s', async (_title, response, expected) => {
    cluster.add('Validating', 'hook', { failurePolicy: 'Ignore' });
    hooks.answers.set('/hook', { allowed: false, ...response });
    expect(await refusal(cluster.plugin.validate(cluster.attributes()))).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      ...expected,
    });
  });

  const calling = 'Internal error occurred: failed calling webhook "hook.example.com":';
  it.each<[string, number, string, string, string]>([
    [
      'an error',
      500,
      'text/plain',
      'oops',
      'failed to call webhook: an error on the server ("oops") has prevented the request from succeeding',
    ],
    [
      'a wrong path',
      404,
      'text/plain',
      'nope',
      'failed to call webhook: the server could not find the requested resource',
    ],
    ['a status', 500, 'application/json', '{"kind":"Status","message":"my own"}', 'failed to call webhook: my own'],
    [
      'nothing',
      200,
      'application/json',
      '',
      'failed to call webhook: 0-length response with status code: 200 and content type: application/json',
    ],
    [
      'garbage',
      200,
      'application/json',
      'nojson',
      'failed to call webhook: couldn\'t get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
    ],
    [
      'no response',
      200,
      'application/json',
      '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}',
      'received invalid webhook response: webhook response was absent',
    ],
    [
      'another version',
      200,
      'application/json',
      '{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","response":{"allowed":true}}',
      'failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion',
    ],
  ])('%s is a failure', async (_title, status, type, body, expected) => {
    cluster.add('Validating', 'hook');
    hooks.answers.set('/hook', (_review, outgoing) => {
      outgoing.writeHead(status, { 'content-type': type }).end(body);
      return undefined;
    });
    expect(await failure(cluster.plugin.validate(cluster.attributes()))).toBe(`${calling} ${expected}`);
  });

  it.each<[string, 'Mutating' | 'Validating', object, string]>([
    ['of another request', 'Validating', { uid: 'zz', allowed: true }, 'got "zz"'],
    [
      'with a patch to validate',
      'Validating',
      jsonPatchOf({ op: 'add', path: '/a', value: 1 }),
      'validating webhook may not return response.patch',
    ],
    [
      'with a patch without a type',
      'Mutating',
      { allowed: true, patch: 'W10=' },
      'webhook returned response.patch but not response.patchType',
    ],
    [
      'with a type without a patch',
      'Mutating',
      { allowed: true, patchType: 'JSONPatch' },
      'webhook returned response.patchType but not response.patch',
    ],
  ])('an answer %s is a failure', async (_title, kind, response, expected) => {
    cluster.add(kind, 'hook');
    hooks.answers.set('/hook', response as never);
    const action =
      kind === 'Mutating' ? cluster.plugin.mutate(cluster.attributes()) : cluster.plugin.validate(cluster.attributes());
    const message = await failure(action);
    expect(message).toContain(`${calling} received invalid webhook response: `);
    expect(message).toContain(expected);
  });
});

describe('failures', () => {
  it('of the connection are told as the real server tells them', async () => {
    cluster.add('Validating', 'hook', { clientConfig: { url: 'https://127.0.0.1:1/hook' } });
    expect(await failure(cluster.plugin.validate(cluster.attributes()))).toBe(
      'Internal error occurred: failed calling webhook "hook.example.com": failed to call webhook: Post "https://127.0.0.1:1/hook?timeout=5s": dial tcp 127.0.0.1:1: connect: connection refused',
    );
  });

  it('of trust are told as the real server tells them', async () => {
    cluster.add('Validating', 'hook', { clientConfig: { url: `https://127.0.0.1:${hooks.port}/hook` } });
    expect(await failure(cluster.plugin.validate(cluster.attributes()))).toContain(
      '/hook?timeout=5s": tls: failed to verify certificate: x509: certificate signed by unknown authority',
    );
    expect(hooks.asked).toEqual([]);
  });

  it('by a broken connection are told as the real server tells them', async () => {
    cluster.add('Validating', 'hook');
    hooks.answers.set('/hook', (_review, _outgoing, incoming) => {
      incoming.socket.destroy();
      return undefined;
    });
    expect(await failure(cluster.plugin.validate(cluster.attributes()))).toMatch(/\/hook\?timeout=5s": EOF$/);
  });

  it('by timeouts happen when the time has passed, not earlier', async () => {
    const clock = manualClock();
    const timed = new Cluster(hooks, { clock });
    timed.add('Validating', 'hook');
    const arrived = new Promise<void>((resolve) => {
      hooks.answers.set('/hook', () => {
        resolve();
        return undefined;
      });
    });
    let isOver = false;
    const message = failure(timed.plugin.validate(timed.attributes())).finally(() => {
      isOver = true;
    });
    await arrived;
    await clock.advance(4.9);
    expect(isOver).toBe(false);
    await clock.advance(0.2);
    expect(await message).toMatch(/\/hook\?timeout=5s": context deadline exceeded$/);
    timed.plugin.close();
  });

  it('do not come from changes of other configurations meanwhile', async () => {
    cluster.add('Validating', 'hook');
    hooks.answers.set('/hook', () => {
      cluster.add('Validating', 'other');
      return { allowed: true };
    });
    await expect(cluster.plugin.validate(cluster.attributes())).resolves.toBeUndefined();
    expect(paths()).toEqual(['/hook']);
  });

  it('are ignored if the policy says so', async () => {
    cluster.add('Validating', 'hook', { clientConfig: { url: 'https://127.0.0.1:1/hook' }, failurePolicy: 'Ignore' });
    cluster.add('Mutating', 'hook', { clientConfig: { url: 'https://127.0.0.1:1/hook' }, failurePolicy: 'Ignore' });
    await expect(cluster.plugin.validate(cluster.attributes())).resolves.toBeUndefined();
    expect(await cluster.plugin.mutate(cluster.attributes())).toEqual(thing());
  });

  it('side effects are refused in dry runs, whatever the policy', async () => {
    cluster.add('Validating', 'hook', { sideEffects: 'Some', failurePolicy: 'Ignore' });
    const status = await refusal(cluster.plugin.validate(cluster.attributes({ dryRun: true })));
    expect([status.code, status.message]).toEqual([
      400,
      'admission webhook "hook.example.com" does not support dry run',
    ]);
    await expect(cluster.plugin.validate(cluster.attributes())).resolves.toBeUndefined();
  });
});

describe('services', () => {
  it('are reached where the cluster says, by their names in certificates', async () => {
    const resolved = new Cluster(hooks, {
      resolveService: ({ name, port }) => (name === 'hooks' && port === 444 ? `127.0.0.1:${hooks.port}` : undefined),
    });
    const caBundle = Buffer.from(hooks.ca).toString('base64');
    resolved.add('Validating', 'known', {
      clientConfig: { service: { namespace: 'ns', name: 'hooks', path: '/p', port: 444 }, caBundle },
    });
    await resolved.plugin.validate(resolved.attributes());
    expect(paths()).toEqual(['/p']);
    resolved.add('Validating', 'unknown', { clientConfig: { service: { namespace: 'ns', name: 'other' }, caBundle } });
    expect(await failure(resolved.plugin.validate(resolved.attributes()))).toBe(
      'Internal error occurred: failed calling webhook "unknown.example.com": failed to call webhook: Post "https://other.ns.svc:443/?timeout=5s": service "other" not found',
    );
    resolved.plugin.close();
  });
});

describe('mutations', () => {
  it('are made one after another, by the names of the configurations', async () => {
    cluster.add('Mutating', 'b');
    cluster.add('Mutating', 'a');
    hooks.answers.set('/a', jsonPatchOf({ op: 'add', path: '/spec', value: { a: 1 } }));
    hooks.answers.set(
      '/b',
      jsonPatchOf({ op: 'replace', path: '/spec/a', value: 2 }, { op: 'add', path: '/spec/b', value: 3 }),
    );
    const given = thing();
    expect(await cluster.plugin.mutate(cluster.attributes({ object: given }))).toEqual(thing({ spec: { a: 2, b: 3 } }));
    expect(paths()).toEqual(['/a', '/b']);
    expect(hooks.asked[1]?.request['object']).toEqual(thing({ spec: { a: 1 } }));
    expect(given).toEqual(thing());
  });

  it('are repeated for those who want to know of later changes, once', async () => {
    cluster.add('Mutating', 'a', { reinvocationPolicy: 'IfNeeded' });
    cluster.add('Mutating', 'b', { reinvocationPolicy: 'Never' });
    cluster.add('Mutating', 'c');
    hooks.answers.set('/b', jsonPatchOf({ op: 'add', path: '/spec', value: 1 }));
    expect(await cluster.plugin.mutate(cluster.attributes())).toEqual(thing({ spec: 1 }));
    expect(paths()).toEqual(['/a', '/b', '/c', '/a']);
  });

  it('are not repeated if nothing has changed', async () => {
    cluster.add('Mutating', 'a', { reinvocationPolicy: 'IfNeeded' });
    cluster.add('Mutating', 'b');
    await cluster.plugin.mutate(cluster.attributes());
    expect(paths()).toEqual(['/a', '/b']);
  });

  it.each<[string, object[], string]>([
    [
      'removes what is not there',
      [{ op: 'remove', path: '/nope' }],
      "error in remove for path: '/nope': Unable to remove nonexistent key: nope: missing value",
    ],
    [
      'tests in vain',
      [{ op: 'test', path: '/metadata/name', value: 'zz' }],
      'testing value /metadata/name failed: test failed',
    ],
    ['does the unknown', [{ op: 'zap', path: '/x' }], 'Unexpected kind: zap'],
  ])('fail if the patch %s', async (_title, operations, expected) => {
    cluster.add('Mutating', 'hook', { failurePolicy: 'Ignore' });
    hooks.answers.set('/hook', jsonPatchOf(...operations));
    expect(await failure(cluster.plugin.mutate(cluster.attributes()))).toBe(`Internal error occurred: ${expected}`);
  });

  it.each<[string, object, string]>([
    [
      'of an unknown type',
      { patchType: 'Merge', patch: 'W3sib3AiOiJhZGQiLCJwYXRoIjoiL2EiLCJ2YWx1ZSI6MX1d' },
      'unsupported patch type "Merge"',
    ],
    [
      'of garbage',
      { patchType: 'JSONPatch', patch: 'eHg=' },
      "received undecodable patch in webhook response: invalid character 'x' looking for beginning of value",
    ],
  ])('fail if the patch is %s', async (_title, response, expected) => {
    cluster.add('Mutating', 'hook');
    hooks.answers.set('/hook', { allowed: true, ...response });
    expect(await failure(cluster.plugin.mutate(cluster.attributes()))).toBe(
      `Internal error occurred: failed calling webhook "hook.example.com": ${expected}`,
    );
  });

  it('never reach prototypes', async () => {
    cluster.add('Mutating', 'hook');
    hooks.answers.set('/hook', jsonPatchOf({ op: 'add', path: '/__proto__/polluted', value: 1 }));
    await failure(cluster.plugin.mutate(cluster.attributes()));
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

it('validating webhooks are asked at the same time, and the first refusal by order counts', async () => {
  cluster.add('Validating', 'a');
  cluster.add('Validating', 'b');
  // Each of them answers only when both have been asked.
  const outgoings: (() => void)[] = [];
  for (const name of ['a', 'b']) {
    hooks.answers.set(`/${name}`, ({ request, apiVersion }, outgoing) => {
      const status = { message: name };
      outgoings.push(() => {
        const response = { uid: request['uid'], allowed: false, status };
        outgoing.end(JSON.stringify({ apiVersion, kind: 'AdmissionReview', response }));
      });
      if (outgoings.length === 2) for (const end of outgoings.reverse()) end();
      return undefined;
    });
  }
  const status = await refusal(cluster.plugin.validate(cluster.attributes()));
  expect(status.message).toBe('admission webhook "a.example.com" denied the request: a');
});
