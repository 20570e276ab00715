import type { Fact } from '@kopf-ts/core';
import { makeResource, type Outcome } from '@kopf-ts/core/engine';
import { describe, expect, it } from 'vitest';
import type { HandledCall } from '../../src/index.js';
import { fakeOperator } from './fake-operator.js';

function watched(id: string, name: string) {
  const resource = makeResource({ group: '', version: 'v1', plural: 'pods' });
  const object = { resource, kind: 'Pod', namespace: 'default', name, uid: `uid-of-${name}` };
  return { handler: { kind: 'watch', id }, object, reason: 'ADDED' } as const;
}

const SUCCESS: Outcome = { final: true, result: 'result', subrefs: [] };
const FAILURE: Outcome = { final: true, error: new Error('never'), subrefs: [] };
const RETRY: Outcome = { final: false, error: new Error('later'), delay: 5, subrefs: [] };

async function running() {
  const fake = fakeOperator();
  const runner = await fake.run();
  const [observer] = fake.given[0]?.observers ?? [];
  const judged = (call: ReturnType<typeof watched>, outcome: Outcome, retry: number): void => {
    const fact: Fact = {
      ...call,
      kind: 'call.ended',
      call: 1,
      outcome: 'result' in outcome ? 'succeeded' : outcome.final ? 'failed' : 'retried',
      result: 'result' in outcome ? outcome.result : undefined,
      error: 'error' in outcome ? outcome.error : undefined,
      delay: 'delay' in outcome ? outcome.delay : undefined,
      retry,
      duration: 0,
      operator: 'me',
      at: 0,
    };
    observer?.observe(fact);
  };
  return { fake, runner, judged };
}

describe('outcomes of an operator that is run', () => {
  it('are a list of what became of the handlers', async () => {
    const { runner, judged } = await running();
    judged(watched('a', 'one'), SUCCESS, 0);
    judged(watched('a', 'one'), FAILURE, 1);
    judged(watched('b', 'two'), RETRY, 2);
    const pod = { kind: 'Pod', namespace: 'default' };
    const common = { kind: 'watch', reason: 'ADDED', result: undefined, error: undefined, delay: undefined };
    const [one, two] = ['one', 'two'].map((name) => ({ ...common, object: { ...pod, name, uid: `uid-of-${name}` } }));
    expect(runner.outcomes).toEqual([
      { ...one, handler: 'a', retry: 0, how: 'succeeded', result: 'result' },
      { ...one, handler: 'a', retry: 1, how: 'failed', error: FAILURE.error },
      { ...two, handler: 'b', retry: 2, how: 'retried', error: RETRY.error, delay: 5 },
    ]);
    expect(runner.outcomes.of('a')).toEqual(runner.outcomes.slice(0, 2));
    expect(runner.outcomes.of({ how: 'retried', name: 'two' })).toEqual(runner.outcomes.slice(2));
    expect(runner.outcomes.of({ how: 'retried', name: 'one' })).toEqual([]);
  });

  it('come one by one, from the very first, until the operator ends', async () => {
    const { fake, runner, judged } = await running();
    const seen: string[] = [];
    judged(watched('a', 'one'), SUCCESS, 0);
    const reading = (async () => {
      for await (const { handler } of runner.outcomes) seen.push(handler);
      seen.push('the end');
    })();
    await fake.clock.settle();
    expect(seen).toEqual(['a']);
    judged(watched('b', 'one'), SUCCESS, 0);
    judged(watched('c', 'one'), SUCCESS, 0);
    await fake.clock.settle();
    expect(seen).toEqual(['a', 'b', 'c']);
    await runner.stop();
    await reading;
    expect(seen).toEqual(['a', 'b', 'c', 'the end']);
  });

  it('can be waited for, by what is known of them', async () => {
    const { runner, judged } = await running();
    judged(watched('a', 'one'), SUCCESS, 0);
    const next: Promise<HandledCall>[] = [
      runner.outcomes.next('a'),
      runner.outcomes.next({ handler: 'a', name: 'two', namespace: 'default' }),
      runner.outcomes.next({ handler: 'a', reason: 'ADDED', retry: 1 }),
    ];
    judged(watched('a', 'two'), FAILURE, 0);
    judged(watched('b', 'two'), SUCCESS, 1);
    judged(watched('a', 'one'), SUCCESS, 1);
    const found = await Promise.all(next);
    expect(found.map((call) => runner.outcomes.indexOf(call))).toEqual([0, 1, 3]);
  });

  it('are not waited for when they cannot come any more', async () => {
    const { runner, judged } = await running();
    const next = runner.outcomes.next({ handler: 'a', name: 'two' });
    next.catch(() => {});
    judged(watched('a', 'one'), SUCCESS, 0);
    await runner.stop();
    await expect(next).rejects.toThrow(
      'The operator ended without a call of {"handler":"a","name":"two"}. The calls were: a (one): succeeded.',
    );
  });
});
