import { describe, expect, it } from 'vitest';
import type { Rewriting } from './model-server.js';
import type { History } from './play.js';
import type { Deed, Scenario } from './scenario.js';
import { trial } from './trial.js';

const callsOf = ({ calls }: History, name: string) => calls.filter(({ handler }) => handler === name);
const countsOf = (history: History, ...names: string[]) => names.map((name) => callsOf(history, name).length);
const LIFECYCLES = ['asap', 'oneByOne', 'allAtOnce'] as const;

describe('What the server makes of our own writes', () => {
  const rewritten: [Deed, Rewriting][] = [
    ['items', { items: true }],
    ['listed', { items: true }],
    ['box', { mappings: true }],
    ['cpu', { quantities: true }],
    ['unknown', { pruning: true }],
    ['secret', { stringData: true }],
  ];
  for (const [deed, rewriting] of rewritten) {
    it(`is no reason to call other handlers of a creation again: ${deed}`, async () => {
      for (const storage of ['annotations', 'status'] as const) {
        const handlers = [{ kind: 'create', deeds: [deed] }, { kind: 'create' }, { kind: 'create' }] as const;
        const history = await trial({ storage, rewriting, handlers });
        expect(countsOf(history, 'create0', 'create1', 'create2')).toEqual([1, 1, 1]);
      }
    });

    it(`is no reason to call sub-handlers again: ${deed}`, async () => {
      const history = await trial({ rewriting, handlers: [{ kind: 'create', subs: [{ deeds: [deed] }, {}, {}] }] });
      expect(countsOf(history, 'create0/sub0', 'create0/sub1', 'create0/sub2')).toEqual([1, 1, 1]);
    });
  }

  for (const stamp of ['label', 'annotation', 'spec'] as const) {
    it(`is no reason to call anybody, if it is a stamp on each write: ${stamp}`, async () => {
      const history = await trial({
        rewriting: { stamp },
        handlers: [{ kind: 'create' }, { kind: 'create' }, { kind: 'update' }],
        later: [{ do: 'other', to: 5 }],
      });
      expect(countsOf(history, 'create0', 'create1', 'update2')).toEqual([1, 1, 1]);
    });
  }
});

describe('What handlers write by verbs', () => {
  for (const lifecycle of LIFECYCLES) {
    it(`is not news for other handlers of the same creation, even if it is always new: ${lifecycle}`, async () => {
      const fresh = { kind: 'create', deeds: ['fresh'], byVerbs: true };
      const history = await trial({ lifecycle, handlers: [fresh, fresh, { kind: 'create' }] } as Scenario);
      expect(countsOf(history, 'create0', 'create1', 'create2')).toEqual([1, 1, 1]);
      expect(history.patches.length).toBeLessThanOrEqual(7);
    });
  }

  it('is an update after the cycle, once', async () => {
    const handlers = [{ kind: 'create', deeds: ['field'], byVerbs: true }, { kind: 'field' }] as const;
    const history = await trial({ handlers });
    expect(countsOf(history, 'create0')).toEqual([1]);
    expect(callsOf(history, 'field1').length).toBeGreaterThanOrEqual(1);
    expect(callsOf(history, 'field1').length).toBeLessThanOrEqual(2);
  });

  it('gets through while others change the object, and they are seen', async () => {
    const handlers = [
      { kind: 'create', deeds: ['own', 'label'], byVerbs: true, nap: 0.2 },
      { kind: 'update' },
    ] as const;
    const edits = [3, 4, 5, 6, 7, 8].map((at) => ({ at, edit: { do: 'other', to: at } as const }));
    await trial({ handlers, edits, latency: 0.03 });
  });

  it('is our own also if it goes to a new object of the same name', async () => {
    const handlers = [
      { kind: 'create' },
      { kind: 'create', deeds: ['field'], byVerbs: true },
      { kind: 'create' },
    ] as const;
    await trial({ handlers, edits: [{ at: 8, edit: { do: 'recreate' } }] });
  });

  it('is our own also if that one is not known yet', async () => {
    const handlers = [
      { kind: 'create', subs: [{}] },
      { kind: 'create', deeds: ['field'], byVerbs: true },
      { kind: 'create' },
    ] as const;
    const edits = [{ at: 8, edit: { do: 'recreate' } }] as const;
    await trial({ lifecycle: 'oneByOne', lag: 0.05, handlers, edits });
  });

  it('is made again by the handler, if the answer is lost', async () => {
    const handlers = [{ kind: 'create', deeds: ['own'], byVerbs: true }, { kind: 'create' }] as const;
    const history = await trial({ handlers, faults: [{ patch: 1, fault: 'lost' }] });
    expect(callsOf(history, 'create0')).toHaveLength(2);
  });
});

describe('What handlers write', () => {
  for (const lifecycle of LIFECYCLES) {
    // With all at once, there is nothing in between.
    const declare = lifecycle === 'allAtOnce' ? it : it;

    declare(`is not news for other handlers of the same creation, even if it is always new: ${lifecycle}`, async () => {
      const handlers = [{ kind: 'create', deeds: ['fresh'] }, { kind: 'create', deeds: ['fresh'] }, { kind: 'create' }];
      const history = await trial({ lifecycle, handlers } as Scenario);
      expect(countsOf(history, 'create0', 'create1', 'create2')).toEqual([1, 1, 1]);
      expect(history.patches.length).toBeLessThanOrEqual(4);
    });

    it(`is not news for their siblings in a handler with sub-handlers: ${lifecycle}`, async () => {
      const subs = [{ deeds: ['fresh'] }, { deeds: ['fresh'], fails: 1 }, {}];
      const history = await trial({ lifecycle, handlers: [{ kind: 'create', subs }] } as Scenario);
      expect(countsOf(history, 'create0/sub0', 'create0/sub1', 'create0/sub2')).toEqual([1, 2, 1]);
    });

    it(`is not news for those done before, with each attempt of the others: ${lifecycle}`, async () => {
      const second = { kind: 'create', deeds: ['fresh'], fails: 2, delay: 3 };
      const third = { kind: 'create', fails: 1, delay: 0.5 };
      const history = await trial({ lifecycle, handlers: [{ kind: 'create' }, second, third] } as Scenario);
      expect(countsOf(history, 'create0', 'create1', 'create2')).toEqual([1, 3, 2]);
    });
  }

  it('is not news, if it is a timer that writes while handlers are retried', async () => {
    for (const deeds of [['annotation'], ['phase']] as const) {
      const slow = { kind: 'create', fails: 2, delay: 3 } as const;
      const handlers = [{ kind: 'create' }, slow, { kind: 'timer', deeds }, { kind: 'phase' }] as const;
      const history = await trial({ handlers, hasStatus: deeds[0] === 'phase' });
      expect(countsOf(history, 'create0', 'create1')).toEqual([1, 3]);
    }
  });

  it('is an update after the cycle, once', async () => {
    const history = await trial({
      handlers: [{ kind: 'create', deeds: ['field'] }, { kind: 'update', deeds: ['label'] }, { kind: 'field' }],
      lifecycle: 'allAtOnce',
    });
    expect(countsOf(history, 'create0')).toEqual([1]);
    expect(callsOf(history, 'field2').map(({ body }) => body['spec'].field)).toEqual(['v0', 'ours']);
  });

  for (const deed of ['label', 'box', 'field', 'cpu'] as const) {
    it(`is written also if it was so when the handler began, but is not any more: ${deed}`, async () => {
      for (const nap of [0.2, 2.5]) {
        const history = await trial({
          startsDone: true,
          handlers: [{ kind: 'create', deeds: [deed], nap }],
          timed: [{ second: nap / 2, edit: { do: 'undo', handler: 0 } }],
        });
        const { spec, metadata } = history.final ?? {};
        const label = metadata?.labels?.['own-create0'];
        const now = {
          label,
          box: spec.boxes?.['own-create0']?.size,
          field: spec.field,
          cpu: spec.cpu?.['own-create0'],
        };
        expect(now[deed]).toEqual({ label: 'yes', box: 1, field: 'ours', cpu: '1000m' }[deed]);
      }
    });
  }
});

describe('A refusal of what a handler asks for', () => {
  for (const how of ['422', '422 with causes', '403'] as const) {
    it(`is a failure of that handler, which is retried; others go on: ${how}`, async () => {
      const history = await trial({
        refusal: { handler: 0, how, seconds: 4 },
        handlers: [{ kind: 'create', deeds: ['own', 'list'] }, { kind: 'create' }],
      });
      const retries = callsOf(history, 'create0').map(({ retry }) => retry);
      expect(retries).toEqual(retries.map((_, index) => index));
      expect(retries.length).toBeGreaterThan(1);
      expect(countsOf(history, 'create1')).toEqual([1]);
    });

    const declare = how === '422' ? it : it;

    declare(
      `does not leave the object unhandled, nor undeleted, when all is refused for some time: ${how}`,
      async () => {
        await trial({
          refusal: { handler: 'all', how, seconds: 12 },
          handlers: [{ kind: 'create' }, { kind: 'delete' }],
        });
        const history = await trial({
          refusal: { handler: 'all', how, seconds: 12 },
          handlers: [{ kind: 'create', deeds: ['list'] }, { kind: 'delete' }],
          timed: [{ second: 5, edit: { do: 'delete' } }],
        });
        expect(history.final).toBeUndefined();
      },
    );
  }
});

describe('A succeeded handler of a deletion', () => {
  const handlers = [{ kind: 'daemon', nap: 3 }, { kind: 'delete' }] as const;
  const deletion = { second: 10, edit: { do: 'delete' } } as const;

  it('is not called again while a daemon takes its time', async () => {
    const history = await trial({ handlers, timed: [deletion] });
    expect(countsOf(history, 'delete1')).toEqual([1]);
    expect(history.final).toBeUndefined();
  });

  it('is not called again for what others do meanwhile', async () => {
    const others = [1, 2].map((to) => ({ second: 10.5 + to / 2, edit: { do: 'label', to } as const }));
    const history = await trial({ handlers, timed: [deletion, ...others] });
    expect(countsOf(history, 'delete1')).toEqual([1]);
  });

  it('is not called again by the next process, since it is remembered before anything waits', async () => {
    const history = await trial({ handlers, timed: [deletion], killed: 11.5 });
    expect(countsOf(history, 'delete1')).toEqual([1]);
    expect(history.final).toBeUndefined();
  });
});

describe('Many writes by others', () => {
  for (const busy of ['foreign', 'label'] as const) {
    it(`are not errors, and lead to no empty PATCHes: ${busy}`, async () => {
      const timed = Array.from({ length: 60 }, (_, to) => ({ second: to / 20, edit: { do: busy, to } as const }));
      const handlers = [
        { kind: 'create', returns: true, nap: 0.2 },
        { kind: 'create', returns: true },
      ] as const;
      for (const hasStatus of [true, false]) {
        const history = await trial({ hasStatus, handlers, timed, lag: 0.05, latency: 0.04 });
        expect(history.warnings.filter((line) => line.includes('unexpected error'))).toEqual([]);
        if (busy === 'foreign') expect(countsOf(history, 'create0', 'create1')).toEqual([1, 1]);
      }
    });
  }
});

describe('A handler of resuming', () => {
  it('is called once in the life of the operator, also in the middle of an update', async () => {
    const history = await trial({
      rewriting: { stringData: true },
      handlers: [{ kind: 'update', subs: [{}, {}] }, { kind: 'resume', deeds: ['secret'] }, { kind: 'update' }],
      existsBefore: true,
      killed: 20,
      timed: [{ second: 20, edit: { do: 'label', to: 1 } }],
    });
    expect(countsOf(history, 'resume1')).toEqual([1]);
  });
});

describe('What others take back', () => {
  it('is not handled, if it is as it was handled last before the handler could be tried again', async () => {
    const history = await trial({
      handlers: [{ kind: 'update', fails: 1 }],
      edits: [{ at: 9, edit: { do: 'field', to: 0 } }],
      kills: [7, 0],
      later: [{ do: 'field', to: 1 }],
    });
    expect(callsOf(history, 'update0').map(({ outcome }) => outcome)).toEqual(['failed']);
    expect(history.final?.metadata?.annotations).not.toHaveProperty(['kopf.zalando.org/update0']);
  });
});
