import { type AnyObject, DaemonStop, type KubeClient } from '@kopf-ts/core';
import { expect, it } from 'vitest';
import { describeOnClusters, type TestCluster } from '../support/operators/clusters.js';
import { absentIfNotFound, newGroup, testKind } from '../support/operators/kinds.js';
import { eventually, startOperator, warningsOf } from '../support/operators/operators.js';

const namespacePath = (name: string): string => `/api/v1/namespaces/${name}`;

async function createNamespace({ client }: TestCluster, name: string): Promise<string> {
  await client.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } });
  return name;
}

async function deleteNamespace({ client }: TestCluster, name: string): Promise<void> {
  await client.request({ method: 'DELETE', path: namespacePath(name) });
}

async function getNamespace({ client }: TestCluster, name: string): Promise<AnyObject | undefined> {
  return await absentIfNotFound(client.request<AnyObject>({ method: 'GET', path: namespacePath(name) }));
}

describeOnClusters('kinds and namespaces', (cluster) => {
  it('twenty kinds at once are served by one operator, each object once', async () => {
    const group = newGroup();
    const plurals = Array.from({ length: 20 }, (_, index) => `kind${String.fromCharCode(97 + index)}s`);
    const kinds = await Promise.all(plurals.map((plural) => cluster().newKind({ group, plural })));
    const namespace = await cluster().newNamespace();
    await Promise.all(kinds.map((kind) => kind.create(namespace, 'old')));
    const calls: string[] = [];
    const operator = await startOperator(
      cluster(),
      ({ on }) => {
        for (const { plural, selector } of kinds) {
          on.create(selector, { id: `create-${plural}` }, ({ name, resource }) => {
            calls.push(`${resource.plural} ${name}`);
          });
        }
      },
      { namespaces: [namespace] },
    );
    await Promise.all(kinds.map((kind) => kind.create(namespace, 'new')));
    await eventually(() => expect(new Set(calls).size).toBe(40));
    expect(calls.sort()).toEqual(plurals.flatMap((plural) => [`${plural} new`, `${plural} old`]));
    expect(warningsOf(operator)).toEqual([]);
  });

  it('a kind defined after the start is served, and served again when it is defined anew', async () => {
    const things = testKind(cluster().client);
    const namespace = await cluster().newNamespace();
    const calls: string[] = [];
    const operator = await startOperator(
      cluster(),
      ({ on, daemon }) => {
        on.create(things.selector, function created({ name }) {
          calls.push(`created ${name}`);
        });
        on.event(things.selector, function seen({ type, name }) {
          if (type === 'DELETED') calls.push(`gone ${name}`);
        });
        daemon(things.selector, async function guard({ name, stopped }) {
          await new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve()));
          calls.push(`unguarded ${name}`);
        });
      },
      { namespaces: [namespace] },
    );
    expect(warningsOf(operator)).toEqual([expect.stringContaining(things.plural)]);
    await things.define();
    await things.create(namespace, 'one');
    await eventually(() => expect(calls).toEqual(['created one']));

    await things.undefine();
    await eventually(() => expect(calls.slice(1).sort()).toEqual(['gone one', 'unguarded one']));
    await things.define();
    await things.create(namespace, 'one');
    await things.create(namespace, 'two');
    await eventually(() => expect(calls.slice(3).sort()).toEqual(['created one', 'created two']));
    expect(operator.logger.messages('error')).toEqual([]);
  });

  it('namespaces that match come and go at run time; those going are served until they are empty', async () => {
    const things = await cluster().newKind();
    const prefix = await cluster().newNamespace();
    const [early, late, excluded] = [`${prefix}-early`, `${prefix}-late`, `${prefix}-x-1`];
    await createNamespace(cluster(), early);
    const calls: string[] = [];
    let mayDelete = false;
    await startOperator(
      cluster(),
      ({ on }) => {
        on.create(things.selector, function created({ namespace, name }) {
          calls.push(`created ${namespace}/${name}`);
        });
        on.delete(things.selector, { backoff: 0.1 }, function deleted({ namespace, name }) {
          if (!mayDelete) throw new Error('Not yet.');
          calls.push(`deleted ${namespace}/${name}`);
        });
      },
      { namespaces: [`${prefix}-*,!${prefix}-x*`] },
    );
    await things.create(early, 'one');
    await eventually(() => expect(calls).toEqual([`created ${early}/one`]));
    await createNamespace(cluster(), excluded);
    await createNamespace(cluster(), late);
    await things.create(excluded, 'never');
    await things.create(prefix, 'never');
    await things.create(late, 'two');
    await eventually(() => expect(calls).toContain(`created ${late}/two`));
    expect(calls.splice(0)).toHaveLength(2);
    for (const namespace of [excluded, prefix]) {
      expect((await things.get(namespace, 'never'))?.metadata?.finalizers).toBeUndefined();
    }

    await deleteNamespace(cluster(), late);
    await eventually(async () => {
      expect((await things.get(late, 'two'))?.metadata?.deletionTimestamp).toBeDefined();
      expect((await getNamespace(cluster(), late))?.['status'].phase).toBe('Terminating');
    });
    mayDelete = true;
    await eventually(async () => expect(await getNamespace(cluster(), late)).toBeUndefined(), 45);
    expect(calls.splice(0)).toEqual([`deleted ${late}/two`]);

    await createNamespace(cluster(), late);
    await things.create(late, 'again');
    await eventually(() => expect(calls).toEqual([`created ${late}/again`]));
    await things.delete(late, 'again');
    await things.delete(early, 'one');
    await eventually(async () => expect(await things.get(early, 'one')).toBeUndefined());
    await eventually(async () => expect(await things.get(late, 'again')).toBeUndefined());
  }, 90_000);

  it('namespaces by labels are selected by the server, and are left and taken up again', async () => {
    const things = await cluster().newKind();
    const namespace = await cluster().newNamespace();
    const [calls, paths]: [string[], string[]] = [[], []];
    const { client } = cluster();
    const recorded: KubeClient = {
      request(request) {
        paths.push(request.path);
        return client.request(request);
      },
      stream(request) {
        paths.push(request.path);
        return client.stream(request);
      },
    };
    const key = `tenant-of-${namespace}`;
    const label = (value: string | null) =>
      client.request({
        method: 'PATCH',
        path: namespacePath(namespace),
        contentType: 'application/merge-patch+json',
        body: { metadata: { labels: { [key]: value } } },
      });
    const operator = await startOperator(
      cluster(),
      ({ on, daemon, index }) => {
        const known = index(things.selector, function known({ name }) {
          return { [name]: name };
        });
        on.create(things.selector, function created({ name, indices }) {
          calls.push(`created ${name}, known: ${[...indices.get(known).keys()].sort().join(' ')}`);
        });
        on.update(things.selector, function updated({ name }) {
          calls.push(`updated ${name}`);
        });
        on.event(things.selector, function seen({ type, name }) {
          if (type === 'DELETED') calls.push(`gone ${name}`);
        });
        daemon(things.selector, async function guard({ name, stopped }) {
          await new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve()));
          const reasons = stopped.reason instanceof DaemonStop ? [...stopped.reason.reasons] : [];
          calls.push(`left ${name}: ${reasons.join()}`);
        });
      },
      { namespaces: { labels: { [key]: ['one', 'two'] } }, client: recorded },
    );
    await things.create(namespace, 'a');
    await label('one');
    await eventually(() => expect(calls).toEqual(['created a, known: a']));
    await label('two');
    await label('three');
    await eventually(() => expect(calls.slice(1)).toEqual(['left a: filters-mismatch']));
    await things.patch(namespace, 'a', { spec: { field: 'changed' } });
    await things.create(namespace, 'b');
    await label('one');
    await eventually(() => expect(calls.slice(2).sort()).toEqual(['created b, known: a b', 'updated a']));
    const ofNamespaces = paths.filter((path) => path.startsWith('/api/v1/namespaces?'));
    expect(ofNamespaces.length).toBeGreaterThan(0);
    for (const path of ofNamespaces) {
      expect(new URL(path, 'http://h').searchParams.get('labelSelector')).toBe(`${key} in (one,two)`);
    }
    expect(operator.logger.messages('error')).toEqual([]);
    for (const name of ['a', 'b']) await things.delete(namespace, name);
    await eventually(async () => expect(await things.get(namespace, 'b')).toBeUndefined());
  });

  it('what is not permitted to be listed is done without, at once, and it is told once', async () => {
    const [things, namespace] = await Promise.all([cluster().newKind(), cluster().newNamespace()]);
    const connection = await cluster().newUser({ namespace, group: things.group, plural: things.plural });
    const calls: string[] = [];
    const began = performance.now();
    const operator = await startOperator(
      cluster(),
      ({ on }) => {
        on.create(things.selector, function created({ name }) {
          calls.push(`created ${name}`);
          return { seen: true };
        });
      },
      { namespaces: [namespace], connection },
    );
    // At once, or as soon as a busy machine permits: with retries, it would be a minute.
    expect((performance.now() - began) / 1000).toBeLessThan(20);
    await things.create(namespace, 'one');
    await eventually(async () =>
      expect((await things.get(namespace, 'one'))?.['status']).toEqual({ created: { seen: true } }),
    );
    expect(calls).toEqual(['created one']);
    expect(operator.logger.messages('error')).toEqual([]);
    const warnings = warningsOf(operator);
    expect(warnings.filter((message) => message.includes('namespaces'))).toHaveLength(1);
    expect(warnings.filter((message) => !message.includes('namespaces'))).toHaveLength(1);
    expect(warnings.join('\n')).toMatch(/permi/i);
  });

  it('an aggregated API that does not answer disturbs nobody', async () => {
    const { client, backend } = cluster();
    const group = newGroup();
    // Nobody else's name, as it is to be found without the group.
    const plural = `a${group.slice(5, 13)}s`;
    const [things, namespace] = await Promise.all([cluster().newKind({ plural }), cluster().newNamespace()]);
    const services = '/apis/apiregistration.k8s.io/v1/apiservices';
    const name = `v1beta1.${group}`;
    if (backend === 'real') {
      const service = { namespace, name: 'nowhere' };
      const spec = { group, version: 'v1beta1', service, groupPriorityMinimum: 100, versionPriority: 100 };
      await client.request({
        method: 'POST',
        path: services,
        body: { metadata: { name }, spec: { ...spec, insecureSkipTLSVerify: true } },
      });
      // From now on, it is among the groups, and its kinds cannot be listed.
      await eventually(async () => {
        const { groups } = await client.request<{ groups: { name: string }[] }>({ method: 'GET', path: '/apis' });
        expect(groups.map((one) => one.name)).toContain(group);
      });
    }
    try {
      const calls: string[] = [];
      const began = performance.now();
      const operator = await startOperator(
        cluster(),
        ({ on }) => {
          on.create(things.selector, function created({ name }) {
            calls.push(`created ${name}`);
          });
          // By the plural alone, so that all groups are to be looked through.
          on.event(plural, function seen({ name }) {
            calls.push(`seen ${name}`);
          });
        },
        { namespaces: [namespace] },
      );
      expect((performance.now() - began) / 1000).toBeLessThan(25);
      await things.create(namespace, 'one');
      await eventually(() => expect(new Set(calls)).toEqual(new Set(['seen one', 'created one'])));
      expect(operator.logger.messages('error')).toEqual([]);
    } finally {
      if (backend === 'real') await client.request({ method: 'DELETE', path: `${services}/${name}` });
    }
  });
});
