import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { TemporaryError } from '../../src/errors.js';
import { execute } from '../../src/execution/execute.js';
import type { HandlerState } from '../../src/execution/progress/handler-state.js';
import { State } from '../../src/execution/progress/state.js';
import type { AnyHandler } from '../../src/intents/handlers.js';
import { type Facts, facts } from '../../src/observing/facts.js';
import type { Fact, FactKind } from '../../src/seams/inspection/observer.js';
import { settings } from '../../src/settings.js';
import { indexingCause } from '../causation/make-causes.js';
import { changeHandler, changingCause } from './helpers.js';

const CALLS: readonly FactKind[] = ['call.began', 'call.returned', 'call.settled', 'call.ended'];

function recording(wants = CALLS) {
  const told: Fact[] = [];
  const clock = manualClock();
  const observer = { wants, observe: (fact: Fact) => void told.push(fact) };
  return { told, clock, facts: facts({ observers: [observer], operator: 'me', clock, logger: recordingLogger() }) };
}

type Recording = ReturnType<typeof recording>;

async function once(handler: AnyHandler, { clock, facts }: Pick<Recording, 'clock'> & { readonly facts: Facts }) {
  const state = State.fromScratch(clock).withHandlers([handler]).get(handler.id) as HandlerState;
  return await execute(handler, state, { cause: changingCause(), settings: settings(), clock, facts });
}

function promptly(fn: () => unknown, { clock, facts }: Recording, retries: number) {
  const handler: AnyHandler = { kind: 'index', id: 'fn', fn, param: undefined, retries: 2 };
  const attempt = { retries, started: clock.utc(), runtime: 0 };
  return execute(handler, attempt, { cause: indexingCause(), settings: settings(), clock, facts });
}

const kindsOf = (told: readonly Fact[]): readonly string[] => told.map(({ kind }) => kind);

describe('what is told of calls', () => {
  it('is told of the call, and last of all what became of it', async () => {
    const recorded = recording();
    await once(changeHandler({ id: 'fn', fn: async () => 'result' }), recorded);
    expect(kindsOf(recorded.told)).toEqual(CALLS);
    expect(recorded.told[0]).toMatchObject({
      handler: { id: 'fn', kind: 'change' },
      object: { name: 'name1' },
      retry: 0,
    });
    expect(recorded.told[3]).toMatchObject({
      outcome: 'succeeded',
      result: 'result',
      reason: 'create',
      operator: 'me',
    });
    expect(new Set(recorded.told.map((fact) => 'call' in fact && fact.call)).size).toBe(1);
  });

  it('has the duration of the call, the delay of the next one, and a number for each', async () => {
    const recorded = recording();
    const { clock } = recorded;
    const fn = async (): Promise<never> => {
      await clock.sleep(7);
      throw new TemporaryError('later', { delay: 5 });
    };
    const ended = once(changeHandler({ id: 'fn', fn }), recorded);
    await clock.advance(7);
    await ended;
    await once(changeHandler({ id: 'fn' }), recorded);
    const [first, second] = recorded.told.filter(({ kind }) => kind === 'call.ended');
    expect(first).toMatchObject({ outcome: 'retried', duration: 7, delay: 5, error: { message: 'later' } });
    expect(second).toMatchObject({ outcome: 'succeeded', duration: 0, delay: undefined, error: undefined });
    expect(first).not.toHaveProperty('call', second && 'call' in second ? second.call : undefined);
  });

  it('has errors, also of the synchronous functions', async () => {
    const recorded = recording(['call.ended']);
    const fn = () => {
      throw new TemporaryError('later');
    };
    await once(changeHandler({ id: 'fn', fn }), recorded);
    await promptly(fn, recorded, 0);
    expect(recorded.told).toMatchObject([
      { handler: { kind: 'change' }, retry: 0, error: { message: 'later' } },
      { handler: { kind: 'index' }, retry: 0, error: { message: 'later' } },
    ]);
  });

  it('has the order of synchronous calls, too', () => {
    const recorded = recording();
    void promptly(() => 'result', recorded, 0);
    expect(kindsOf(recorded.told)).toEqual(CALLS);
  });

  it('has handlers that are out of their attempts, and so are not called', async () => {
    const recorded = recording();
    await promptly(() => 'result', recorded, 2);
    expect(recorded.told).toMatchObject([
      { kind: 'call.ended', retry: 2, duration: 0, error: { message: "Indexer 'fn' has exceeded 2 retries." } },
    ]);
  });
});
