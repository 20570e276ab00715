/** What an operator writes itself is no news for it, whatever the server makes of it; what others write is. */
import { type AnyObject, allAtOnce, type LifeCycle, oneByOne, subhandler, TemporaryError } from '@kopf-ts/core';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeOnClusters } from '../support/operators/clusters.js';
import type { TestKind } from '../support/operators/kinds.js';
import { eventually, startOperator } from '../support/operators/operators.js';

const LAST_HANDLED = 'kopf.zalando.org/last-handled-configuration';

/** Items of the list get a port and a protocol; unknown fields are pruned. */
const specSchema = {
  type: 'object',
  properties: {
    field: { type: 'string' },
    mode: { type: 'string', enum: ['auto', 'manual'], default: 'auto' },
    items: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          port: { type: 'integer', default: 80 },
          protocol: { type: 'string', default: 'TCP' },
        },
      },
    },
  },
};

const template = (image: string, extra: object = {}) => ({
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'main', image, ...extra }] },
});

describeOnClusters('own writes', (cluster) => {
  let things: TestKind;
  let namespace: string;
  beforeAll(async () => {
    things = await cluster().newKind({ specSchema });
  });
  beforeEach(async () => {
    namespace = await cluster().newNamespace();
  });

  const isHandled = (object: AnyObject | undefined): void => {
    const annotations = Object.keys(object?.metadata?.annotations ?? {});
    expect(annotations.filter((key) => key.startsWith('kopf.zalando.org/'))).toEqual([LAST_HANDLED]);
  };
  /** Handled, and as it is for a while: nobody writes to it any more. */
  const becomesQuiet = async (get: () => Promise<AnyObject | undefined>): Promise<AnyObject | undefined> => {
    let [version, since] = [undefined as string | undefined, performance.now()];
    return await eventually(async () => {
      const object = await get();
      const now = object?.metadata?.resourceVersion;
      if (now !== version) [version, since] = [now, performance.now()];
      isHandled(object);
      expect(performance.now() - since).toBeGreaterThan(1500);
      return object;
    });
  };

  const lifecycles: readonly (readonly [string, LifeCycle])[] = [
    ['one by one', oneByOne],
    ['all at once', allAtOnce],
  ];

  describe.each(lifecycles)('of handlers called %s', (_title, lifecycle) => {
    it('into lists with defaults, and into fields that are pruned, call nobody again', async () => {
      const calls: string[] = [];
      await startOperator(
        cluster(),
        ({ on }) => {
          on.create(things.selector, { id: 'c1' }, ({ patch, name }) => {
            calls.push('c1');
            patch.spec['items'] = [{ name: `${name}-1` }, { name: `${name}-2`, port: 81 }];
            patch.spec['unknown'] = 'pruned';
          });
          on.create(things.selector, { id: 'c2' }, ({ patch }) => {
            calls.push('c2');
            patch.metadata.labels['stamp'] = `c2-${calls.length}`;
            return { n: calls.length };
          });
          on.create(things.selector, { id: 'c3' }, () => {
            subhandler('a', ({ patch }) => {
              calls.push('c3/a');
              patch.metadata.annotations['example.com/a'] = `${calls.length}`;
            });
            subhandler('b', ({ patch }) => {
              calls.push('c3/b');
              patch.fns.push((body) => {
                body['spec'].items = [...(body['spec'].items ?? []), { name: 'b' }].slice(0, 3);
              });
            });
          });
        },
        { namespaces: [namespace], lifecycle },
      );
      await things.create(namespace, 'one', { spec: { field: 'v' } });
      const object = await becomesQuiet(() => things.get(namespace, 'one'));
      expect(calls.toSorted()).toEqual(['c1', 'c2', 'c3/a', 'c3/b']);
      expect(object?.['spec'].items).toContainEqual({ name: 'one-1', port: 80, protocol: 'TCP' });
    });

    it('into the template of a Deployment call nobody again', async () => {
      const calls: string[] = [];
      await startOperator(
        cluster(),
        ({ on }) => {
          on.create('deployments.v1.apps', { id: 'c1' }, ({ patch }) => {
            calls.push('c1');
            patch.spec['template'] = template('nginx:2', { resources: { limits: { cpu: '1000m' } } });
          });
          on.create('deployments.v1.apps', { id: 'c2' }, ({ retry }) => {
            calls.push(`c2 ${retry}`);
            if (retry === 0) throw new TemporaryError('not yet', { delay: 1.5 });
          });
          on.create('deployments.v1.apps', { id: 'c3' }, ({ patch }) => {
            calls.push('c3');
            patch.metadata.labels['by'] = 'c3';
          });
        },
        { namespaces: [namespace], lifecycle },
      );
      const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
      const body = {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web' },
        spec: { replicas: 0, selector: { matchLabels: { app: 'x' } }, template: template('nginx:1') },
      };
      await cluster().client.request({ method: 'POST', path, body });
      const get = () => cluster().client.request<AnyObject>({ method: 'GET', path: `${path}/web` });
      const object = await becomesQuiet(get);
      // In a real cluster, the controller of Deployments annotates each with its revisions: these are changes by others.
      const byOthers = Number(object?.metadata?.annotations?.['deployment.kubernetes.io/revision'] ?? 0);
      const repeats = (name: string) => calls.filter((call) => call.startsWith(name)).length - 1;
      expect([...new Set(calls)].toSorted()).toEqual(['c1', 'c2 0', 'c2 1', 'c3']);
      expect(repeats('c1')).toBeLessThanOrEqual(byOthers);
      expect(repeats('c2')).toBeLessThanOrEqual(1 + 2 * byOthers);
      expect(repeats('c3')).toBeLessThanOrEqual(byOthers);
      expect(object?.['spec'].template.spec.containers[0].image).toBe('nginx:2');
    });
  });

  it('of a timer are no news for handlers that are done, while others are retried; changes by others are', async () => {
    const calls: string[] = [];
    await startOperator(
      cluster(),
      (registry) => {
        registry.on.create(things.selector, { id: 'c1' }, ({ spec }) => void calls.push(`c1 ${spec['field']}`));
        registry.on.create(things.selector, { id: 'c2' }, ({ retry }) => {
          if (retry < 3) throw new TemporaryError('not yet', { delay: 1 });
        });
        registry.timer(things.selector, { id: 't', interval: 0.3 }, ({ patch }) => {
          patch.metadata.annotations['example.com/tick'] = `${performance.now()}`;
        });
      },
      { namespaces: [namespace] },
    );
    await things.create(namespace, 'one', { spec: { field: 'v' } });
    await eventually(() => expect(calls).toEqual(['c1 v']));
    await things.patch(namespace, 'one', { spec: { field: 'w' } });
    await eventually(async () => {
      const annotations = (await things.get(namespace, 'one'))?.metadata?.annotations ?? {};
      expect(annotations).toHaveProperty([LAST_HANDLED]);
    });
    expect(calls).toEqual(['c1 v', 'c1 w']);
  });

  it('that the server refuses are failures of the handler that has asked for them, and of nobody else', async () => {
    const calls: string[] = [];
    const operator = await startOperator(
      cluster(),
      ({ on }) => {
        on.create(things.selector, { id: 'good' }, () => {
          calls.push('good');
          return 'fine';
        });
        on.create(things.selector, { id: 'culprit', backoff: 0.5, retries: 5 }, ({ patch, retry }) => {
          calls.push(`culprit ${retry}`);
          patch.spec['mode'] = retry < 2 ? 'sideways' : 'manual';
        });
      },
      { namespaces: [namespace], lifecycle: allAtOnce },
    );
    await things.create(namespace, 'one', { spec: { field: 'v' } });
    const object = await becomesQuiet(() => things.get(namespace, 'one'));
    expect(calls).toEqual(['good', 'culprit 0', 'culprit 1', 'culprit 2']);
    expect([object?.['spec'].mode, object?.['status']]).toEqual(['manual', { good: 'fine' }]);
    const errors = operator.logger.messages('error');
    expect(errors).toHaveLength(2);
    expect(errors[0]).toMatch(/^Handler 'culprit' .*spec\.mode.*Unsupported value: "sideways"/);
  });

  it('that are a chain of their own are slowed down, and a deletion is not', async () => {
    const calls: number[] = [];
    const operator = await startOperator(
      cluster(),
      ({ on }) => {
        on.update(things.selector, { id: 'u' }, ({ patch }) => {
          calls.push(performance.now());
          patch.metadata.labels['count'] = `${calls.length}`;
        });
        on.delete(things.selector, { id: 'd' }, () => {});
      },
      { namespaces: [namespace] },
    );
    await things.create(namespace, 'one', { spec: { field: 'v' } });
    await eventually(async () => isHandled(await things.get(namespace, 'one')));
    await things.patch(namespace, 'one', { spec: { field: 'w' } });
    await eventually(() => expect(operator.logger.find('again and again: metadata.labels.count')).toBeDefined());
    expect(calls.length).toBeLessThanOrEqual(12);
    await things.delete(namespace, 'one');
    await eventually(async () => expect(await things.get(namespace, 'one')).toBeUndefined(), 5);
  });
});
