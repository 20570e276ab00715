import { beforeAll, beforeEach, expect, it } from 'vitest';
import { describeOnClusters } from '../support/operators/clusters.js';
import type { TestKind } from '../support/operators/kinds.js';
import { eventually } from '../support/operators/operators.js';
import { program } from '../support/operators/programs.js';
import type { ProgramOptions } from './programs/operator-program.js';

const startProgram = program(new URL('programs/operator-program.ts', import.meta.url));

const secondsSince = (began: number): number => (performance.now() - began) / 1000;

describeOnClusters('processes with operators', (cluster) => {
  let things: TestKind;
  let namespace: string;
  beforeAll(async () => {
    things = await cluster().newKind();
  });
  beforeEach(async () => {
    namespace = await cluster().newNamespace();
  });

  const start = (name: ProgramOptions['program'], variant?: string) => {
    const { connection } = cluster();
    const options = { program: name, connection, selector: things.selector, namespace, variant };
    return startProgram(options);
  };
  const release = (name: string) => things.patch(namespace, name, { metadata: { finalizers: null } });

  it('killed in the middle of handling, are followed by others that do what is left, and only that', async () => {
    const killed = start('steps', 'hanging');
    await killed.says('started');
    await things.create(namespace, 'one');
    await killed.says('second');
    killed.kill('SIGKILL');
    expect(await killed.ended).toBe('SIGKILL');
    expect(killed.said.map((line) => line.split(' ')[0])).toEqual(['started', 'first', 'second']);
    const { annotations = {} } = (await things.get(namespace, 'one'))?.metadata ?? {};
    expect(JSON.parse(annotations['kopf.zalando.org/first'] ?? '{}')).toMatchObject({ success: true });

    const next = start('steps');
    await eventually(async () => {
      const { annotations = {} } = (await things.get(namespace, 'one'))?.metadata ?? {};
      expect(Object.keys(annotations)).toEqual(['kopf.zalando.org/last-handled-configuration']);
    });
    expect(next.said.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual(['started', 'second 0', 'third 0']);
    expect((await things.get(namespace, 'one'))?.['status']).toEqual({
      first: 'first is done',
      second: 'second is done',
    });
    next.kill('SIGTERM');
    expect(await next.ended, next.log).toBe(0);
  });

  it('end by themselves when their operators are stopped', async () => {
    const running = start('stopped');
    await running.says('ready');
    for (const name of ['one', 'two']) {
      await things.create(namespace, name);
      await running.says(`${name} is created`);
      await running.says(`${name} ticks`);
    }
    running.tell('stop');
    await running.says('stopped');
    const began = performance.now();
    expect(await running.ended, running.log).toBe(0);
    expect(secondsSince(began)).toBeLessThan(15);
    expect(running.said.slice(-3).sort()).toEqual(['one is left', 'stopped', 'two is left']);
    await release('one');
    await release('two');
  });

  it.each(['handler', 'daemon'])('end in time on a signal, even with a hanging %s', async (what) => {
    const running = start('hanging', what);
    await running.logs('Initial authentication has finished');
    await things.create(namespace, 'one');
    await running.says('hanging');
    const began = performance.now();
    running.kill('SIGTERM');
    const code = await running.ended;
    // What hangs is given some seconds; if it were waited for, it would take the whole time of 25 seconds.
    expect(secondsSince(began)).toBeLessThan(20);
    expect(running.said).toContain('cleaned up');
    expect(running.log).toContain('stuck');
    expect(code, running.log).toBe(0);
    await release('one');
  });

  it.each(['handler', 'daemon'])('end at once on the second signal, with a hanging %s', async (what) => {
    const running = start('hanging', what);
    await running.logs('Initial authentication has finished');
    await things.create(namespace, 'one');
    await running.says('hanging');
    running.kill('SIGTERM');
    await running.logs('Signal SIGTERM is received');
    const began = performance.now();
    running.kill('SIGTERM');
    expect(await running.ended, running.log).toBe(143);
    // At once, or as soon as a busy machine permits; the code tells that it was not by itself.
    expect(secondsSince(began)).toBeLessThan(4);
    await release('one');
  });

  it('end with 1 when a handler leaves an error behind, and name it', async () => {
    const running = start('stray');
    await running.logs('Initial authentication has finished');
    await things.create(namespace, 'one');
    expect(await running.ended, running.log).toBe(1);
    expect(running.log).toMatch(/'careless'.*Nobody catches this\./);
    expect(running.log).toContain(`${namespace}/one`);
    expect(running.said).toContain('cleaned up');
  });

  it('go on after such errors if they are told to', async () => {
    const running = start('stray', 'log');
    await running.logs('Initial authentication has finished');
    await things.create(namespace, 'one');
    await running.logs(/'careless'.*Nobody catches this\./);
    await things.create(namespace, 'two');
    await running.logs(`${namespace}/two`);
    running.kill('SIGTERM');
    expect(await running.ended, running.log).toBe(0);
  });
});
