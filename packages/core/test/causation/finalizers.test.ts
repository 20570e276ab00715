import { describe, expect, it } from 'vitest';
import { type BlockingDecision, type BlockingFacts, decideBlocking } from '../../src/intents/blocking.js';
import { mustBlockDeletion } from '../../src/intents/interests.js';
import { createRegistry } from '../../src/intents/registration/registry.js';
import { changingCause, pods, someBody, spawningCause } from './make-causes.js';

const [yes, no] = [true, false];

describe('what is done about our finalizer', () => {
  it.each<[BlockingDecision, string, boolean, boolean, boolean]>([
    ['block', 'it is wanted, absent, and in time', yes, no, no],
    ['nothing', 'it is wanted, absent, but it is too late', yes, no, yes],
    ['nothing', 'it is wanted and is there', yes, yes, no],
    ['release-when-done', 'it is wanted, is there, and the object is being deleted', yes, yes, yes],
    ['release', 'it is there for nothing', no, yes, no],
    ['release', 'it is there for nothing, and the object is being deleted', no, yes, yes],
    ['nothing', 'it is neither wanted nor there', no, no, no],
    ['nothing', 'it is neither wanted nor there, and the object is being deleted', no, no, yes],
  ])('%s: %s', (decision, _title, deletionMustBeBlocked, deletionIsBlocked, deletionIsOngoing) => {
    const facts: BlockingFacts = { deletionMustBeBlocked, deletionIsBlocked, deletionIsOngoing };
    expect(decideBlocking(facts)).toBe(decision);
  });
});

type Declaration = (registry: ReturnType<typeof createRegistry>) => void;

function isBlockedBy(declare: Declaration, foreverStopped?: ReadonlySet<string>): boolean {
  const registry = createRegistry();
  declare(registry);
  const interest = { spawning: spawningCause(), changing: changingCause() };
  return mustBlockDeletion(registry.handlers, foreverStopped ? { ...interest, foreverStopped } : interest);
}

function fn() {}

describe('the deletion has to wait', () => {
  it.each<[string, boolean, Declaration]>([
    ['no handlers', no, () => {}],
    ['a deletion handler', yes, ({ on }) => on.delete('kopfexamples', fn)],
    ['a deletion handler, explicitly mandatory', yes, ({ on }) => on.delete('kopfexamples', { optional: false }, fn)],
    ['an optional deletion handler alone', no, ({ on }) => on.delete('kopfexamples', { optional: true }, fn)],
    ['a deletion handler of another resource', no, ({ on }) => on.delete('pods', fn)],
    [
      'other change handlers',
      no,
      ({ on }) => [
        on.create('kopfexamples', fn),
        on.update('kopfexamples', fn),
        on.resume('kopfexamples', { deleted: true }, fn),
        on.field('kopfexamples', { field: 'spec' }, fn),
      ],
    ],
    [
      'handlers of events and indices',
      no,
      ({ on, index }) => [on.event('kopfexamples', fn), index('kopfexamples', fn)],
    ],
    ['webhooks', no, ({ on }) => [on.validate('kopfexamples', fn), on.mutate('kopfexamples', fn)]],
    [
      'a deletion handler with fitting labels',
      yes,
      ({ on }) => on.delete('kopfexamples', { labels: { app: 'web' } }, fn),
    ],
    ['a deletion handler with other labels', no, ({ on }) => on.delete('kopfexamples', { labels: { app: 'db' } }, fn)],
    [
      'a deletion handler with fitting annotations',
      yes,
      ({ on }) => on.delete('kopfexamples', { annotations: { note: 'x' } }, fn),
    ],
    [
      'a deletion handler with other annotations',
      no,
      ({ on }) => on.delete('kopfexamples', { annotations: { note: 'y' } }, fn),
    ],
    [
      'a deletion handler whose callback says yes',
      yes,
      ({ on }) => on.delete('kopfexamples', { when: () => true }, fn),
    ],
    ['a deletion handler whose callback says no', no, ({ on }) => on.delete('kopfexamples', { when: () => false }, fn)],
    [
      'a deletion handler for a field that is there',
      yes,
      ({ on }) => on.delete('kopfexamples', { field: 'spec.field' }, fn),
    ],
    [
      'a deletion handler for a field that is not there',
      no,
      ({ on }) => on.delete('kopfexamples', { field: 'spec.none' }, fn),
    ],
    [
      'a deletion handler for a fitting value',
      yes,
      ({ on }) => on.delete('kopfexamples', { field: 'spec.field', value: 'value' }, fn),
    ],
    [
      'a deletion handler for another value',
      no,
      ({ on }) => on.delete('kopfexamples', { field: 'spec.field', value: 'other' }, fn),
    ],
    [
      'one mandatory handler among those that are not',
      yes,
      ({ on }) => [
        on.delete('kopfexamples', { optional: true }, fn),
        on.create('kopfexamples', fn),
        on.delete('kopfexamples', { id: 'b' }, fn),
      ],
    ],
    ['a daemon', yes, ({ daemon }) => daemon('kopfexamples', fn)],
    ['a timer', yes, ({ timer }) => timer('kopfexamples', { interval: 1 }, fn)],
    ['a daemon of another resource', no, ({ daemon }) => daemon('pods', fn)],
    ['a daemon with other labels', no, ({ daemon }) => daemon('kopfexamples', { labels: { app: 'db' } }, fn)],
    [
      'a daemon for a field of the body',
      yes,
      ({ daemon }) => daemon('kopfexamples', { field: 'status.phase', value: 'ready' }, fn),
    ],
    ['a daemon whose callback says no', no, ({ daemon }) => daemon('kopfexamples', { when: () => false }, fn)],
  ])('for %s: %s', (_title, mustWait, declare) => {
    expect(isBlockedBy((registry) => void declare(registry))).toBe(mustWait);
  });

  it('not for daemons that have exited on their own', () => {
    const daemon: Declaration = (registry) => registry.daemon('kopfexamples', fn);
    const two: Declaration = (registry) => [daemon(registry), registry.timer('kopfexamples', { id: 'other' }, fn)];
    expect(isBlockedBy(daemon, new Set(['fn']))).toBe(false);
    expect(isBlockedBy(daemon, new Set(['other']))).toBe(true);
    expect(isBlockedBy(two, new Set(['fn']))).toBe(true);
    expect(isBlockedBy(two, new Set(['fn', 'other']))).toBe(false);
    expect(isBlockedBy((registry) => registry.on.delete('kopfexamples', fn), new Set(['fn']))).toBe(true);
  });

  it('not for handlers whose cause is dropped or does not exist', () => {
    const { on, daemon, handlers } = createRegistry();
    daemon('kopfexamples', fn);
    on.delete('kopfexamples', { id: 'other' }, fn);
    expect(mustBlockDeletion(handlers, {})).toBe(false);
    expect(mustBlockDeletion(handlers, { spawning: spawningCause() })).toBe(true);
    expect(mustBlockDeletion(handlers, { changing: changingCause() })).toBe(true);
    expect(mustBlockDeletion(handlers, { changing: changingCause(someBody, { resource: pods }) })).toBe(false);
  });

  it('for deletion handlers whatever has happened to the object, even if their field has not changed', () => {
    const { on, handlers } = createRegistry();
    on.delete('kopfexamples', { field: 'spec.field' }, fn);
    for (const reason of ['create', 'update', 'resume', 'noop', 'delete'] as const) {
      expect(mustBlockDeletion(handlers, { changing: changingCause(someBody, { reason }) })).toBe(true);
    }
    const gone = changingCause(someBody, { old: { spec: { field: 'was' } }, new: { spec: {} } });
    expect(mustBlockDeletion(handlers, { changing: gone })).toBe(true);
  });

  it('for handlers made in other ways as well, even if they are not for this change', () => {
    const { add, handlers } = createRegistry();
    const common = { kind: 'change', id: 'fn', fn, param: undefined } as const;
    add({ ...common, field: ['spec', 'field'], fieldNeedsChange: true, requiresFinalizer: true });
    expect(mustBlockDeletion(handlers, { changing: changingCause() })).toBe(true);
  });
});
