import { describe, expect, it } from 'vitest';
import { type ChangeFacts, type ChangingReason, detectChange, isHandlingReason } from '../../src/intents/causes.js';
import { compareEssences } from '../../src/values/objects/comparison.js';
import { buildEssence, type Essence } from '../../src/values/objects/essence.js';
import { FINALIZER } from './make-causes.js';

const DELETED_AT = '2026-01-01T00:00:00Z';
const SAME: Essence = { spec: { field: 'value' } };
const OTHER: Essence = { spec: { field: 'other' } };

interface Situation {
  type?: string | null;
  deletionTimestamp?: string | null;
  finalizers?: string[];
  old?: Essence | undefined;
  initial?: boolean;
}

function detected({ type = 'MODIFIED', old, initial = false, ...metadata }: Situation) {
  const body = { metadata: { name: 'one', ...metadata }, spec: { field: 'value' } };
  const facts: ChangeFacts = {
    event: { type },
    body,
    finalizer: FINALIZER,
    comparison: compareEssences(old, buildEssence(body)),
    initial,
  };
  return detectChange(facts);
}

describe('the reason of a change', () => {
  it.each<[ChangingReason, string, Situation]>([
    ['gone', 'the last event', { type: 'DELETED', old: SAME }],
    ['gone', 'the last event of what was never handled', { type: 'DELETED' }],
    ['gone', 'the last event, not marked as deleted', { type: 'DELETED', finalizers: [FINALIZER], old: SAME }],
    [
      'gone',
      'the last event, with our finalizer still listed',
      { type: 'DELETED', deletionTimestamp: DELETED_AT, finalizers: [FINALIZER], old: SAME },
    ],
    ['gone', 'the last event of what is not yet resumed', { type: 'DELETED', old: SAME, initial: true }],
    ['free', 'deleted, held by nobody', { deletionTimestamp: DELETED_AT, old: SAME }],
    ['free', 'deleted, with an empty list of finalizers', { deletionTimestamp: DELETED_AT, finalizers: [], old: SAME }],
    ['free', 'deleted, held by others only', { deletionTimestamp: DELETED_AT, finalizers: ['other'], old: SAME }],
    [
      'free',
      'deleted and changed, held by others',
      { deletionTimestamp: DELETED_AT, finalizers: ['other'], old: OTHER },
    ],
    ['free', 'deleted before it was ever handled', { deletionTimestamp: DELETED_AT }],
    ['delete', 'deleted, held by us alone', { deletionTimestamp: DELETED_AT, finalizers: [FINALIZER], old: SAME }],
    [
      'delete',
      'deleted, held by us among others',
      { deletionTimestamp: DELETED_AT, finalizers: ['a', FINALIZER, 'b'], old: SAME },
    ],
    ['delete', 'deleted and changed', { deletionTimestamp: DELETED_AT, finalizers: [FINALIZER], old: OTHER }],
    ['delete', 'deleted before the creation was handled', { deletionTimestamp: DELETED_AT, finalizers: [FINALIZER] }],
    [
      'delete',
      'deleted, not yet resumed',
      { deletionTimestamp: DELETED_AT, finalizers: [FINALIZER], old: SAME, initial: true },
    ],
    ['create', 'never handled, not held', {}],
    ['create', 'never handled, held by us', { finalizers: [FINALIZER] }],
    ['create', 'never handled, found by listing', { type: null, initial: true }],
    ['create', 'never handled, the deletion is null', { deletionTimestamp: null }],
    ['resume', 'unchanged, found by listing', { type: null, old: SAME, initial: true }],
    ['resume', 'unchanged, not yet resumed', { type: 'MODIFIED', old: SAME, initial: true }],
    ['noop', 'unchanged', { old: SAME }],
    ['noop', 'unchanged, the deletion is null', { deletionTimestamp: null, finalizers: [FINALIZER], old: SAME }],
    ['update', 'changed', { old: OTHER }],
    ['update', 'changed while the operator was down', { type: null, old: OTHER, initial: true }],
    ['update', 'changed, the deletion is null', { deletionTimestamp: null, old: OTHER }],
    ['update', 'changed, by an event of an unknown type', { type: 'RENAMED', old: OTHER }],
    ['create', 'never handled, by an event of an unknown type', { type: 'RENAMED' }],
    ['update', 'was handled when it was empty', { old: {} }],
  ])('is %s: %s', (reason, _title, situation) => {
    expect(detected(situation).reason).toBe(reason);
  });

  it.each<[string, boolean, Situation]>([
    ['creation: an object that was never handled has nothing to be resumed', false, { type: null, initial: true }],
    ['resuming', true, { type: null, old: SAME, initial: true }],
    ['an update in the absence of the operator', true, { type: null, old: OTHER, initial: true }],
    ['an update in its presence', false, { old: OTHER }],
    [
      'a deletion in the absence of the operator',
      true,
      { deletionTimestamp: DELETED_AT, finalizers: [FINALIZER], old: SAME, initial: true },
    ],
    ['nothing at all', false, { old: SAME }],
  ])('says whether the object is yet to be resumed: %s', (_title, initial, situation) => {
    expect(detected(situation).initial).toBe(initial);
  });

  it.each<[ChangingReason, boolean]>([
    ['create', true],
    ['update', true],
    ['delete', true],
    ['resume', true],
    ['noop', false],
    ['free', false],
    ['gone', false],
  ])('calls the handlers, or only explains why they are not called: %s', (reason, isHandling) => {
    expect(isHandlingReason(reason)).toBe(isHandling);
  });

  it('is not confused by a strange object', () => {
    const body = JSON.parse('{"metadata": {"finalizers": "text", "deletionTimestamp": "2026-01-01T00:00:00Z"}}');
    const comparison = compareEssences(SAME, SAME);
    const facts = { event: { type: 'ADDED' }, body, finalizer: 'text', comparison, initial: false };
    expect(detectChange(facts).reason).toBe('free');
    expect(detectChange({ ...facts, body: {} }).reason).toBe('noop');
  });
});
