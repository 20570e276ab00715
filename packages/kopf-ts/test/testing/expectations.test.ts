/** What tests can expect of an operator as a whole: that it comes to rest, and that its handlers can be called twice. */
import { type AddressInfo, createServer } from 'node:net';
import * as kopf from 'kopf-ts';
import { type OperatorRunner, operatorRunner, type TestCluster, testCluster } from 'kopf-ts/testing';
import { describe, expect, it, onTestFinished } from 'vitest';

const DEFINITIONS = [
  { group: 'kopf.dev', plural: 'kopfexamples', kind: 'KopfExample' },
  { group: 'kopf.dev', plural: 'children', kind: 'Child' },
];

async function started(
  declare: (registry: kopf.Registry) => void,
  options: kopf.OperatorOptions = {},
): Promise<{ cluster: TestCluster; runner: OperatorRunner; create(name: string, fields?: object): Promise<void> }> {
  const cluster = await testCluster({ define: DEFINITIONS });
  onTestFinished(() => cluster.stop());
  const registry = kopf.createRegistry();
  declare(registry);
  const runner = await operatorRunner({ cluster, registry, ...options });
  onTestFinished(() => runner.stop());
  await runner.ready;
  return {
    cluster,
    runner,
    async create(name, fields = {}) {
      const metadata = { name, namespace: 'default' };
      await cluster.create({ apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata, ...fields });
      await runner.settled();
    },
  };
}

const messageOf = async (promise: Promise<unknown>): Promise<string> => {
  const error = await promise.then(
    () => new Error('nothing is wrong'),
    (thrown: Error) => thrown,
  );
  return error.message;
};

describe('an operator at rest', () => {
  it('does nothing until something changes, and then is at rest again', async () => {
    const calls: string[] = [];
    const { runner, cluster, create } = await started(({ on }) => {
      on.create('kopfexamples', { id: 'made' }, ({ patch }) => {
        calls.push('made');
        patch.status.phase = 'ready';
      });
      on.update('kopfexamples', { id: 'edited' }, () => void calls.push('edited'));
    });
    await runner.expectQuiescent();
    await create('one');
    await runner.expectQuiescent();
    await cluster.patch('kopfexamples/default/one', { spec: { size: 2 } });
    await runner.expectQuiescent({ during: 3600 });
    expect(calls).toEqual(['made', 'edited']);
  });

  it('is not one that calls handlers again, and it is told which and why', async () => {
    const { runner, create } = await started(({ on }) => {
      on.create('kopfexamples', { id: 'later' }, ({ retry }) => {
        if (retry < 3) throw new kopf.TemporaryError('not yet', { delay: 60 });
      });
    });
    await create('one');
    const message = await messageOf(runner.expectQuiescent());
    expect(message).toContain('The operator is not at rest');
    expect(message).toContain("the change handler 'later' of KopfExample default/one was called (retry 1), after 60 s");
    expect(message).toMatch(/Why, .*default\/one:\n/);
    await runner.eventually(() => expect(runner.outcomes.of({ handler: 'later', how: 'succeeded' })).toHaveLength(1), {
      timeout: 300,
    });
    await runner.expectQuiescent();
  });

  it('does not wait for retries that come later than anybody looks', async () => {
    const { runner, create } = await started(({ on }) => {
      on.create('kopfexamples', { id: 'later' }, () => {
        throw new kopf.TemporaryError('not today', { delay: 7200 });
      });
    });
    await create('one');
    const message = await messageOf(runner.expectQuiescent({ during: 10 }));
    expect(message).toContain('KopfExample default/one waits for the next attempts of its handlers');
    expect(message).toMatch(/'later' is waiting for a retry .* the next one is in 2 h/);
  });

  it('is not one whose handlers quarrel, or answer themselves', async () => {
    const { runner, create } = await started(({ on }) => {
      on.event('kopfexamples', { id: 'restless' }, ({ patch, body }) => {
        const beats = Number(body.metadata?.annotations?.['beats'] ?? 0);
        if (beats < 500) patch.metadata.annotations['beats'] = String(beats + 1);
      });
    });
    await create('one');
    expect(await messageOf(runner.expectQuiescent())).toMatch(/default\/one was (called|patched)/);
  });

  it('can have timers, if these are left out', async () => {
    const { runner, create } = await started(({ timer }) => {
      timer('kopfexamples', { id: 'tick', interval: 60 }, ({ patch }) => {
        patch.status.tick = Math.random();
      });
    });
    await create('one');
    const message = await messageOf(runner.expectQuiescent());
    expect(message).toContain("the timer handler 'tick' of KopfExample default/one was called, after 60 s");
    expect(message).toContain('{ except: […] }');
    await runner.expectQuiescent({ except: ['tick'] });
  });
});

describe('handlers that can be called twice', () => {
  it('change nothing by that', async () => {
    const calls: string[] = [];
    const { runner, cluster, create } = await started(({ on }) => {
      on.create('kopfexamples', { id: 'made' }, async ({ api, patch, name }) => {
        calls.push('made');
        await api('children').apply({ metadata: { name: `${name}-child` } });
        patch.status.child = `${name}-child`;
      });
      on.update('kopfexamples', { id: 'edited', field: 'spec.size' }, ({ patch, old, new: now }) => {
        calls.push(`edited ${old} to ${now}`);
        patch.status.size = now;
      });
    });
    await create('one', { spec: { size: 1 } });
    const before = cluster.get('kopfexamples/default/one');
    await runner.expectIdempotent();
    expect(calls).toEqual(['made', 'made']);
    expect(cluster.get('kopfexamples/default/one')?.status).toEqual(before?.status);

    // It goes on afterwards, and another change is repeated as that change.
    await cluster.patch('kopfexamples/default/one', { spec: { size: 2 } });
    await cluster.clock.advance(1);
    await runner.settled();
    expect(calls.slice(2)).toEqual(['edited 1 to 2']);
    await runner.expectIdempotent();
    expect(calls.slice(3)).toEqual(['edited 1 to 2']);
    await runner.expectQuiescent();
  });

  it.each<[string, (registry: kopf.Registry) => void, RegExp]>([
    [
      'write another value each time',
      ({ on }) => {
        let count = 0;
        on.create('kopfexamples', { id: 'fn' }, ({ patch }) => {
          patch.status.count = ++count;
        });
      },
      /KopfExample default\/one: status\.count was 1, and is 2/,
    ],
    [
      'create another child each time',
      ({ on }) => {
        on.create('kopfexamples', { id: 'fn' }, async ({ api }) => {
          await api('children').create({ metadata: { generateName: 'child-' } });
        });
      },
      /Child default\/child-\w+ was created/,
    ],
    [
      'fail because the child is there already',
      ({ on }) => {
        on.create('kopfexamples', { id: 'fn' }, async ({ api }) => {
          await api('children').create({ metadata: { name: 'child' } });
        });
      },
      /the handler 'fn' of KopfExample default\/one has to be retried: .*already exists/,
    ],
    [
      'delete what was there',
      ({ on }) => {
        on.create('kopfexamples', { id: 'fn' }, async ({ api }) => {
          const child = await api('children').find('child');
          if (child === undefined) await api('children').create({ metadata: { name: 'child' } });
          else await api('children').delete('child');
        });
      },
      /Child default\/child was deleted/,
    ],
    [
      'change what is not theirs',
      ({ on }) => {
        on.create('kopfexamples', { id: 'fn' }, async ({ api }) => {
          const found = await api('children').find('child');
          const spec = { times: (found?.['spec']?.times ?? 0) + 1 };
          await api('children').apply({ metadata: { name: 'child' }, spec });
        });
      },
      /Child default\/child: spec\.times was 1, and is 2/,
    ],
  ])('are not those that %s', async (_title, declare, expected) => {
    const { runner, create } = await started(declare);
    await create('one');
    const message = await messageOf(runner.expectIdempotent());
    expect(message).toMatch(/^The handlers are not idempotent\./);
    expect(message).toMatch(expected);
    expect(message).toContain("Called again: 'fn' of KopfExample default/one.");
    expect(message).toMatch(/Why, .*default\/one:\n/);
  });

  it('have to be called at least once', async () => {
    const { runner } = await started(({ on }) => void on.create('kopfexamples', () => {}));
    await expect(runner.expectIdempotent()).rejects.toThrow(/No handler was called again/);
  });

  it('are called with the settings and the storages of the operator, which stay as they are', async () => {
    const given = kopf.settings({ persistence: { finalizer: 'example.com/given' } });
    const storage = kopf.storage.annotationsDiffBaseStorage({ prefix: 'example.com' });
    let count = 0;
    const { runner, create } = await started(
      ({ on }) => {
        on.startup(({ settings }) => {
          settings.persistence.diffbaseStorage = storage;
        });
        on.create('kopfexamples', { id: 'fn' }, () => {
          count += 1;
        });
      },
      { settings: given },
    );
    await create('one');
    await runner.expectIdempotent();
    expect(count).toBe(2);
    expect(given.persistence.diffbaseStorage).toBe(storage);
    await runner.expectQuiescent();
  });
});

it('are called by an operator that serves nothing', async () => {
  const [given, endpoint] = [kopf.settings(), await freeAddress()];
  const { runner, create } = await started(({ on }) => void on.create('kopfexamples', { id: 'fn' }, () => {}), {
    settings: given,
    metrics: endpoint,
  });
  await create('one');
  await runner.expectIdempotent();
  expect(given.metrics.endpoint).toBe(endpoint);
  expect((await fetch(endpoint)).status).toBe(200);
});

async function freeAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}/metrics`;
}

describe('why', () => {
  it('is told of an object by its name, or by itself', async () => {
    const { runner, cluster, create } = await started(({ on }) => {
      on.create('kopfexamples', { id: 'filtered', labels: { wanted: 'yes' } }, () => {});
      on.create('kopfexamples', { id: 'fn' }, () => {});
    });
    await create('one');
    const told = runner.why('kopfexamples/default/one');
    expect(told).toMatch(/'?filtered'?.*label/);
    const object = cluster.get('kopfexamples/default/one') as kopf.Body;
    const named = { resource: 'kopfexamples.kopf.dev', namespace: 'default', name: 'one' };
    for (const target of [object, named]) {
      expect(runner.why(target).split('\n').slice(1)).toEqual(told.split('\n').slice(1));
    }
    expect(runner.why('kopfexamples/default/two')).toBe('Nothing is known of kopfexamples two.');
  });

  it('is in the failures of those who wait in vain', async () => {
    const { runner, create } = await started(({ on }) => {
      on.create('kopfexamples', { id: 'fn' }, () => {
        throw new kopf.PermanentError('There is no disk.');
      });
    });
    await create('one');
    const failing = runner.eventually(() => expect('waiting').toBe('done'), { timeout: 5 });
    const message = await messageOf(failing);
    expect(message).toMatch(/^expected 'waiting' to be 'done'/);
    expect(message).toContain('There is no disk.');
  });
});
