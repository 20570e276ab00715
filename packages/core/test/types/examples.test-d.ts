/** Operators as users would write them, with what exists so far: they compile, and what is wrong in them does not. */
import { annotationsDiffBaseStorage, annotationsProgressStorage, statusProgressStorage } from '@kopf-ts/storage';
import { describe, expectTypeOf, it } from 'vitest';
import * as core from '../../src/index.js';

const { on, daemon, timer, index } = core.getDefaultRegistry();
const Volume = core.resource<{ size: string; replicas: number }, { phase: string }>({
  group: 'example.com',
  version: 'v1',
  plural: 'volumes',
});

describe('a minimal operator', () => {
  it('needs no types', () => {
    on.create('kopfexamples', async ({ name, spec, logger }) => {
      logger.info(`And here we are! Creating ${name}: ${spec.field}`);
    });
  });
});

describe('one function for several causes', () => {
  it('is declared apart, with a parameter', () => {
    async function ensure({ spec, reason, retry, param }: core.Change<typeof Volume, number>) {
      if (retry < param) throw new core.TemporaryError(`${reason}: not yet`, { delay: 10 });
      if (!spec.size) throw new core.PermanentError('The size must be set.');
    }
    on.create(Volume, { param: 3 }, ensure);
    on.resume(Volume, { param: 0, errors: 'permanent', backoff: { min: 1, max: 60, jitter: 0.1 } }, ensure);
    // @ts-expect-error there is no such mode
    on.resume(Volume, { param: 0, errors: 'fatal' }, ensure);
    on.delete(Volume, { optional: true, retries: 5, backoff: 2 }, async function release({ name }) {
      expectTypeOf(name).toEqualTypeOf<string>();
    });
  });

  it('is filtered by labels, annotations, callbacks and their combinations', () => {
    on.create(
      'pods',
      {
        labels: { app: 'web', canary: core.ABSENT, tier: core.not((tier) => tier === 'test') },
        annotations: { note: (value) => value?.startsWith('x') ?? false },
        when: core.all([({ namespace }) => namespace !== 'kube-system', core.not(({ name }) => name === 'x')]),
      },
      async function tag({ patch }) {
        patch.metadata.labels['seen'] = 'yes';
      },
    );
    // @ts-expect-error a label is a text
    on.create('pods', { labels: { app: 5 } }, () => {});
    // @ts-expect-error null is neither presence nor absence
    on.create('pods', { labels: { app: null } }, () => {});
  });
});

describe('combinators of callbacks', () => {
  interface V1Pod {
    spec?: { nodeName?: string };
  }

  it('know what they combine, be the objects typed or not', () => {
    on.create('pods', { when: core.not(({ name }) => name === 'x') }, () => {});
    on.create(core.EVERYTHING, { when: core.none([({ name }) => name === 'x', ({ uid }) => uid === 'x']) }, () => {});
    on.create(
      (kind) => kind.group === 'g',
      { when: core.all([({ name }) => name === 'x']) },
      () => {},
    );
    on.event<V1Pod>('pods', { when: core.not(({ spec }) => spec.nodeName === 'x') }, ({ spec }) => spec.nodeName);
    on.create(
      Volume,
      { when: core.all([({ spec }) => spec.size === 'x', core.not(({ name }) => name === 'x')]) },
      () => {},
    );
    daemon('pods', { when: core.not(({ name }) => name === 'x'), param: 5 }, ({ param }) => param.toFixed());
    index('pods', { when: core.not(({ name }) => name === 'x') }, ({ name }) => name);
    on.create('pods', { when: core.not(({ name }) => name === 'x') })(() => {});
    // @ts-expect-error no such field
    on.create(Volume, { when: core.not(({ spec }) => spec.sise === 'x') }, () => {});
  });

  it('know the values that they are asked for', () => {
    const startsWithX = (value: string | undefined) => value?.startsWith('x') ?? false;
    on.create('pods', { labels: { tier: core.not((tier) => startsWithX(tier)) } }, () => {});
    on.create(
      Volume,
      { labels: { tier: core.any([(tier) => startsWithX(tier), (tier, { name }) => tier === name]) } },
      () => {},
    );
    on.field('pods', { field: 'spec.x', old: core.not((value) => value === 'x') }, ({ old }) => old);
    on.field(Volume, { field: 'spec.size', old: core.not((size) => startsWithX(size)) }, ({ old }) => old);
  });

  it('do not stand in the way of functions that are declared apart with types of their own', () => {
    const grow = ({ spec, param }: core.Change<typeof Volume, number>) => spec.size.repeat(param);
    on.update('volumes', { param: 5, when: core.not(({ name }) => name === 'x') }, grow);
    // @ts-expect-error the function wants a number in `param`
    on.update('volumes', { param: 'five' }, grow);
  });
});

describe('daemons and timers', () => {
  it('have their signals, and live views of the object', () => {
    daemon(
      Volume,
      { cancellationBackoff: 5, cancellationTimeout: 30 },
      async function monitor({ stopped, signal, spec, patch, logger }) {
        while (!stopped.aborted) {
          const answer = await fetch(`http://probe.local/${spec.size}`, { signal });
          patch.status.phase = answer.ok ? 'healthy' : 'failing';
          logger.debug('probed', { status: answer.status });
          expectTypeOf(await core.sleep(30, stopped)).toEqualTypeOf<number | undefined>();
        }
        if (stopped.reason instanceof core.DaemonStop) {
          expectTypeOf(stopped.reason.reasons).toEqualTypeOf<ReadonlySet<core.StopReason>>();
        }
      },
    );
    timer(Volume, { interval: 60, idle: 10, sharp: true }, async function resize({ spec, patch }) {
      patch.status.phase = spec.size;
    });
    timer(Volume, { initialDelay: ({ spec }) => spec.replicas }, () => {});
    // @ts-expect-error seconds are numbers
    timer(Volume, { interval: '60s' }, () => {});
  });
});

describe('children, sub-handlers, events', () => {
  it('have the object being handled as their implicit owner', () => {
    on.create(Volume, async function createFn({ spec, body, client }) {
      const claim = {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'data' },
        spec: { resources: { requests: { storage: spec.size } } },
      };
      core.adopt(claim);
      core.label([claim, undefined, [claim]], { labels: { a: 'b' }, nested: ['spec.template'], forced: true });
      core.harmonizeNaming(claim, { owner: body, strict: true });
      await client.request({
        method: 'POST',
        path: '/api/v1/namespaces/default/persistentvolumeclaims',
        body: claim,
      });
      for (let i = 0; i < spec.replicas; i++) {
        core.subhandler(`replica-${i}`, async ({ logger }) => logger.info(`replica ${i}`));
      }
      core.register(({ name }) => name, { id: 'named', retries: 3 });
      // @ts-expect-error no filters by fields here
      core.register(() => {}, { id: 'wrong', field: 'spec.size' });
      expectTypeOf(core.execute()).toEqualTypeOf<Promise<void>>();
      core.info(body, { reason: 'Provisioned', message: 'All is well.' });
      core.exception([body, claim], { error: new Error('boo') });
      // @ts-expect-error the type is mandatory
      core.event(body, { reason: 'Provisioned' });
    });
  });
});

describe('indices', () => {
  it('are typed by their functions, wherever they are used', () => {
    const bySize = index(Volume, { id: 'bySize' }, ({ spec, name }) => ({ [spec.size]: name }));
    on.probe(function sizesSeen({ indices }) {
      return indices.get(bySize).size;
    });
    on.event('v1/nodes', ({ name, indices, logger }) => {
      for (const volume of indices.get(bySize).get(name) ?? []) logger.info(volume.toUpperCase());
      // @ts-expect-error the keys are texts
      indices.get(bySize).get(5);
    });
  });
});

describe('settings and admission', () => {
  it('are set at the start', () => {
    on.startup(({ settings }) => {
      settings.admission.managed = 'volumes.example.com';
      settings.persistence.progressStorage = statusProgressStorage({ name: 'volumes' });
      // @ts-expect-error it is a progress storage
      settings.persistence.diffbaseStorage = statusProgressStorage();
      // @ts-expect-error there is no such level
      settings.posting.level = 'loud';
    });
    on.login(() => ({ server: 'https://cluster.local', token: 'x' }));
    on.login(() => undefined);
    // @ts-expect-error a connection needs a server
    on.login(() => ({ token: 'x' }));
  });

  it('review what is typed', () => {
    on.validate(Volume, { operations: ['CREATE', 'UPDATE'] }, function checkSize({ spec, dryrun, warnings }) {
      if (!/^\d+Gi$/.test(spec.size)) throw new core.AdmissionError('The size must be in Gi.', { code: 422 });
      if (dryrun) warnings.push('Only a dry run.');
    });
    on.mutate(Volume, function defaults({ patch }) {
      patch.spec.replicas = 1;
    });
    // @ts-expect-error there is no such operation
    on.mutate(Volume, { operations: ['PATCH'] }, function wrong() {});
    // @ts-expect-error reviews are not retried
    on.validate(Volume, { retries: 5 }, function wrong() {});
  });
});

interface Redis {
  get(key: string): Promise<string | null>;
  set(key: string, value: string): Promise<unknown>;
  del(key: string): Promise<unknown>;
}

describe('plugins', () => {
  it('can be a storage', () => {
    function redisProgressStorage(redis: Redis, { prefix = 'kopf' } = {}): core.ProgressStorage {
      const at = (uid: string | undefined, key: string) => `${prefix}:${uid}:${key}`;
      const { touch, clear } = annotationsProgressStorage();
      return {
        async fetch({ key, body }) {
          const text = await redis.get(at(body.metadata?.uid, key));
          return text ? (JSON.parse(text) as core.ProgressRecord) : undefined;
        },
        async store({ key, body, record }) {
          await redis.set(at(body.metadata?.uid, key), JSON.stringify(record));
        },
        async purge({ key, body }) {
          await redis.del(at(body.metadata?.uid, key));
        },
        touch,
        clear,
      };
    }
    expectTypeOf(redisProgressStorage).returns.toEqualTypeOf<core.ProgressStorage>();
    const given = (redis: Redis) =>
      core.settings({
        persistence: {
          finalizer: 'example.com/fin',
          consistencyTimeout: 5,
          progressStorage: redisProgressStorage(redis),
          diffbaseStorage: annotationsDiffBaseStorage({ prefix: 'example.com' }),
        },
      });
    expectTypeOf(given).returns.toEqualTypeOf<core.Settings>();
    // @ts-expect-error no such setting
    core.settings({ persistence: { finaliser: 'example.com/fin' } });
  });

  it('can be a tunnel', () => {
    const tunnel: core.WebhookServer = {
      async *serve({ review, signal, logger }) {
        logger.info('tunnel is up');
        expectTypeOf(review).toEqualTypeOf<core.ReviewFn>();
        yield { url: 'https://abc.tunnel.example' };
        await new Promise((done) => signal.addEventListener('abort', done, { once: true }));
      },
    };
    core.settings({ admission: { server: tunnel } });
  });

  it('can be a peering', () => {
    const alone: core.Peering = {
      join: ({ signal }) => new Promise((done) => signal.addEventListener('abort', () => done(), { once: true })),
    };
    expectTypeOf(alone.join).parameter(0).toEqualTypeOf<core.PeeringScope>();
  });
});
