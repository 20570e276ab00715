import { createRegistry, getDefaultRegistry, type KubeClient, type Settings, settings } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { manualClock, operatorRunner, recordingLogger } from '../../src/index.js';
import { fakeOperator } from './fake-operator.js';

const client = {} as KubeClient;

describe('an operator that is run is given', () => {
  it('the client and the clock of the cluster', async () => {
    const fake = fakeOperator();
    const clock = manualClock();
    await fake.run({ cluster: { client, clock } });
    expect(fake.given[0]).toMatchObject({ client, clock, clusterwide: true });
  });

  it('others, if there are any', async () => {
    const fake = fakeOperator();
    const own = { client: {} as KubeClient, clock: manualClock(), namespaces: ['default'], identity: 'me', own: 'own' };
    await fake.run({ cluster: { client, clock: manualClock() }, ...own, timeout: 1, reraise: false });
    const { client: givenClient, clock, ...others } = fake.given[0] ?? {};
    expect(givenClient).toBe(own.client);
    expect(clock).toBe(own.clock);
    expect(Object.keys(others).sort()).toEqual(['identity', 'logger', 'namespaces', 'observers', 'own', 'registry']);
    expect(others).toMatchObject({ namespaces: ['default'], identity: 'me', own: 'own' });
  });

  it('a name of its own, not to be taken for another one', async () => {
    const [one, two] = [fakeOperator(), fakeOperator()];
    await one.run();
    await two.run();
    expect(one.given[0]?.identity).not.toBe(two.given[0]?.identity);
  });

  it('a logger that remembers, prints, and also passes on to the one that was given', async () => {
    const fake = fakeOperator();
    const own = recordingLogger();
    const runner = await fake.run({ logger: own });
    fake.given[0]?.logger?.child({ a: 1 }).warn('Beware.', { b: 2 });
    fake.given[0]?.logger?.debug('Details.');
    const lines = [
      { level: 'warn', message: 'Beware.', fields: { a: 1, b: 2 } },
      { level: 'debug', message: 'Details.', fields: {} },
    ];
    expect(runner.logs.lines).toEqual(lines);
    expect(own.lines).toEqual(lines);
    expect(runner.output).toBe('[warn] Beware.\n[debug] Details.\n');
  });

  it('the default registry, if there are no handlers to load and no other registry', async () => {
    const fake = fakeOperator();
    await fake.run();
    expect(fake.given[0]?.registry).toBeUndefined();
  });
});

describe('handlers that are loaded', () => {
  const declare = (id: string) => () => {
    getDefaultRegistry().on.create('pods', { id }, () => {});
  };
  // biome-ignore lint/suspicious/noExplicitAny: registries of any environment
  const idsOf = (registry: any) => [...registry.handlers.changing].map(({ id }) => id);

  it('are declared in a new registry, and nowhere else', async () => {
    const fake = fakeOperator();
    const before = getDefaultRegistry();
    const runner = await fake.run({ handlers: declare('fn') });
    expect(idsOf(fake.given[0]?.registry)).toEqual(['fn']);
    expect(runner.registry).toBe(fake.given[0]?.registry);
    expect(getDefaultRegistry()).toBe(before);
    expect(idsOf(before)).toEqual([]);
  });

  it('are declared in the registry that is given', async () => {
    const fake = fakeOperator();
    const registry = createRegistry();
    await fake.run({ registry, handlers: declare('fn') });
    expect(fake.given[0]?.registry).toBe(registry);
    expect(idsOf(registry)).toEqual(['fn']);
  });

  it('do not get mixed up when loaded at the same time', async () => {
    const fakes = [fakeOperator(), fakeOperator()];
    const slowly = (fake: (typeof fakes)[0], id: string) => async () => {
      await fake.clock.sleep(0);
      declare(id)();
    };
    await Promise.all(fakes.map((fake, n) => fake.run({ handlers: slowly(fake, `fn${n}`) })));
    expect(fakes.map(({ given }) => idsOf(given[0]?.registry))).toEqual([['fn0'], ['fn1']]);
  });

  it('leave the default registry as it was, and others in peace, if they cannot be loaded', async () => {
    const before = getDefaultRegistry();
    const error = new Error('syntax');
    const broken = fakeOperator().run({ handlers: () => Promise.reject(error) });
    const fake = fakeOperator();
    const good = fake.run({ handlers: declare('fn') });
    await expect(broken).rejects.toBe(error);
    await good;
    expect(idsOf(fake.given[0]?.registry)).toEqual(['fn']);
    expect(getDefaultRegistry()).toBe(before);
  });
});

describe('what needs more of an operator', () => {
  it.each<[string, { settings?: () => Settings }, boolean, RegExp]>([
    ['settings', {}, true, /needs the `settings` of operators, and a client/],
    ['a client', { settings: () => settings() }, false, /needs the `settings` of operators, and a client/],
    ['a control', { settings: () => settings() }, true, /Only operators with a `control`/],
  ])('is refused without %s', async (_, parts, isConnected, expected) => {
    const operator = () => ({ ready: Promise.resolve(), done: new Promise<void>(() => {}), stop: async () => {} });
    const runner = await operatorRunner({ operator, clock: manualClock(), ...parts }, isConnected ? { client } : {});
    await expect(runner.expectIdempotent()).rejects.toThrow(expected);
    expect(runner.why('pods/default/web')).toBe('Nothing is known of pods web.');
  });
});
