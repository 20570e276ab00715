import { describe, expect, it } from 'vitest';
import { type ChangingReason, detectChange } from '../../src/intents/causes.js';
import { createRegistry } from '../../src/intents/registration/registry.js';
import type { AnyObject } from '../../src/values/objects/body.js';
import { compareEssences } from '../../src/values/objects/comparison.js';
import { buildEssence } from '../../src/values/objects/essence.js';
import { changingCause, FINALIZER } from '../causation/make-causes.js';

const NONE = Symbol('no such field');

interface Situation {
  /** What was handled last; nothing for a new object. */
  was?: unknown;
  is: unknown;
  isDeleted?: boolean;
  isInitial?: boolean;
}

/** Goes the whole way: from the object to its essence, its change, its reason, its handlers. */
function called({ is, isDeleted = false, isInitial = false, ...rest }: Situation): [ChangingReason, string[]] {
  const { on, handlers } = createRegistry();
  const options = { field: 'spec.field' };
  on.create('kopfexamples', options, function create() {});
  on.update('kopfexamples', options, function update() {});
  on.delete('kopfexamples', options, function delete_() {});
  on.resume('kopfexamples', options, function resume() {});
  on.resume('kopfexamples', { ...options, deleted: true }, function resumeDeleted() {});
  on.field('kopfexamples', options, function field() {});
  const withField = (value: unknown) => ({ spec: value === NONE ? { other: 1 } : { field: value, other: 1 } });
  const deletion = isDeleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {};
  const body: AnyObject = { metadata: { finalizers: [FINALIZER], ...deletion }, ...withField(is) };
  const old = 'was' in rest ? withField(rest.was) : undefined;
  const new_ = buildEssence(body);
  const event = { type: isInitial ? null : 'MODIFIED' };
  const comparison = compareEssences(old, new_);
  const change = detectChange({ event, body, finalizer: FINALIZER, comparison, initial: isInitial });
  const cause = changingCause(body, { ...change, old, new: new_, diff: comparison.diff });
  return [change.reason, handlers.changing.select(cause).map(({ id }) => id.replace('/spec.field', ''))];
}

describe('who is called for a field', () => {
  it.each<[string, Situation, ChangingReason, string[]]>([
    ['created with the field, which counts as its change', { is: 'x' }, 'create', ['create', 'field']],
    ['created without it', { is: NONE }, 'create', []],
    ['found by listing, never handled', { is: 'x', isInitial: true }, 'create', ['create', 'field']],
    ['the field is changed', { was: 'x', is: 'y' }, 'update', ['update', 'field']],
    ['the field is added', { was: NONE, is: 'y' }, 'update', ['update', 'field']],
    ['the field is removed', { was: 'x', is: NONE }, 'update', ['update', 'field']],
    ['nothing is changed', { was: 'x', is: 'x' }, 'noop', []],
    [
      'changed while the operator was down',
      { was: 'x', is: 'y', isInitial: true },
      'update',
      ['update', 'resume', 'resumeDeleted', 'field'],
    ],
    ['resumed with the field', { was: 'x', is: 'x', isInitial: true }, 'resume', ['resume', 'resumeDeleted']],
    ['resumed without it', { was: NONE, is: NONE, isInitial: true }, 'resume', []],
    ['deleted with the field', { was: 'x', is: 'x', isDeleted: true }, 'delete', ['delete_']],
    ['deleted, but it had the field', { was: 'x', is: NONE, isDeleted: true }, 'delete', ['delete_', 'field']],
    ['deleted with the field changed', { was: 'x', is: 'y', isDeleted: true }, 'delete', ['delete_', 'field']],
    ['deleted without it', { was: NONE, is: NONE, isDeleted: true }, 'delete', []],
    ['deleted before it was handled', { is: 'x', isDeleted: true }, 'delete', ['delete_', 'field']],
    [
      'deleted while the operator was down',
      { was: 'x', is: 'x', isDeleted: true, isInitial: true },
      'delete',
      ['delete_', 'resumeDeleted'],
    ],
  ])('%s', (_title, situation, reason, ids) => {
    expect(called(situation)).toEqual([reason, ids]);
  });
});

describe('an update beside the field', () => {
  it('calls nobody who waits for the field to change', () => {
    const { on, handlers } = createRegistry();
    on.update('kopfexamples', { field: 'spec.field' }, function update() {});
    on.field('kopfexamples', { field: 'spec.field' }, function field() {});
    on.update('kopfexamples', function anyUpdate() {});
    const [old, new_] = [{ spec: { field: 1, other: 1 } }, { spec: { field: 1, other: 2 } }];
    const selected = handlers.changing.select(changingCause(undefined, { old, new: new_ }));
    expect(selected.map(({ id }) => id)).toEqual(['anyUpdate']);
  });
});
