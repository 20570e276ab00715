import { type LocalCluster, localCluster } from '@kopf-ts/apiserver';
import { handlersApi } from '@kopf-ts/core/engine';
import { manualClock } from '@kopf-ts/testing';
import {
  type AnyObject,
  type Api,
  ApiConflictError,
  type ApiError,
  ApiNotFoundError,
  ApplyConflictError,
  api as apiOver,
  type KubeClient,
  resource,
} from 'kopf-ts';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';

const Example = resource<{ size?: number; tags?: string[] }, { phase?: string }>({
  group: 'kopf.dev',
  version: 'v1',
  plural: 'kopfexamples',
});

let cluster: LocalCluster;
let api: Api;

beforeEach(async () => {
  cluster = await localCluster();
  onTestFinished(() => cluster.stop());
  await cluster.define({ group: 'kopf.dev', plural: 'kopfexamples', kind: 'KopfExample', subresources: ['status'] });
  api = apiOver(cluster.client, { namespace: 'default', fieldManager: 'tester' });
});

const errorOf = async (promise: Promise<unknown>): Promise<ApiError> => {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Error)) throw new Error('It has not failed.');
  return error as ApiError;
};

describe('what others do meanwhile', () => {
  it('does not keep an object from being replaced, even if they change it dozens of times', async () => {
    await api(Example).create({ metadata: { name: 'one' }, spec: { size: 0 } });
    let calls = 0;
    const busy: KubeClient = {
      ...cluster.client,
      stream: (request) => cluster.client.stream(request),
      request: async <T>(request: Parameters<KubeClient['request']>[0]) => {
        if (request.method === 'PUT' && ++calls <= 40) {
          await api(Example).patch('one', { metadata: { labels: { busy: `${calls}` } } });
        }
        return await cluster.client.request<T>(request);
      },
    };
    const replaced = await apiOver(busy, { namespace: 'default' })(Example).replace('one', (object) => ({
      ...object,
      spec: { size: 5 },
    }));
    expect([calls, replaced.spec.size, replaced.metadata?.labels]).toEqual([41, 5, { busy: '40' }]);
  });

  it('is told, if it is the CRD that is gone; and a new one is noticed', async () => {
    await api(Example).create({ metadata: { name: 'one' } });
    await api('customresourcedefinitions').delete('kopfexamples.kopf.dev');
    await cluster.settled();
    for (const verb of [api(Example).get('one'), api(Example).find('one'), api(Example).patch('one', { spec: {} })]) {
      const error = await errorOf(verb);
      expect(error.message).toMatch(
        /The cluster does not serve that, or does no more: is its CRD gone\?|The cluster has no kind/,
      );
    }
    await cluster.define({ group: 'kopf.dev', plural: 'kopfexamples', kind: 'KopfExample' });
    expect(await api(Example).find('one')).toBeUndefined();
  });
});

describe('kinds', () => {
  const kinds: [string, unknown][] = [
    ['a token', Example],
    ['a plural name', 'kopfexamples'],
    ['a kind', 'KopfExample'],
    ['a full name', 'kopf.dev/v1/kopfexamples'],
    ["an object's own words", { apiVersion: 'kopf.dev/v1', kind: 'KopfExample' }],
  ];
  it.each(kinds)('are told by %s', async (_, kind) => {
    const created = await api(kind as string).create({ metadata: { name: 'one' }, spec: { size: 1 } });
    expect(created).toMatchObject({
      apiVersion: 'kopf.dev/v1',
      kind: 'KopfExample',
      metadata: { namespace: 'default' },
    });
  });

  it('that are misspelt are told with those that are similar', async () => {
    await expect(api('kopfexample5').get('one')).rejects.toThrow(
      "The cluster has no kind 'kopfexample5'. Did you mean 'kopfexamples.v1.kopf.dev'?",
    );
    await expect(api('nonsense').get('one')).rejects.toThrow('create its CRD first');
  });

  it('that are not where their tokens say are refused', async () => {
    const Wrong = resource({ group: 'kopf.dev', version: 'v1', plural: 'kopfexamples', namespaced: false });
    await expect(api(Wrong).get('one')).rejects.toThrow(
      'The token of kopfexamples.v1.kopf.dev says that these objects are of the whole cluster, but in this cluster they ' +
        'are in namespaces: write `namespaced: true` in it',
    );
  });

  it('that are defined later are found', async () => {
    await expect(api('latecomers').list()).rejects.toThrow("no kind 'latecomers'");
    await cluster.define({ group: 'kopf.dev', plural: 'latecomers', kind: 'Latecomer' });
    expect(await api('latecomers').list()).toEqual([]);
  });

  it('without namespaces take none', async () => {
    expect((await api('namespaces').get('default')).metadata).toMatchObject({ name: 'default' });
    await expect(api('namespaces').get('default', { namespace: 'default' })).rejects.toThrow('leave it out');
  });
});

describe('reading', () => {
  beforeEach(async () => {
    for (const [index, tier] of ['front', 'back', 'test'].entries()) {
      await api(Example).create({ metadata: { name: `one-${index}`, labels: { tier } }, spec: { size: index } });
    }
  });

  it('gets an object, typed', async () => {
    const one = await api(Example).get('one-1');
    const size: number | undefined = one.spec.size;
    expect(size).toBe(1);
  });

  it('says what was asked for when there is none; find() has nothing to say', async () => {
    const error = await errorOf(api(Example).get('none'));
    expect(error).toBeInstanceOf(ApiNotFoundError);
    expect(error.message).toBe('get kopfexamples.v1.kopf.dev default/none: kopfexamples.kopf.dev "none" not found');
    expect(await api(Example).find('none')).toBeUndefined();
  });

  it.each([
    [{ labels: { tier: 'front' } }, ['one-0']],
    [{ labels: { tier: ['front', 'back'] } }, ['one-0', 'one-1']],
    [{ labels: { tier: { not: 'test' } } }, ['one-0', 'one-1']],
    [{ labels: { tier: { not: ['test', 'back'] } } }, ['one-0']],
    [{ labels: { tier: true, canary: false } }, ['one-0', 'one-1', 'one-2']],
    [{ labels: 'tier in (test)' }, ['one-2']],
    [{ fields: { 'metadata.name': 'one-2' } }, ['one-2']],
    [{ fields: { 'metadata.name': { not: 'one-2' } } }, ['one-0', 'one-1']],
    [{ pageSize: 1 }, ['one-0', 'one-1', 'one-2']],
    [{ namespace: 'kube-system' }, []],
    [{ allNamespaces: true }, ['one-0', 'one-1', 'one-2']],
  ] as const)('lists what is selected: %j', async (options, names) => {
    const listed = (await api(Example).list(options)).map(({ metadata }) => metadata?.name);
    expect(listed).toEqual(names);
    const iterated: unknown[] = [];
    for await (const { metadata } of api(Example).each(options)) iterated.push(metadata?.name);
    expect(iterated).toEqual(names);
  });

  it.each([
    [{ labels: { 'not a key': 'x' } }, "'not a key' cannot be the key of a label"],
    [{ labels: { tier: 'no spaces' } }, "'no spaces' cannot be a value of the label 'tier'"],
    [{ labels: { tier: [] } }, 'at least one value'],
    [{ labels: { tier: { in: ['a'] } } as never }, "An object with in cannot be a value of the label 'tier'"],
    [{ labels: { tier: { not: undefined } } as never }, "undefined cannot be a value of the label 'tier'"],
    [
      { labels: { tier: { not: 'a', in: 'b' } } as never },
      "An object with not, in cannot be a value of the label 'tier'",
    ],
    [{ labels: { tier: undefined } as never }, "undefined cannot be a value of the label 'tier'"],
    [{ labels: { tier: null } as never }, "null cannot be a value of the label 'tier'"],
    [{ labels: { tier: Number.NaN } }, "NaN cannot be a value of the label 'tier'"],
    [{ labels: { tier: ['a', undefined] } as never }, "undefined cannot be a value of the label 'tier'"],
    [{ fields: { 'metadata.name': undefined } as never }, 'cannot be selected so'],
    [{ fields: { 'metadata.name': { not: 'a', in: 'b' } } as never }, 'cannot be selected so'],
    [{ fields: { 'metadata.name': true } }, 'cannot be selected so'],
  ])('refuses selections that cannot be right: %j', async (options, message) => {
    await expect(api(Example).list(options)).rejects.toThrow(message);
    // What is misunderstood there is gone.
    await expect(api(Example).deleteCollection(options)).rejects.toThrow(message);
    expect(await api(Example).list()).toHaveLength(3);
  });

  it('wants to know of which namespace', async () => {
    const nowhere = apiOver(cluster.client);
    await expect(nowhere(Example).list()).rejects.toThrow('{ allNamespaces: true }');
    await expect(nowhere(Example).get('one-0')).rejects.toThrow("pass { namespace: '…' }");
    expect((await nowhere(Example).get('one-0', { namespace: 'default' })).spec.size).toBe(0);
  });

  it.each(['', 'a/b'])('refuses what cannot be a name: %j', async (name) => {
    await expect(api(Example).get(name)).rejects.toThrow('cannot be the name');
    await expect(api(Example).delete(name)).rejects.toThrow('cannot be the name');
    expect(await api(Example).list()).toHaveLength(3);
  });
});

describe('what cannot be right', () => {
  const mistakes: readonly (readonly [string, (api: Api) => Promise<unknown>, string])[] = [
    ['a name that is a path', (verbs) => verbs(Example).get('..'), "'..' cannot be the name of an object"],
    ['a name with a percent sign', (verbs) => verbs(Example).get('a%2Fb'), 'cannot be the name of an object'],
    ['no name', (verbs) => verbs(Example).get(undefined as never), "'undefined' cannot be the name"],
    [
      'a namespace in capitals',
      (verbs) => verbs(Example).list({ namespace: 'Shop' }),
      "'Shop' cannot be the name of a",
    ],
    ['an empty namespace', (verbs) => verbs(Example).get('one', { namespace: '' }), "'' cannot be the name of a"],
    [
      'two namespaces',
      (verbs) => verbs(Example).create({ metadata: { name: 'one', namespace: 'a' } }, { namespace: 'b' }),
      "The object is of the namespace 'a', while 'b' is given.",
    ],
    [
      'half a kind',
      (verbs) => verbs({ apiVersion: 'kopf.dev/v1' } as never).get('one'),
      'Unspecific resource with no names',
    ],
    ['no kind', (verbs) => verbs(undefined as never).get('one'), 'and not undefined'],
    ['no object', (verbs) => verbs(Example).create('one' as never), 'An object is a mapping with metadata.'],
    [
      'no metadata',
      (verbs) => verbs(Example).apply({ metadata: [] } as never),
      'An object is a mapping with metadata.',
    ],
    [
      'another kind',
      (verbs) => verbs(Example).create({ kind: 'Pod', metadata: { name: 'one' } }),
      "is 'Pod', while it is",
    ],
    ['a patch that is none', (verbs) => verbs(Example).patch('one', 'spec' as never), 'A patch is an object'],
    [
      'a patch of another type',
      (verbs) => verbs(Example).patch('one', {}, { type: 'json' as never }),
      "'merge' or 'strategic', and not 'json'",
    ],
    ['an operation that is none', (verbs) => verbs(Example).patch('one', [{}] as never), '#0 is none'],
    ['a replacement that is none', (verbs) => verbs(Example).replace('one', {} as never), 'by a function'],
    ['a page of nothing', (verbs) => verbs(Example).list({ pageSize: 0 }), '0 objects on a page'],
    ['an object for a name', (verbs) => verbs(Example).get({ metadata: {} } as never), 'pass its metadata.name'],
    ['a BigInt', (verbs) => verbs(Example).patch('one', { spec: { size: 5n as never } }), 'spec.size is a BigInt'],
    [
      'an object in itself',
      (verbs) => {
        const spec: Record<string, unknown> = {};
        spec['self'] = spec;
        return verbs('configmaps').create({ metadata: { name: 'one' }, spec });
      },
      'create configmaps.v1 default/one: The value contains itself.',
    ],
    ['a number for a version', (verbs) => verbs({ apiVersion: 1, kind: 'Pod' } as never).get('one'), 'are texts'],
    [
      'no such operation',
      (verbs) => verbs(Example).patch('one', [{ op: 'set', path: '/spec/size', value: 1 }] as never),
      "The operation #0 of the JSON-patch is 'set', but there are only add, replace,",
    ],
    [
      'an operation without its value',
      (verbs) => verbs(Example).patch('one', [{ op: 'replace', path: '/spec/size', value: undefined }]),
      "has no 'value', which 'replace' needs",
    ],
    [
      'all namespaces and one of them',
      (verbs) => verbs(Example).list({ allNamespaces: true, namespace: 'shop' }),
      "It is either of all namespaces or of 'shop'",
    ],
    ...(
      [
        ['delete', 'ifGone', 'ignroe', "'fail' or 'ignore', and not \"ignroe\""],
        ['delete', 'propagation', 'foreground', "'Background' or 'Foreground' or 'Orphan'"],
        ['delete', 'gracePeriodSeconds', '5', 'a whole number from 0 on, and not "5"'],
        ['delete', 'preconditions', { version: '5' }, 'an object with a uid, a resourceVersion, or both'],
        ['evict', 'gracePeriodSeconds', -1, 'a whole number from 0 on, and not -1'],
        ['get', 'signal', 5, 'an AbortSignal, and not 5'],
        ['token', 'audiences', 'one', 'a list of texts, and not "one"'],
        ['token', 'expirationSeconds', 0.5, 'a whole number from 1 on'],
        ['log', 'sinceTime', new Date('never'), 'a Date, and not Invalid Date'],
        ['log', 'tailLines', -1, 'a whole number from 0 on'],
        ['log', 'container', '', 'a text, and not ""'],
      ] as const
    ).map(
      ([verb, option, value, words]) =>
        [
          `${verb} with the option ${option}: ${JSON.stringify(value)}`,
          async (verbs: Api) => await verbs('pods')[verb]('one', { [option]: value } as never),
          `${verb} pods default/one: The option '${option}' of ${verb}() is ${words}`,
        ] as const,
    ),
    ['half a replica', (verbs) => verbs('deployments').scale.set('one', 0.5), 'There cannot be 0.5 replicas'],
  ];
  it.each(mistakes)('is refused before it is sent: %s', async (_, mistake, message) => {
    const sent: string[] = [];
    const spied: KubeClient = {
      request(request) {
        if (!/^\/(api|apis)(\/[^/]+(\/v[^/]+)?)?$/.test(request.path.split('?')[0] ?? '')) sent.push(request.path);
        return cluster.client.request(request);
      },
      stream: (request) => cluster.client.stream(request),
    };
    const verbs = apiOver(spied, { namespace: 'default' });
    await expect(mistake(verbs)).rejects.toThrow(message);
    expect(sent).toEqual([]);
  });
});

describe('writing', () => {
  const named = (name: string, size: number) => ({ metadata: { name }, spec: { size } });

  it('applies: creates, changes, removes what is no longer said', async () => {
    await api(Example).apply({ metadata: { name: 'one' }, spec: { size: 1, tags: ['a'] } });
    const applied = await api(Example).apply(named('one', 2));
    expect(applied.spec).toEqual({ size: 2 });
    expect(applied.metadata?.managedFields).toMatchObject([{ manager: 'tester', operation: 'Apply' }]);
  });

  it('tells whose fields are in conflict, and takes them over by force', async () => {
    await api(Example).apply(named('one', 1), { fieldManager: 'other' });
    const error = await errorOf(api(Example).apply(named('one', 2)));
    expect(error).toBeInstanceOf(ApplyConflictError);
    expect(error).toBeInstanceOf(ApiConflictError);
    expect((error as ApplyConflictError).conflicts).toEqual([{ field: '.spec.size', manager: 'other' }]);
    expect(error.message).toMatch(/^apply kopfexamples\.v1\.kopf\.dev default\/one: /);
    expect((await api(Example).apply(named('one', 2), { force: true })).spec.size).toBe(2);
  });

  it.each([
    ['dryRun', 'The option \'dryRun\' of create() is true or false, and not "All".', { dryRun: 'All' }],
    ['dryRun', "The option 'dryRun' of create() is true or false, and not 1.", { dryRun: 1 }],
  ])('writes nothing if %s is something else than it can be', async (_, message, options) => {
    const wrong = api('configmaps').create({ metadata: { name: 'a' } }, options as never);
    await expect(wrong).rejects.toThrow(message);
    expect(await api('configmaps').find('a')).toBeUndefined();
  });

  it.each([5, [], new Map([['app', 'web']]), null])('selects nothing by %j', async (labels) => {
    const selected = api('configmaps').list({ labels: labels as never });
    await expect(selected).rejects.toThrow("A selection is an object such as { app: 'web' }");
  });

  it('leaves the labels of children to others, if the owner has none to give', async () => {
    const owner = await api(Example).create({ metadata: { name: 'parent' }, spec: {} });
    const child = { metadata: { name: 'child' }, data: { a: '1' } };
    await api('configmaps').apply(child, { owner });
    const labelled = { metadata: { name: 'child', labels: { team: 'a' } } };
    await api('configmaps').apply(labelled, { fieldManager: 'others' });
    const after = await api('configmaps').apply(child, { owner });
    expect(after.metadata?.labels).toEqual({ team: 'a' });
  });

  it('makes children of owners', async () => {
    const owner = await api(Example).create({ metadata: { name: 'parent', labels: { app: 'web' } }, spec: {} });
    const child = await api('configmaps').apply({ metadata: { name: 'child' }, data: { a: '1' } }, { owner });
    expect(child.metadata).toMatchObject({
      namespace: 'default',
      labels: { app: 'web' },
      ownerReferences: [{ kind: 'KopfExample', name: 'parent', uid: owner.metadata?.uid, controller: true }],
    });
  });

  it('patches in all forms', async () => {
    await api(Example).create(named('one', 1));
    expect((await api(Example).patch('one', { spec: { size: 2 } })).spec.size).toBe(2);
    expect((await api(Example).patch('one', [{ op: 'replace', path: '/spec/size', value: 3 }])).spec.size).toBe(3);
    await api('services').create({ metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } } as AnyObject);
    const patched = await api('services').patch(
      'web',
      {
        spec: {
          ports: [
            { port: 81, name: 'b' },
            { port: 80, name: 'a' },
          ],
        },
      } as AnyObject,
      { type: 'strategic' },
    );
    expect(patched).toMatchObject({ spec: { ports: [{ port: 81 }, { port: 80 }] } });
    await expect(api(Example).patch('one', 'nonsense' as never)).rejects.toThrow('A patch is an object');
  });

  it('replaces by a function, again if somebody was faster', async () => {
    await api(Example).create(named('one', 1));
    let calls = 0;
    const one = await api(Example).replace('one', (object) => {
      calls += 1;
      object.spec.size = (object.spec.size ?? 0) + 1;
      // Behind the back of the one who replaces.
      if (calls === 1) void cluster.patch('kopfexamples/default/one', { spec: { size: 10 } });
    });
    expect([calls, one.spec.size]).toEqual([2, 11]);
  });

  it('tells of new objects by their names, or by their beginnings', async () => {
    await api(Example).create(named('one', 1));
    expect((await errorOf(api(Example).create(named('one', 2)))).message).toBe(
      'create kopfexamples.v1.kopf.dev default/one: kopfexamples.kopf.dev "one" already exists',
    );
    const nowhere = { metadata: { generateName: 'one-', namespace: 'nowhere' } };
    expect((await errorOf(api(Example).create(nowhere))).message).toBe(
      'create kopfexamples.v1.kopf.dev nowhere/one-*: namespaces "nowhere" not found',
    );
  });

  it('says so if a kind has no such subresource', async () => {
    await api(Example).create(named('one', 1));
    const attempts: readonly (readonly [PromiseLike<unknown>, string])[] = [
      [api(Example).scale.get('one'), 'get kopfexamples.v1.kopf.dev/scale default/one'],
      [api(Example).evict('one'), 'evict kopfexamples.v1.kopf.dev default/one'],
      [api('configmaps').status.get('one'), 'get configmaps.v1/status default/one'],
      [api('configmaps').token('one'), 'token configmaps.v1 default/one'],
      [api('configmaps').log('one'), 'log configmaps.v1 default/one'],
      [api('configmaps').exec('one', ['date']), 'exec configmaps.v1 default/one'],
    ];
    for (const [attempt, title] of attempts) {
      const { message } = await errorOf(Promise.resolve(attempt));
      expect(message).toMatch(new RegExp(`^${title}: The cluster has no subresource '`));
    }
  });

  it('does nothing in a dry run', async () => {
    const wouldBe = await api(Example).create(named('one', 1), { dryRun: true });
    expect(wouldBe.spec.size).toBe(1);
    expect(await api(Example).find('one')).toBeUndefined();
  });

  it('executes no command while a trial is reviewed: that would be no trial', async () => {
    const clock = manualClock();
    const { signal } = new AbortController();
    const apiFor = handlersApi({
      client: cluster.client,
      clock,
      fieldManager: () => 'tester',
      ownerOf: () => undefined,
    });
    const trying = apiFor({ namespace: 'default', signal, dryRun: true });
    const error = await errorOf(trying('pods').exec('web', ['rm', '-rf', '/data']));
    expect(error.message).toMatch(
      /No command is executed in the pod 'web': the request that is reviewed is only a trial/,
    );
  });

  it('deletes: one, if it is there; that very one; those that are selected', async () => {
    await expect(api(Example).delete('none')).rejects.toBeInstanceOf(ApiNotFoundError);
    await api(Example).delete('none', { ifGone: 'ignore' });
    await api(Example).create(named('one', 1));
    await expect(api(Example).delete('one', { preconditions: { uid: 'another' } })).rejects.toBeInstanceOf(
      ApiConflictError,
    );
    await api(Example).delete('one', { propagation: 'Foreground' });
    for (const app of ['a', 'b']) {
      await api(Example).create({ metadata: { name: app, labels: { app } }, spec: {} });
    }
    await api(Example).deleteCollection({ labels: { app: 'a' } });
    expect((await api(Example).list()).map(({ metadata }) => metadata?.name)).toEqual(['b']);
    await expect(api(Example).deleteCollection({})).rejects.toThrow('{ all: true }');
    await api(Example).deleteCollection({ all: true });
    expect(await api(Example).list()).toEqual([]);
  });

  it.each([
    [{ spec: {} }, 'needs a name'],
    [{ kind: 'Pod', metadata: { name: 'one' } }, "The kind of the object is 'Pod', while it is for 'KopfExample'"],
    [null, 'a mapping'],
  ])('refuses objects that cannot be right: %j', async (object, message) => {
    await expect(api(Example).create(object as never)).rejects.toThrow(message);
    await expect(api(Example).apply(object as never)).rejects.toThrow(message);
  });

  it('has verbs for subresources', async () => {
    await api(Example).create(named('one', 1));
    await api(Example).status.patch('one', { status: { phase: 'ready' } });
    await api(Example).status.apply({ metadata: { name: 'one' }, status: { phase: 'steady' } }, { force: true });
    expect((await api(Example).status.get('one')).status).toEqual({ phase: 'steady' });

    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'web' }] } };
    const spec = { replicas: 1, selector: { matchLabels: { app: 'web' } }, template };
    await api('deployments').create({ metadata: { name: 'web' }, spec } as AnyObject);
    await api('deployments').scale.set('web', 3);
    expect(await api('deployments').scale.get('web')).toEqual({ wanted: 3, actual: 0 });
    await expect(api('deployments').scale.set('web', -1)).rejects.toThrow('cannot be -1 replicas');

    const { token, expires } = await api('serviceaccounts').token('default', { expirationSeconds: 600 });
    expect(token.split('.')).toHaveLength(3);
    expect(expires).toBeInstanceOf(Date);

    await api('pods').create({ metadata: { name: 'web' }, spec: template.spec } as AnyObject);
    await api('pods').evict('web', { gracePeriodSeconds: 0 });
    expect(await api('pods').find('web')).toBeUndefined();
  });
});
