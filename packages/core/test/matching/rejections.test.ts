import { describe, expect, it, vi } from 'vitest';
import type { ChangingCause } from '../../src/intents/causes.js';
import { ABSENT, PRESENT } from '../../src/intents/filters.js';
import { isInScope } from '../../src/intents/interests.js';
import { createRegistry } from '../../src/intents/registration/registry.js';
import type { Rejection } from '../../src/seams/inspection/observer.js';
import { changingCause, someBody, watchingCause, webhookCause } from '../causation/make-causes.js';

type Considered = readonly [string, Rejection | undefined];

/** What is told when handlers are selected; whoever is selected must be the same as if nobody asked. */
function considering<C>(
  of: { select(cause: C, options?: object): readonly { readonly id: string }[] },
  cause: C,
  excluded?: ReadonlySet<string>,
): readonly Considered[] {
  const told: Considered[] = [];
  const onConsidered = ({ id }: { id: string }, rejection: Rejection | undefined) => void told.push([id, rejection]);
  expect(of.select(cause, { excluded, onConsidered })).toEqual(of.select(cause, { excluded }));
  return told;
}

function changeHandlers(options: object, kind: 'create' | 'update' | 'delete' | 'resume' | 'field' = 'update') {
  const { on, handlers } = createRegistry();
  (on[kind] as (...args: unknown[]) => void)('kopfexamples', options, function fn() {});
  return handlers.changing;
}

const labelled = { ...someBody, metadata: { ...someBody.metadata, labels: { app: 'one' }, annotations: { a: 'b' } } };
const update = (old: object = {}, new_: object = {}): ChangingCause =>
  changingCause(labelled, { reason: 'update', old, new: new_ });
const isNever = (): boolean => false;

describe('why a handler does not want a change', () => {
  it.each<[string, object, Rejection]>([
    [
      'another label',
      { labels: { app: 'two' } },
      { filter: 'labels', path: ['metadata', 'labels', 'app'], wanted: 'two', found: 'one' },
    ],
    [
      'a label that is absent',
      { labels: { app: 'one', tier: PRESENT } },
      { filter: 'labels', path: ['metadata', 'labels', 'tier'], wanted: PRESENT, found: undefined },
    ],
    [
      'an annotation that is there',
      { annotations: { a: ABSENT } },
      { filter: 'annotations', path: ['metadata', 'annotations', 'a'], wanted: ABSENT, found: 'b' },
    ],
    [
      'a callback on a label',
      { labels: { app: isNever } },
      { filter: 'labels', path: ['metadata', 'labels', 'app'], wanted: isNever, found: 'one' },
    ],
    [
      'a field that is absent',
      { field: 'spec.none' },
      { filter: 'field', path: ['spec', 'none'], wanted: PRESENT, found: undefined },
    ],
    [
      'another value of the field',
      { field: 'spec.size', value: 5 },
      { filter: 'value', path: ['spec', 'size'], wanted: 5, found: 2 },
    ],
    ['a field that is as it was', { field: 'spec.same' }, { filter: 'change', path: ['spec', 'same'], found: 'x' }],
    ['an old value', { field: 'spec.size', old: 7 }, { filter: 'old', path: ['spec', 'size'], wanted: 7, found: 1 }],
    [
      'a new value',
      { field: 'spec.size', old: 1, new: 7 },
      { filter: 'new', path: ['spec', 'size'], wanted: 7, found: 2 },
    ],
    ['a condition', { when: isNever }, { filter: 'when', wanted: isNever }],
    ['the first of several', { labels: { app: 'two' }, when: isNever }, expect.objectContaining({ filter: 'labels' })],
  ])('%s', (_, options, rejection) => {
    const cause = update({ spec: { size: 1, same: 'x' } }, { spec: { size: 2, same: 'x' } });
    expect(considering(changeHandlers(options), cause)).toEqual([[expect.any(String), rejection]]);
  });

  it('is its reason', () => {
    const rejection: Rejection = { filter: 'reason', wanted: 'delete', found: 'update' };
    expect(considering(changeHandlers({}, 'delete'), update())).toEqual([['fn', rejection]]);
  });

  it('is that the object is not resumed', () => {
    const rejection: Rejection = { filter: 'reason', wanted: 'resume', found: 'update' };
    expect(considering(changeHandlers({}, 'resume'), update())).toEqual([['fn', rejection]]);
  });

  it('is that the object is being deleted', () => {
    const body = { ...someBody, metadata: { ...someBody.metadata, deletionTimestamp: '2020-01-01T00:00:00Z' } };
    const cause = changingCause(body, { reason: 'delete', initial: true });
    const rejection: Rejection = { filter: 'deleted', wanted: false, found: true };
    expect(considering(changeHandlers({}, 'resume'), cause)).toEqual([['fn', rejection]]);
    expect(considering(changeHandlers({ deleted: true }, 'resume'), cause)).toEqual([['fn', undefined]]);
  });

  it('is that it has finished', () => {
    expect(considering(changeHandlers({}), update(), new Set(['fn']))).toEqual([['fn', { filter: 'finished' }]]);
  });

  it('is nothing if it does', () => {
    expect(considering(changeHandlers({ labels: { app: 'one' } }), update())).toEqual([['fn', undefined]]);
  });

  it('is told of each handler, in order', () => {
    const { on, handlers } = createRegistry();
    on.update('kopfexamples', { id: 'one', labels: { app: 'two' } }, () => {});
    on.update('kopfexamples', { id: 'two' }, () => {});
    on.update('others', { id: 'three' }, () => {});
    on.update('kopfexamples', { id: 'four', when: isNever }, () => {});
    const told = considering(handlers.changing, update());
    expect(told.map(([id, rejection]) => [id, rejection?.filter])).toEqual([
      ['one', 'labels'],
      ['two', undefined],
      ['four', 'when'],
    ]);
  });

  it('is not a reason to ask a callback twice', () => {
    const when = vi.fn(() => false);
    changeHandlers({ when }).select(update(), { onConsidered: () => {} });
    expect(when).toHaveBeenCalledTimes(1);
  });

  it('is not told if a filter fails', () => {
    const told = vi.fn();
    const when = (): never => {
      throw new Error('boo');
    };
    const { on, handlers } = createRegistry();
    on.update('kopfexamples', { id: 'one' }, () => {});
    on.update('kopfexamples', { id: 'two', when }, () => {});
    expect(() => handlers.changing.select(update(), { onConsidered: told })).toThrow('boo');
    expect(told).not.toHaveBeenCalled();
  });
});

describe('why an object is out of scope', () => {
  const { on, handlers } = createRegistry();
  on.update('kopfexamples', { id: 'one', labels: { app: 'two' } }, () => {});
  on.update('kopfexamples', { id: 'two', when: ({ name }) => name === 'served' }, () => {});

  it('is told of all handlers', () => {
    const told: Considered[] = [];
    expect(isInScope(handlers, update(), ({ id }, why) => void told.push([id, why]))).toBe(false);
    expect(told.map(([id, why]) => [id, why?.filter])).toEqual([
      ['one', 'labels'],
      ['two', 'when'],
    ]);
  });

  it('is not told if it is in scope', () => {
    const told = vi.fn();
    const body = { ...labelled, metadata: { ...labelled.metadata, name: 'served' } };
    expect(isInScope(handlers, changingCause(body), told)).toBe(true);
    expect(told).not.toHaveBeenCalled();
  });
});

describe('why other handlers are not called', () => {
  it('is told of handlers of events, too', () => {
    const { on, handlers } = createRegistry();
    on.event('kopfexamples', { id: 'fn', field: 'spec.none' }, () => {});
    expect(considering(handlers.watching, watchingCause())).toEqual([
      ['fn/spec.none', { filter: 'field', path: ['spec', 'none'], wanted: PRESENT, found: undefined }],
    ]);
  });

  it.each<[string, object, object, Rejection]>([
    ['its kind', {}, { reason: 'mutating' }, { filter: 'reason', wanted: 'validating', found: 'mutating' }],
    ['its id', {}, { webhook: 'other' }, { filter: 'webhook', wanted: 'fn', found: 'other' }],
    [
      'its operations',
      { operations: ['CREATE'] },
      { operation: 'UPDATE' },
      { filter: 'operation', wanted: ['CREATE'], found: 'UPDATE' },
    ],
    [
      'its subresource',
      { subresource: 'status' },
      { subresource: 'scale' },
      { filter: 'subresource', wanted: 'status', found: 'scale' },
    ],
  ])('of admission by %s', (_, options, overrides, rejection) => {
    const { on, handlers } = createRegistry();
    on.validate('kopfexamples', { id: 'fn', ...options }, () => {});
    const cause = webhookCause(someBody, { reason: undefined, webhook: undefined, ...overrides });
    expect(considering(handlers.webhooks, cause)).toEqual([['fn', rejection]]);
  });
});
