import { type ControlledObject, PermanentError, TemporaryError } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { type Look, type Shown, shown } from '../support/shown.js';
import { HANDLER, objectOf, SECRETS, type UntoldFact } from '../support/told.js';

const object = objectOf('one');

function ended(outcome: 'succeeded' | 'retried' | 'failed', more: Partial<UntoldFact> = {}): UntoldFact {
  const error = { succeeded: undefined, retried: new TemporaryError('not yet'), failed: new PermanentError('never') }[
    outcome
  ];
  return {
    kind: 'call.ended',
    call: 1,
    handler: HANDLER,
    object,
    reason: 'create',
    outcome,
    error,
    retry: 0,
    duration: 1,
    ...more,
  } as UntoldFact;
}

const cause = (reason: string): UntoldFact =>
  ({ kind: 'object.cause', object, reason, paths: [['spec']], version: '1' }) as never;
const phase = (now: string, before: string): UntoldFact =>
  ({ kind: 'object.phase', object, phase: now, before }) as never;

async function stateAfter(facts: readonly UntoldFact[], controlled: Partial<ControlledObject> = {}) {
  const place: Shown = shown();
  place.has('one', controlled);
  for (const fact of facts) place.tell(fact);
  const look: Look = await place.look();
  const [row] = look.last.objects?.items ?? [];
  await look.leave();
  return { state: row?.state, message: row?.message };
}

describe('The state of an object', () => {
  it.each<[string, Partial<ControlledObject>, readonly UntoldFact[], string, string?]>([
    ['nothing is left to do', {}, [], 'done'],
    ['it has daemons', { daemons: ['d'] }, [], 'daemons'],
    ['it is being handled', { phase: 'running' }, [], 'running'],
    ['it waits for its turn', { phase: 'queued' }, [], 'waiting'],
    ['it waits for later', { phase: 'waiting' }, [], 'waiting'],
    [
      'it is paused, whatever else there is',
      { isPaused: true, phase: 'waiting' },
      [ended('failed')],
      'paused',
      'never',
    ],
    ['a handler is to be retried', { phase: 'waiting' }, [ended('retried')], 'retrying', 'not yet'],
    ['a handler has failed for good', {}, [ended('failed')], 'failed', 'never'],
    ['a handler has succeeded in the end', {}, [ended('retried'), ended('succeeded')], 'done'],
    ['the failure was of a change before', {}, [cause('create'), ended('failed'), cause('update')], 'done'],
    ['the change is over, and the failure is not', {}, [ended('failed'), phase('idle', 'running')], 'failed', 'never'],
    [
      'a change after the failed one is the next one',
      {},
      [cause('update'), ended('failed', { reason: 'update' } as never), phase('idle', 'running'), cause('update')],
      'done',
    ],
    [
      'nothing of it counts when it was a review',
      {},
      [ended('failed', { handler: { id: 'v', kind: 'webhook' } })],
      'done',
    ],
    [
      'the operator itself has failed with it',
      { phase: 'waiting' },
      [{ kind: 'object.failed', object, error: new Error('broken'), delay: 1 } as never],
      'retrying',
      'broken',
    ],
  ])('%s', async (_, controlled, facts, state, message) => {
    expect(await stateAfter(facts, controlled)).toEqual({ state, message });
  });

  it('says nothing of Secrets but the kinds of their errors', async () => {
    const place = shown();
    const secret = objectOf('one', SECRETS);
    place.has('one', { object: secret });
    place.tell(ended('failed', { object: secret, error: new PermanentError('the password is hunter2') } as never));
    const look = await place.look('atResource=secrets&atNamespace=default&atName=one');
    expect(look.last.objects?.items[0]).toMatchObject({ state: 'failed', message: 'PermanentError' });
    expect(look.pieces.join()).not.toContain('hunter2');
    await look.leave();
  });

  it('is forgotten with the object', async () => {
    const place = shown();
    place.has('one');
    place.tell(ended('failed'));
    place.tell({ kind: 'object.gone', object });
    const look = await place.look();
    expect(look.last.objects?.counts).toMatchObject({ failed: 0, done: 1 });
    await look.leave();
  });

  it('is told of very many, too, but of the oldest troubles not what they are', async () => {
    const place = shown();
    place.has('one');
    place.tell(ended('failed', { error: new PermanentError('first') } as never));
    for (let count = 0; count < 5000; count += 1) {
      place.tell(ended('failed', { object: objectOf(`n${count}`), error: new PermanentError('later') } as never));
    }
    place.has('n0');
    const look = await place.look();
    expect(look.last.objects?.items).toMatchObject([
      { name: 'one', state: 'failed' },
      { name: 'n0', state: 'failed', message: 'later' },
    ]);
    expect(look.pieces.join()).not.toContain('first');
    await look.leave();
  });
});
