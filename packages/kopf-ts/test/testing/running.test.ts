import { createRegistry, getDefaultRegistry, PermanentError, settings } from '@kopf-ts/core';
import { localCluster, manualClock, operatorRunner } from 'kopf-ts/testing';
import { describe, expect, it } from 'vitest';

const handlers = new URL('./handlers.ts', import.meta.url);

async function newCluster() {
  const clock = manualClock();
  const cluster = await localCluster({ clock, listen: false });
  await cluster.define({ group: 'kopf.dev', plural: 'kopfexamples', kind: 'KopfExample' });
  const create = (name: string) =>
    cluster.create({ apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata: { name, namespace: 'default' } });
  return Object.assign(cluster, { clock, createExample: create });
}

describe('an operator for the length of a test', () => {
  it('runs the handlers of a file on the embedded cluster and by its clock, and ends with the scope', async () => {
    await using cluster = await newCluster();
    const before = getDefaultRegistry();
    {
      await using runner = await operatorRunner({ cluster, handlers });
      await runner.ready;
      expect(runner.exitCode).toBeUndefined();
      await cluster.createExample('one');
      await runner.settled();
      expect(cluster.get('kopfexamples/default/one')).toMatchObject({ status: { greeting: 'Hello, one!' } });
    }
    expect(cluster.clock.sleepers).toBe(0);
    expect(getDefaultRegistry()).toBe(before);
    expect(before.handlers.changing.size).toBe(0);
  });

  it('loads the same file anew for each operator', async () => {
    await using cluster = await newCluster();
    for (const name of ['one', 'two']) {
      await using runner = await operatorRunner({ cluster, handlers });
      await runner.ready;
      await cluster.createExample(name);
      const { result } = await runner.outcomes.next({ handler: 'greet', name });
      expect(result).toEqual({ created: 1 });
    }
  });

  it('tells what became of each handler', async () => {
    await using cluster = await newCluster();
    await using runner = await operatorRunner({ cluster, handlers });
    await runner.ready;
    await cluster.createExample('one');
    await runner.settled();
    await cluster.patch('kopfexamples/default/one', { spec: { field: 'value' } });
    await runner.settled();
    await cluster.clock.advance(10);
    await runner.settled();
    await runner.stop();
    const told: unknown[] = [];
    for await (const { handler, reason, retry, how, error, delay } of runner.outcomes) {
      told.push([handler, reason, retry, how, error?.message, delay]);
    }
    expect(told).toEqual([
      ['greet', 'create', 0, 'succeeded', undefined, undefined],
      ['grumble', 'update', 0, 'retried', 'not now', 10],
      ['grumble', 'update', 1, 'failed', 'never', undefined],
    ]);
    expect(runner.outcomes[0]?.object).toMatchObject({ kind: 'KopfExample', namespace: 'default', name: 'one' });
  });

  it('has the output as it is printed, and the lines as they are logged', async () => {
    await using cluster = await newCluster();
    await using runner = await operatorRunner({ cluster, handlers });
    await runner.ready;
    await cluster.createExample('one');
    await runner.settled();
    expect(runner.output).toMatch(/\[DEBUG {3}\] \[default\/one\] Handler 'greet' is invoked\.\n/);
    expect(runner.logs.find("Handler 'greet' succeeded.")?.fields).toMatchObject({ object: { name: 'one' } });
    await runner.stop();
    expect([runner.exitCode, runner.exception]).toEqual([0, undefined]);
    expect(runner.output).toContain('Stop-flag is raised. Operator is stopping.');
  });

  it('takes the registry and the settings that are given', async () => {
    await using cluster = await newCluster();
    const registry = createRegistry();
    const given = settings({ persistence: { finalizer: 'example.com/given' } });
    registry.on.delete('kopfexamples', { id: 'd' }, () => {});
    await using runner = await operatorRunner({ cluster, handlers, registry, settings: given });
    await runner.ready;
    await cluster.createExample('one');
    await runner.settled();
    expect(runner.registry).toBe(registry);
    expect([...registry.handlers.changing].map(({ id }) => id)).toEqual(['d', 'greet', 'grumble']);
    expect(cluster.get('kopfexamples/default/one')).toMatchObject({
      metadata: { finalizers: ['example.com/given'] },
      status: { greeting: 'Hello, one!' },
    });
  });

  it('refuses to begin with handlers that cannot be loaded', async () => {
    await using cluster = await newCluster();
    const before = getDefaultRegistry();
    await expect(operatorRunner({ cluster, handlers: './no/such/file.js' })).rejects.toThrow('file.js');
    expect(getDefaultRegistry()).toBe(before);
  });

  it('throws at the end of the scope what the operator has failed with', async () => {
    await using cluster = await newCluster();
    const declare = () => {
      getDefaultRegistry().on.startup({ id: 's' }, () => {
        throw new PermanentError('There is no way.');
      });
    };
    const scope = async (reraise?: boolean) => {
      await using runner = await operatorRunner({ cluster, handlers: declare, reraise });
      await runner.settled();
      return runner;
    };
    await expect(scope()).rejects.toThrow('One or more handlers failed.');
    const { exitCode, exception } = await scope(false);
    expect(exitCode).toBe(1);
    expect(exception?.cause).toMatchObject({ message: 'There is no way.' });
  });
});
