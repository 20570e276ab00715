import { AdmissionError, EVERYTHING } from '@kopf-ts/core';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { describeOnClusters } from '../support/operators/clusters.js';
import { newGroup, type TestKind, testKind } from '../support/operators/kinds.js';
import { eventually, warningsOf } from '../support/operators/operators.js';
import { configuration } from './support/configurations.js';
import { newManaged, startAdmission } from './support/operators.js';
import { type Usage, usageOf } from './support/requests.js';

const MARK = { 'app.kubernetes.io/managed-by': 'kopf-ts' };

const refuse = (): never => {
  throw new AdmissionError('Never.', { code: 403 });
};

describeOnClusters('managed configurations', (cluster) => {
  let things: TestKind;
  let namespace: string;
  let usage: Usage;
  beforeAll(async () => {
    things = await cluster().newKind();
  });
  beforeEach(async () => {
    namespace = await cluster().newNamespace();
    usage = usageOf(cluster().connection, things, namespace);
  });
  const isRefused = async (name: string): Promise<void> => {
    expect(await usage.create(name)).toMatchObject({ status: 403 });
  };
  const isAccepted = async (name: string): Promise<void> => {
    expect(await usage.create(name)).toMatchObject({ status: 201 });
  };

  it('have a webhook for each handler, with all that it declares', async () => {
    const matchConditions = [{ name: 'is-new', expression: 'request.operation == "CREATE"' }];
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
    const operator = await startAdmission(
      cluster(),
      ({ on }) => {
        on.validate(things.selector, { id: 'plain' }, () => {});
        on.validate(
          things.selector,
          {
            ...{ id: 'fancy', timeoutSeconds: 7, ignoreFailures: true, sideEffects: true },
            ...{ namespaceSelector, matchConditions, labels: { mine: 'yes' } },
            ...{ objectSelector: { matchLabels: { fancy: 'very' } }, operations: ['CREATE', 'UPDATE'] },
          },
          refuse,
        );
        on.mutate(things.selector, { id: 'change/it', subresource: '*' }, () => {});
      },
      { namespaces: [namespace] },
    );
    const { group, plural } = things;
    const rule = { apiGroups: [group], apiVersions: ['v1'], resources: [plural], operations: ['*'], scope: '*' };
    const { plain, fancy, ...others } = await operator.validating.webhooks();
    expect(others).toEqual({});
    expect(plain).toMatchObject({
      ...{ failurePolicy: 'Fail', matchPolicy: 'Equivalent', sideEffects: 'None', timeoutSeconds: 30 },
      ...{ rules: [rule], objectSelector: {}, namespaceSelector: {} },
      clientConfig: { url: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+\/plain$/), caBundle: expect.any(String) },
    });
    expect(fancy).toMatchObject({
      ...{
        failurePolicy: 'Ignore',
        sideEffects: 'NoneOnDryRun',
        timeoutSeconds: 7,
        namespaceSelector,
        matchConditions,
      },
      rules: [{ ...rule, operations: ['CREATE', 'UPDATE'] }],
      objectSelector: {
        matchLabels: { fancy: 'very' },
        matchExpressions: [{ key: 'mine', operator: 'In', values: ['yes'] }],
      },
    });
    expect(await operator.mutating.webhooks()).toMatchObject({
      'change.it': { rules: [{ ...rule, resources: [plural, `${plural}/*`] }] },
    });
    for (const each of [operator.validating, operator.mutating]) {
      expect((await each.get())?.metadata?.labels).toEqual(MARK);
    }

    const labels = { mine: 'yes', fancy: 'very' };
    expect(await usage.create('one', { metadata: { labels } })).toMatchObject({ status: 403 });
    expect(await usage.create('two', { metadata: { labels: { mine: 'yes' } } })).toMatchObject({ status: 201 });
    const elsewhere = usageOf(cluster().connection, things, await cluster().newNamespace());
    expect(await elsewhere.create('one', { metadata: { labels } })).toMatchObject({ status: 201 });
    // The conditions are evaluated by the real server only.
    if (cluster().backend === 'real') {
      expect(await usage.patch('two', { metadata: { labels } })).toMatchObject({ status: 200 });
    }
  });

  it('follow the kinds of the cluster, as they come and go', async () => {
    const [group, late] = [newGroup(), 'latecomers'];
    const early = await cluster().newKind({ group, plural: 'earlies' });
    const operator = await startAdmission(
      cluster(),
      ({ on }) => {
        on.validate({ group, name: EVERYTHING }, { id: 'all' }, refuse);
      },
      { namespaces: [namespace] },
    );
    const resources = async (): Promise<unknown> => {
      const { all } = await operator.validating.webhooks();
      const rules = (all?.['rules'] ?? []) as readonly { readonly resources: readonly string[] }[];
      return rules.flatMap((rule) => rule.resources).sort();
    };
    expect(await resources()).toEqual(['earlies']);
    const latecomers = testKind(cluster().client, { group, plural: late });
    await latecomers.define();
    await eventually(async () => expect(await resources()).toEqual(['earlies', late]));
    const others = usageOf(cluster().connection, latecomers, namespace);
    await eventually(async () =>
      expect(await others.create(`one-${performance.now()}`)).toMatchObject({ status: 403 }),
    );
    await early.undefine();
    await eventually(async () => expect(await resources()).toEqual([late]));
    await latecomers.undefine();
    await eventually(async () => expect(await resources()).toEqual([]));
    await latecomers.define();
    await eventually(async () => expect(await resources()).toEqual([late]));
    expect(operator.logger.messages('error').filter((message) => !message.startsWith("Webhook '"))).toEqual([]);
  });

  it('are restored when they are deleted, edited, or emptied by others', async () => {
    const operator = await startAdmission(
      cluster(),
      ({ on }) => {
        on.validate(things.selector, { id: 'check' }, refuse);
        on.mutate(things.selector, { id: 'change' }, () => {});
      },
      { namespaces: [namespace] },
    );
    const { check: before } = await operator.validating.webhooks();
    const isRestored = () =>
      eventually(async () => expect(await operator.validating.webhooks()).toEqual({ check: before }));
    await operator.validating.delete();
    await isRestored();
    expect((await operator.validating.get())?.metadata?.labels).toEqual(MARK);
    await eventually(() => isRefused('one'));

    await operator.validating.patch({ webhooks: [{ ...before, failurePolicy: 'Ignore', rules: [] }] });
    await isRestored();
    await operator.validating.patch({ webhooks: null, metadata: { labels: null } });
    await isRestored();
    expect((await operator.validating.get())?.metadata?.labels).toEqual(MARK);
    await eventually(() => isRefused('two'));
    const { change } = await operator.mutating.webhooks();
    await operator.mutating.delete();
    await eventually(async () => expect(await operator.mutating.webhooks()).toEqual({ change }));
    // Those who do it again and again are told of it, and only once.
    expect(warningsOf(operator).filter((message) => message.includes(operator.managed))).toHaveLength(1);

    // What others add beside us is none of our business.
    await operator.validating.patch({ metadata: { annotations: { note: 'seen' } } });
    await eventually(() => isRefused('three'));
    expect((await operator.validating.get())?.metadata?.annotations).toEqual({ note: 'seen' });
  });

  it('are left alone as long as nothing changes', async () => {
    const { client } = cluster();
    const operator = await startAdmission(
      cluster(),
      ({ on }) => {
        on.validate(things.selector, { id: 'check', labels: { mine: 'yes' } }, () => {});
        on.create(things.selector, { id: 'created' }, () => {});
      },
      { namespaces: [namespace] },
    );
    const versions = async () =>
      [await operator.validating.get(), await operator.mutating.get()].map((it) => it?.metadata?.resourceVersion);
    const before = await versions();
    // Other kinds come and go, which revises all that is known of the cluster.
    const other = testKind(client);
    await other.define();
    await other.undefine();
    await usage.create('one', { metadata: { labels: { mine: 'yes' } } });
    await eventually(async () => {
      expect((await things.get(namespace, 'one'))?.metadata?.annotations).toBeDefined();
    });
    expect(await versions()).toEqual(before);
  });

  it('are emptied on exit, except for persistent webhooks; and filled again on the next start', async () => {
    const managed = newManaged();
    const start = () =>
      startAdmission(
        cluster(),
        ({ on }) => {
          on.validate(things.selector, { id: 'passing' }, () => {});
          on.validate(things.selector, { id: 'lasting', persistent: true }, refuse);
          on.mutate(things.selector, { id: 'change' }, () => {});
        },
        { namespaces: [namespace], managed },
      );
    const first = await start();
    await isRefused('one');
    await first.stop();
    expect(Object.keys(await first.validating.webhooks())).toEqual(['lasting']);
    expect(await first.mutating.webhooks()).toEqual({});
    expect(await usage.create('two')).toMatchObject({
      status: 500,
      body: { message: expect.stringContaining(`failed calling webhook "lasting.${managed}"`) },
    });

    const second = await start();
    expect(Object.keys(await second.validating.webhooks())).toEqual(['passing', 'lasting']);
    await isRefused('three');
    await second.stop();
    await second.validating.delete();
  });

  it('are emptied on exit, so that nothing is checked any more', async () => {
    const operator = await startAdmission(
      cluster(),
      ({ on }) => {
        on.validate(things.selector, { id: 'check' }, refuse);
      },
      { namespaces: [namespace] },
    );
    await isRefused('one');
    await operator.stop();
    expect(await operator.validating.webhooks()).toEqual({});
    await isAccepted('one');
    expect(operator.logger.messages('error').filter((message) => message.includes('left'))).toEqual([]);
  });

  it('do not block what the operator itself writes to objects, however strict the handlers are', async () => {
    await usage.create('invalid', { spec: { size: -1 } });
    await usage.create('doomed', { spec: { size: -1 } });
    const calls: string[] = [];
    const operator = await startAdmission(
      cluster(),
      ({ on }) => {
        on.validate(things.selector, { id: 'strict', operations: ['CREATE', 'UPDATE'] }, ({ spec }) => {
          if (!(spec['size'] >= 0)) throw new AdmissionError('Not a size.', { code: 422 });
        });
        on.resume(things.selector, function resumed({ name }) {
          calls.push(`resumed ${name}`);
        });
        on.create(things.selector, function created({ name, retry }) {
          calls.push(`created ${name} ${retry}`);
          if (retry === 0) throw new Error('Not yet.');
        });
        on.delete(things.selector, function deleted({ name }) {
          calls.push(`deleted ${name}`);
        });
      },
      { namespaces: [namespace], overrides: { execution: { defaultBackoff: 0.2 } } },
    );
    await eventually(async () => {
      for (const name of ['invalid', 'doomed']) {
        const { annotations = {}, finalizers } = (await things.get(namespace, name))?.metadata ?? {};
        expect(Object.keys(annotations)).toEqual(['kopf.zalando.org/last-handled-configuration']);
        expect(finalizers).toEqual(['kopf.zalando.org/KopfFinalizerMarker']);
      }
    });
    await usage.delete('doomed');
    await eventually(async () => expect(await things.get(namespace, 'doomed')).toBeUndefined());
    expect(calls.filter((call) => call.includes('doomed'))).toContain('deleted doomed');
    expect(calls.filter((call) => call.startsWith('created invalid'))).toEqual([
      'created invalid 0',
      'created invalid 1',
    ]);
    // And nobody else gets through, not even with the same object.
    expect(await usage.patch('invalid', { metadata: { labels: { x: 'y' } } })).toMatchObject({ status: 422 });
    expect(await usage.patch('invalid', { spec: { size: 0 } })).toMatchObject({ status: 200 });
    expect(operator.logger.messages('error').filter((message) => message.includes('webhook'))).toEqual([]);
  });

  it('are not accepted with conditions that make no sense, and then the operator says why and ends', async () => {
    if (cluster().backend === 'embedded') return;
    const managed = newManaged();
    const starting = startAdmission(
      cluster(),
      ({ on }) => {
        on.validate(
          things.selector,
          { id: 'check', matchConditions: [{ name: 'nonsense', expression: 'request.operation ==' }] },
          () => {},
        );
      },
      { namespaces: [namespace], managed },
    );
    await expect(starting).rejects.toThrow(/matchConditions/);
    expect(await configuration(cluster().client, 'validating', managed).webhooks()).toEqual({});
  });
});
