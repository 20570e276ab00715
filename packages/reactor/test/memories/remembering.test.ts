import { COPY } from '@kopf-ts/core';
import { objectKey } from '@kopf-ts/core/engine';
import { recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { allObjects } from '../../src/objects/all-objects.js';
import { NOTHING_KNOWN } from '../../src/objects/known.js';

const BODY = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod1', namespace: 'ns1', uid: 'uid1' } };

function remembering(memo?: unknown) {
  const clock = { now: 5 };
  const logger = recordingLogger();
  const all = allObjects({ memo, now: () => clock.now, logger });
  const of = (body: object = BODY, isListed = false) => all.of(body, { isListed });
  return { all, of, clock };
}

describe('What is remembered of an object', () => {
  it('is the same for all its events, whatever else changes in it', () => {
    const { of, all } = remembering();
    const memory = of();
    expect(of({ ...BODY, spec: { changed: true } })).toBe(memory);
    expect(all.find(BODY)).toBe(memory);
    expect(all.size).toBe(1);
  });

  it('is of its own for another object of the same name', () => {
    const { of, all } = remembering();
    expect(of({ ...BODY, metadata: { ...BODY.metadata, uid: 'uid2' } })).not.toBe(of());
    expect([...all].map(({ key }) => key)).toEqual(['uid2', 'uid1']);
  });

  it('is gone when forgotten: the next time, all begins anew', () => {
    const { of, all } = remembering();
    const memory = of();
    memory.noteWrite({ before: BODY, after: BODY, asked: undefined });
    all.forget(BODY);
    expect([all.size, all.find(BODY)]).toEqual([0, undefined]);
    expect(of().known).toBe(NOTHING_KNOWN);
    expect(of()).not.toBe(memory);
  });

  it.each([true, false])('tells whether it was listed at first: %s; and that never changes', (isListed) => {
    const { of } = remembering();
    expect(of(BODY, isListed).isNoticedByListing).toBe(isListed);
    expect(of(BODY, !isListed).isNoticedByListing).toBe(isListed);
  });

  it('begins its idleness when it is noticed', () => {
    const { of, clock } = remembering();
    clock.now = 7;
    expect(of().daemons.idleResetAt).toBe(7);
  });
});

describe('The memo of an object', () => {
  it('is empty, and of its own', () => {
    const { of } = remembering();
    expect(Object.keys(of().memo as object)).toEqual([]);
    expect(of({ metadata: { uid: 'another' } }).memo).not.toBe(of().memo);
  });

  it('is a shallow copy of that of the operator, as it is when the object is noticed', () => {
    const shared = { connection: 1 };
    const memo: Record<string, unknown> = { shared, own: 'before' };
    const { of } = remembering(memo);
    const first = of().memo as Record<string, unknown>;
    memo['own'] = 'after';
    first['added'] = true;
    expect(first).toEqual({ shared, own: 'before', added: true });
    expect(first['shared']).toBe(shared);
    expect(of({ metadata: { uid: 'later' } }).memo).toEqual({ shared, own: 'after' });
    expect(memo).toEqual({ shared, own: 'after' });
  });

  it('of a class that decides by itself, is what that class gives', () => {
    class Shared {
      [COPY](): this {
        return this;
      }
    }
    const memo = new Shared();
    const { of } = remembering(memo);
    expect(of().memo).toBe(memo);
    expect(of({ metadata: { uid: 'another' } }).memo).toBe(memo);
  });

  it('can be recalled by its body', () => {
    const { of, all } = remembering({ own: 1 });
    const { memo } = of();
    expect(all.recall(BODY)).toBe(memo);
    expect(all.recall(BODY, { ephemeral: true })).toBe(memo);
  });

  it('can be recalled only for the moment, if the object may never come to be', () => {
    const { all } = remembering({ own: 1 });
    const unknown = { metadata: { uid: 'unknown' } };
    const memo = all.recall(unknown, { ephemeral: true });
    expect(memo).toEqual({ own: 1 });
    expect(all.recall(unknown)).not.toBe(memo);
  });

  it('can be recalled before the object is seen, which tells nothing of when it is noticed', () => {
    const { of, all } = remembering({ own: 1 });
    const early = { metadata: { uid: 'early' } };
    const memo = all.recall(early);
    expect(memo).toEqual({ own: 1 });
    expect(all.recall(early)).toBe(memo);
    expect([all.size, all.find(early)]).toEqual([0, undefined]);
    expect(of(early).memo).toBe(memo);
    expect(all.recall(early)).toBe(memo);
  });

  it('is forgotten with the object, be it seen or only asked about', () => {
    const { of, all } = remembering();
    for (const see of [() => {}, () => of()]) {
      const memo = all.recall(BODY);
      see();
      all.forget(BODY);
      expect(all.recall(BODY)).not.toBe(memo);
    }
  });

  it('of an object never seen is kept among a limited number of others', () => {
    const { all } = remembering();
    const [first, second] = [1, 2].map((uid) => all.recall({ metadata: { uid: String(uid) } }));
    for (let uid = 3; uid <= 1000; uid++) all.recall({ metadata: { uid: String(uid) } });
    expect(all.recall({ metadata: { uid: '1' } })).toBe(first);
    all.recall({ metadata: { uid: '1001' } });
    expect(all.recall({ metadata: { uid: '1' } })).toBe(first);
    expect(all.recall({ metadata: { uid: '2' } })).not.toBe(second);
  });
});

describe('Objects are told apart', () => {
  it.each([
    [{ kind: 'Pod', metadata: { uid: 'uid1', name: 'pod1' } }, 'uid1'],
    [
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'n', namespace: 'ns', creationTimestamp: '2020-01-01T00:00:00Z' },
      },
      'Node//v1//n//ns//2020-01-01T00:00:00Z',
    ],
    [{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', uid: '' } }, 'Node//v1//n//-//-'],
    [{}, '-//-//-//-//-'],
  ])('%j: %s', (body, key) => {
    expect(objectKey(body)).toBe(key);
  });
});
