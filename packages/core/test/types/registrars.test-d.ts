import { describe, expectTypeOf, it } from 'vitest';
import { PermanentError, TemporaryError } from '../../src/errors.js';
import { ABSENT } from '../../src/intents/filters.js';
import type { Change, Daemon, DefaultEnv, Env } from '../../src/intents/kwargs.js';
import { createRegistry } from '../../src/intents/registration/registry.js';
import type { Index, IndexRef, Indices } from '../../src/seams/memory/indexing.js';
import { resource } from '../../src/values/resources/resource.js';
import type { StandardSchema } from '../../src/values/standard-schema.js';

const { on, daemon, timer, index } = createRegistry();
const Volume = resource<{ size: string; replicas: number; nested?: { deep: boolean } }, { phase: string }>({
  group: 'example.com',
  version: 'v1',
  plural: 'volumes',
});
declare const tenantSpec: StandardSchema<{ plan: 'free' | 'paid'; seats: number }>;
const Tenant = resource({ group: 'example.com', version: 'v1', plural: 'tenants', spec: tenantSpec });

interface V1Pod {
  metadata?: { name?: string };
  spec?: { nodeName?: string };
  status?: { phase?: string };
}

describe('what a handler gets is inferred from what it is registered for', () => {
  it('from a resource token', () => {
    on.create(Volume, async function provision({ spec, patch, status, name, namespace, body, meta }) {
      expectTypeOf(spec.replicas).toEqualTypeOf<number>();
      expectTypeOf(status.phase).toEqualTypeOf<string | undefined>();
      expectTypeOf(name).toEqualTypeOf<string>();
      expectTypeOf(namespace).toEqualTypeOf<string | undefined>();
      expectTypeOf(body.spec.size).toEqualTypeOf<string>();
      expectTypeOf(meta.labels?.['x']).toEqualTypeOf<string | undefined>();
      patch.status.phase = 'provisioning';
      patch.metadata.labels['seen'] = 'yes';
      patch.spec.size = null;
      // @ts-expect-error the phase is a string
      patch.status.phase = 1;
      // @ts-expect-error bodies are read-only; changes go through the patch
      spec.size = '2Gi';
      // @ts-expect-error however deep
      spec.nested!.deep = true;
      // @ts-expect-error no such field
      spec.sise;
      return { claim: 'pvc-1' };
    });
  });

  it('from an explicit type', () => {
    on.event<V1Pod>('v1/pods', ({ type, spec, status }) => {
      expectTypeOf(spec.nodeName).toEqualTypeOf<string | undefined>();
      expectTypeOf(type).toEqualTypeOf<'ADDED' | 'MODIFIED' | 'DELETED' | null>();
      expectTypeOf(status.phase).toEqualTypeOf<string | undefined>();
    });
  });

  it('from a schema and the field', () => {
    on.update(Tenant, { field: 'spec.plan', old: 'free', new: 'paid' }, function upgrade({ old, new: plan, spec }) {
      expectTypeOf(old).toEqualTypeOf<'free' | 'paid' | undefined>();
      expectTypeOf(plan).toEqualTypeOf<'free' | 'paid' | undefined>();
      expectTypeOf(spec.seats).toEqualTypeOf<number>();
    });
    // @ts-expect-error 'gold' is not a plan
    on.update(Tenant, { field: 'spec.plan', old: 'free', new: 'gold' }, function wrong() {});
    // @ts-expect-error there is no such field
    on.update(Tenant, { field: 'spec.plam' }, function wrong() {});
    on.field(Tenant, { field: 'spec.seats', value: (seats) => (seats ?? 0) > 5 }, ({ new: seats }) => {
      expectTypeOf(seats).toEqualTypeOf<number | undefined>();
    });
    // @ts-expect-error the field is mandatory
    on.field(Tenant, {}, () => {});
    // @ts-expect-error really so
    on.field(Tenant, { field: undefined }, () => {});
    on.field(Tenant, { field: ['metadata', 'annotations', 'example.com/note'] }, () => {});
  });

  it('from the function itself, when it is declared apart and the selector knows nothing', () => {
    const grow = ({ spec }: Change<typeof Volume>) => spec.size;
    expectTypeOf(on.update('volumes', grow)).parameter(0).toHaveProperty('reason');
  });

  it('untyped resources are used without casts', () => {
    on.create('kopfexamples', async ({ name, spec, logger, patch }) => {
      logger.info(`Creating ${name}: ${spec.field}`);
      patch.status['x'] = { y: 1 };
      patch.spec.replicas = 1;
    });
    on.create(
      'pods',
      {
        labels: { app: 'web', canary: ABSENT },
        annotations: { note: (v) => v?.startsWith('x') ?? false },
        when: ({ namespace }) => namespace !== 'kube-system',
      },
      async function tag({ patch }) {
        patch.metadata.labels['seen'] = 'yes';
      },
    );
  });
});

describe('fields of untyped resources', () => {
  it('are filtered by whatever values', () => {
    on.create('kopfexamples', { field: 'spec.size', value: '1Gi' }, ({ spec }) => spec.size);
    on.update('kopfexamples', { field: 'spec.size', old: 1, new: { a: [2] } }, ({ old, spec }) => [old, spec.size]);
    on.update('kopfexamples', { field: ['spec', 'size'], old: ABSENT, new: '1Gi' }, ({ name }) => name);
    on.validate('kopfexamples', { field: 'spec.size', value: '1Gi' }, ({ spec }) => spec.size);
    daemon('kopfexamples', { field: 'status.phase', value: 'ready', when: ({ name }) => name !== '' }, () => {});
    on.field('kopfexamples', { field: 'spec.size', new: (size) => size === 5 }, ({ new: size }) => size);
    index('kopfexamples', { field: 'spec.size', value: '1Gi' }, ({ name }) => name);
    on.event('kopfexamples', { field: ['spec', 'size'], value: (size, { name }) => size === name }, () => {});
    // @ts-expect-error filters are not waited for
    on.field('kopfexamples', { field: 'spec.size', new: async (size) => size === 5 }, () => {});
  });

  it('also if the type is explicit', () => {
    on.event<V1Pod>('pods', { field: ['spec', 'nodeName'], value: 'one' }, ({ spec }) => spec.nodeName);
    on.update(Volume, { field: ['spec', 'size'], old: '1Gi' }, ({ spec }) => spec.replicas);
    // @ts-expect-error the size is a text
    on.create(Volume, { field: 'spec.size', value: 5 }, () => {});
  });
});

describe('kwargs of another kind do not compile', () => {
  it('only daemons have `stopped`, only changes have `reason`, only admission has `warnings`', () => {
    // @ts-expect-error a creation handler has no `stopped`
    on.create(Volume, ({ stopped }) => void stopped);
    // @ts-expect-error a daemon has no `reason`
    daemon(Volume, ({ reason }) => void reason);
    // @ts-expect-error a change has no `warnings`
    on.update(Volume, ({ warnings }) => void warnings);
    // @ts-expect-error activities have no objects
    on.startup(({ spec }) => void spec);
    on.validate(Volume, { operations: ['CREATE'] }, ({ warnings, dryrun, userinfo }) => {
      warnings.push(String(dryrun), userinfo.username ?? '');
    });
    on.mutate(
      Volume,
      {
        ...{ subresource: '*', persistent: true, sideEffects: true, ignoreFailures: true, timeoutSeconds: 5, param: 1 },
        namespaceSelector: { matchLabels: { env: 'prod' } },
        objectSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['web'] }] },
        matchConditions: [{ name: 'not-us', expression: 'request.userInfo.username != "us"' }],
        when: ({ operation, subresource, headers, sslpeer }) =>
          operation === 'CREATE' && !subresource && !headers && !sslpeer,
      },
      ({ spec, old, new: updated, param, name }) => {
        expectTypeOf(spec.size).toEqualTypeOf<string>();
        expectTypeOf(old?.spec?.size).toEqualTypeOf<string | undefined>();
        expectTypeOf(updated?.spec?.size).toEqualTypeOf<string | undefined>();
        expectTypeOf(param).toEqualTypeOf<number>();
        expectTypeOf(name).toEqualTypeOf<string | undefined>();
      },
    );
    // @ts-expect-error labels are not a selector
    on.validate(Volume, { objectSelector: { app: 'web' } }, () => {});
    // @ts-expect-error not an operator
    on.validate(Volume, { objectSelector: { matchExpressions: [{ key: 'app', operator: 'Is' }] } }, () => {});
    // @ts-expect-error a condition needs a name
    on.validate(Volume, { matchConditions: [{ expression: 'true' }] }, () => {});
    // @ts-expect-error there are no retries of admission
    on.validate(Volume, { timeout: 5 }, () => {});
    daemon(Volume, { cancellationBackoff: 5 }, async ({ stopped, signal }) => {
      expectTypeOf(stopped).toEqualTypeOf<AbortSignal>();
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
    });
    timer(Volume, { interval: 60, idle: 10, sharp: true }, async ({ spec, patch }) => {
      patch.status.phase = spec.size;
    });
    on.startup(({ settings }) => {
      settings.peering.priority = 5;
    });
  });

  it('options of another kind do not compile', () => {
    // @ts-expect-error a timer cannot have it
    timer(Volume, { cancellationTimeout: 5 }, () => {});
    // @ts-expect-error events are not retried
    on.event(Volume, { retries: 5 }, () => {});
    // @ts-expect-error filters are not waited for
    on.create(Volume, { when: async () => true }, () => {});
    // @ts-expect-error a creation has no old value
    on.create(Volume, { field: 'spec.size', old: '1Gi' }, () => {});
  });
});

describe('param', () => {
  async function ensure({ spec, reason, retry, param }: Change<typeof Volume, number>) {
    if (retry < param) throw new TemporaryError(`${reason}: not yet`, { delay: 10 });
    if (!spec.size) throw new PermanentError('The size must be set.');
  }
  it('is inferred from the options and checked against the function', () => {
    on.create(Volume, { param: 3 }, ensure);
    on.resume(Volume, { param: 0 }, ensure);
    // @ts-expect-error the function wants a number in `param`
    on.resume(Volume, { param: 'zero' }, ensure);
    // @ts-expect-error and it wants it in any case
    on.resume(Volume, ensure);
    // @ts-expect-error also with other options
    on.resume(Volume, { retries: 3 }, ensure);
    on.delete(Volume, { optional: true, retries: 5, backoff: 2, param: { a: 1 } }, async function release({ param }) {
      expectTypeOf(param).toEqualTypeOf<{ a: number }>();
    });
    on.update(Volume, ({ param }) => {
      expectTypeOf(param).toEqualTypeOf<undefined>();
    });
  });
});

describe('indices are typed by their functions', () => {
  it('by key and by value', () => {
    const byNode = index(Volume, { id: 'byNode' }, ({ spec, name }) => (spec.size ? { [spec.size]: name } : undefined));
    expectTypeOf(byNode).toEqualTypeOf<IndexRef<string, string>>();
    const ready = index(
      Volume,
      ({ namespace, name, status }) => new Map([[[namespace, name] as const, status.phase === 'Running']]),
    );
    expectTypeOf(ready).toEqualTypeOf<IndexRef<readonly [string | undefined, string], boolean>>();
    const all = index(Volume, async ({ spec }) => spec.replicas);
    expectTypeOf(all).toEqualTypeOf<IndexRef<null, number>>();
    const sets = index(Volume, ({ name }) => new Set([name]));
    expectTypeOf(sets).toEqualTypeOf<IndexRef<null, Set<string>>>();
    on.event('v1/nodes', ({ name, indices }) => {
      expectTypeOf(indices).toEqualTypeOf<Indices>();
      for (const volume of indices.get(byNode).get(name) ?? []) expectTypeOf(volume).toEqualTypeOf<string>();
      const [is] = indices.get(ready).get(['default', 'x']) ?? [];
      expectTypeOf(is).toEqualTypeOf<boolean | undefined>();
    });
  });
});

describe('classes, a typed memo, flattened indices', () => {
  interface MyEnv extends Env {
    memo: { db: { save(name: string): Promise<void> } };
    indices: { podsByNode: Index<string, string> };
  }
  const registry = createRegistry<MyEnv>();
  const named = ({ name }: { name: string }): string => name;

  it('methods are checked at their decorators', () => {
    class Volumes {
      readonly prefix = 'vol-';

      @registry.on.create(Volume, { retries: 3 })
      async provision({ name, memo, podsByNode }: Change<typeof Volume, undefined, MyEnv>) {
        expectTypeOf(podsByNode).toEqualTypeOf<Index<string, string>>();
        await memo.db.save(this.prefix + name);
      }

      @registry.daemon(Volume)
      async monitor({ stopped }: Daemon<typeof Volume, undefined, MyEnv>) {
        void stopped;
      }

      // @ts-expect-error a creation handler has no `stopped`
      @registry.on.create(Volume)
      async wrong({ stopped }: Daemon<typeof Volume, undefined, MyEnv>) {
        void stopped;
      }
    }
    expectTypeOf<Volumes>().toHaveProperty('provision');
    registry.on.create(Volume, { when: ({ podsByNode, name }) => podsByNode.has(name) }, function indexed() {});
    // @ts-expect-error the memo has no such thing
    registry.on.create(Volume, ({ memo }) => memo.cache);
    registry.on.create('x')(({ name }: { name: string }) => name);
    registry.on.create(Volume)(({ spec }) => expectTypeOf(spec.replicas).toEqualTypeOf<number>());
    expectTypeOf(registry.on.create('x')(named)).toEqualTypeOf(named);
  });

  it('an untyped memo is used freely', () => {
    expectTypeOf<DefaultEnv['memo']>().toBeAny();
    on.create('x', ({ memo }) => {
      memo.counter = 1;
    });
  });
});
