import type { AnyObject } from '@kopf-ts/core';
import { beforeEach, describe, expect, it } from 'vitest';
import { judgeOf, objections } from './oracle.js';
import { type Call, type History, play } from './play.js';
import type { Scenario } from './scenario.js';

/** Two changes by others, each seen by one handler: nothing is wrong with it. */
const SCENARIO: Scenario = {
  handlers: [{ kind: 'create' }, { kind: 'update' }, { kind: 'field' }],
  lifecycle: 'allAtOnce',
  later: [
    { do: 'field', to: 1 },
    { do: 'other', to: 7 },
  ],
};

let history: History;
beforeEach(async () => {
  history = await play(SCENARIO, judgeOf);
});

const without = (spoilt: (call: Call) => boolean): Call[] => history.calls.filter((call) => !spoilt(call));
const lastOf = (name: string): Call => history.calls.findLast(({ handler }) => handler === name) as Call;

describe('The oracle', () => {
  it('has no objections to a history in which all is well', () => {
    expect(objections(history)).toEqual([]);
    expect(history.calls.map(({ handler }) => handler)).toEqual(['create0', 'field2', 'update1', 'field2', 'update1']);
  });

  it('objects to a change that a handler has never seen', () => {
    const calls = without((call) => call === lastOf('update1'));
    expect(objections({ ...history, calls })).toEqual([
      expect.stringMatching(/^update1 has never seen spec\.other = 7/),
    ]);
  });

  it('objects to a change of a field that its handler has never seen', () => {
    const calls = without((call) => call === lastOf('field2'));
    expect(objections({ ...history, calls })).toEqual([
      expect.stringMatching(/^field2 has never seen spec\.field = "v1"/),
    ]);
  });

  it('objects to a creation that nobody has seen', () => {
    const calls = without(({ handler }) => handler === 'create0');
    expect(objections({ ...history, calls })[0]).toMatch(/^create0 has never seen/);
  });

  for (const name of ['create0', 'update1', 'field2']) {
    it(`objects to one call too many: ${name}`, () => {
      const last = lastOf(name);
      const version = Number(history.final?.metadata?.resourceVersion);
      const calls = [...history.calls, { ...last, seq: 1000, endSeq: 1001, version }];
      const problems = objections({ ...history, calls });
      expect(problems).toContainEqual(expect.stringMatching(new RegExp(`^${name} was called .* without a reason`)));
    });

    it(`grants one more call for a doubt, and not two: ${name}`, () => {
      const last = lastOf(name);
      const version = Number(history.final?.metadata?.resourceVersion);
      const again = [1000, 1002].map((seq) => ({ ...last, seq, endSeq: seq + 1, version }));
      const kills = [{ kind: 'kill', seq: 999 } as const];
      expect(objections({ ...history, kills, calls: [...history.calls, ...again.slice(0, 1)] })).toEqual([]);
      expect(objections({ ...history, kills, calls: [...history.calls, ...again] })).toHaveLength(1);
    });
  }

  it('objects to a call for the retry of which there was no failure', () => {
    const last = lastOf('update1');
    const again = { ...last, seq: 1000, endSeq: 1001, version: Number(history.final?.metadata?.resourceVersion) };
    const failing = history.calls.map((call) => (call === last ? { ...call, outcome: 'failed' as const } : call));
    expect(objections({ ...history, calls: [...failing, again] })).toEqual([]);
    expect(objections({ ...history, calls: [...history.calls, again] })).toHaveLength(1);
  });

  it('objects to a mark that is left', () => {
    const final = structuredClone(history.final) as AnyObject;
    const record = { started: '2020-01-01T00:00:00.000000+00:00', purpose: 'update', retries: 1 };
    Object.assign(final.metadata?.annotations ?? {}, { 'kopf.zalando.org/update1': JSON.stringify(record) });
    expect(objections({ ...history, final })).toEqual([expect.stringMatching(/a mark is left: update1/)]);
  });

  it('objects to an object that does not count as handled', () => {
    const final = structuredClone(history.final) as AnyObject;
    final['spec'].other = 8;
    expect(objections({ ...history, final })).toContainEqual(expect.stringMatching(/not the newest: spec\.other/));
    delete final.metadata?.annotations;
    expect(objections({ ...history, final })).toContainEqual(expect.stringMatching(/never handled/));
  });

  it('objects to a deleted object that is still there', () => {
    const final = structuredClone(history.final) as AnyObject;
    Object.assign(final.metadata ?? {}, { deletionTimestamp: '2020-01-01T00:00:00Z' });
    expect(objections({ ...history, final })).toEqual([expect.stringMatching(/still there/)]);
  });

  it('objects to an empty PATCH, to one without the uid, and to one that has changed a namesake', () => {
    const [patch] = history.patches;
    if (patch === undefined) throw new Error('There must be one.');
    const objectionsTo = (changed: Partial<typeof patch>) =>
      objections({ ...history, patches: [{ ...patch, ...changed }] });
    expect(objectionsTo({ body: { metadata: { uid: 'uid1', resourceVersion: '1' } } })[0]).toMatch(/^An empty PATCH/);
    expect(objectionsTo({ body: [{ op: 'test', path: '/metadata/uid', value: 'uid1' }] })[0]).toMatch(/^An empty/);
    expect(objectionsTo({ uid: undefined })[0]).toMatch(/without the uid/);
    expect(objectionsTo({ uid: 'uid0' })[0]).toMatch(/for uid0 has changed uid1/);
  });

  it('objects to unrest, and to what is older than what was known', () => {
    expect(objections({ ...history, unrest: 'no end' })).toEqual([expect.stringMatching(/does not become quiet/)]);
    const calls = history.calls.map((call) => (call === lastOf('update1') ? { ...call, version: 1 } : call));
    expect(objections({ ...history, calls })).toContainEqual(expect.stringMatching(/was given version 1/));
  });

  it('objects to a write of a handler that has never taken effect', () => {
    const scenario: Scenario = { ...SCENARIO, handlers: [{ kind: 'create', deeds: ['label'] }] };
    const calls = history.calls
      .filter(({ handler }) => handler === 'create0')
      .map((call): Call => ({ ...call, deeds: ['label'] }));
    expect(objections({ ...history, scenario, calls })).toEqual([
      expect.stringMatching(/^What create0 wrote .* is lost: label/),
    ]);
  });

  it('objects to a repeated deletion in one process, and grants one to the next process', async () => {
    const deleted = await play({ handlers: [{ kind: 'delete' }], later: [{ do: 'delete' }] }, judgeOf);
    expect(objections(deleted)).toEqual([]);
    const [call] = deleted.calls;
    if (call === undefined) throw new Error('There must be one.');
    expect(objections({ ...deleted, calls: [call, { ...call, seq: call.endSeq }] })).toHaveLength(1);
    expect(objections({ ...deleted, calls: [call, { ...call, seq: call.endSeq, process: 2 }] })).toEqual([]);
    expect(objections({ ...deleted, calls: [] })).toEqual([expect.stringMatching(/^delete0 was never called/)]);
  });
});
