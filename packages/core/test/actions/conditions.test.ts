import { manualClock } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { ContextError, KopfError } from '../../src/errors.js';
import { runInContext } from '../../src/execution/context.js';
import { type Conditions, conditions, setsConditions } from '../../src/execution/handler-api/conditions.js';
import { deepFreeze } from '../../src/values/json.js';
import type { AnyObject } from '../../src/values/objects/body.js';
import { makeLiveBody } from '../../src/values/objects/views.js';
import { asJsonPatch, Patch } from '../../src/values/patches/patch.js';

const READY = {
  type: 'Ready',
  status: 'True',
  observedGeneration: 3,
  lastTransitionTime: '2019-05-05T05:05:05Z',
  reason: 'Ready',
  message: '',
};
const FOREIGN = { type: 'Foreign', status: 'False', lastTransitionTime: '2018-01-01T00:00:00Z', note: 'of others' };

function objectWith(...list: object[]): AnyObject {
  return deepFreeze({ metadata: { name: 'x', generation: 3 }, status: { conditions: list } }) as AnyObject;
}

/** What the object becomes, if the patch is applied to it. */
function applied(patch: Patch, body: object): AnyObject {
  const after = structuredClone(body) as AnyObject;
  for (const fn of patch.fns) fn(after);
  return after;
}

function setup(body: object) {
  const clock = manualClock({ start: '2020-02-02T02:02:02.999Z' });
  const patch = new Patch(undefined, { body });
  return {
    clock,
    patch,
    all: conditions(patch, body, { clock }),
    after: () => applied(patch, body)['status'].conditions,
  };
}

describe('A condition that is set', () => {
  it('comes to the end of the list, with the time, the generation and a reason', () => {
    const { all, after } = setup(objectWith(FOREIGN));
    all.set('Ready', true);
    const lastTransitionTime = '2020-02-02T02:02:02Z';
    expect(after()).toEqual([FOREIGN, { ...READY, lastTransitionTime }]);
    expect(Object.keys(after()[1])).toEqual(Object.keys(READY));
  });

  it.each([
    [true, 'True', 'Ready'],
    [false, 'False', 'NotReady'],
    ['Unknown', 'Unknown', 'Unknown'],
  ] as const)('to %s is written as "%s", with the reason %s if none is given', (status, text, reason) => {
    const { all, after } = setup({});
    all.set('Ready', status).set('Synced', status, { reason: 'Because', message: 'Who knows?' });
    expect(after()).toMatchObject([
      { type: 'Ready', status: text, reason, message: '' },
      { type: 'Synced', status: text, reason: 'Because', message: 'Who knows?' },
    ]);
    expect(after()[0]).not.toHaveProperty('observedGeneration');
  });

  it('is changed in its place, and keeps what others have added to it', () => {
    const { all, after } = setup(objectWith(FOREIGN, { ...READY, severity: 'low' }, { ...FOREIGN, type: 'Last' }));
    all.set('Ready', false, { reason: 'Broken', message: 'Oh.' });
    expect(after()).toEqual([
      FOREIGN,
      {
        ...READY,
        severity: 'low',
        status: 'False',
        reason: 'Broken',
        message: 'Oh.',
        lastTransitionTime: '2020-02-02T02:02:02Z',
      },
      { ...FOREIGN, type: 'Last' },
    ]);
  });

  it('changes nothing if it is so already', () => {
    const body = objectWith(READY, FOREIGN);
    const { all, patch } = setup(body);
    all.set('Ready', true);
    expect(asJsonPatch(patch, body)).toEqual([]);
  });

  it.each([[{ reason: 'Other' }], [{ message: 'Other' }], [{ observedGeneration: 4 }]])(
    'has the old time if only %j is new',
    (change) => {
      const { all, after } = setup(objectWith(READY));
      all.set('Ready', true, change);
      expect(after()).toEqual([{ ...READY, ...change }]);
    },
  );

  it('has a time if it had none', () => {
    const { lastTransitionTime: _none, ...untimed } = READY;
    const { all, after } = setup(objectWith(untimed));
    all.set('Ready', true);
    expect(after()).toMatchObject([{ lastTransitionTime: '2020-02-02T02:02:02Z' }]);
  });

  it('back and forth in one patch has made no transition', async () => {
    const body = objectWith(READY);
    const { all, patch, clock } = setup(body);
    all.set('Ready', false);
    await clock.advance(10);
    all.set('Ready', true);
    expect(asJsonPatch(patch, body)).toEqual([]);
    expect(patch.fns).toHaveLength(1);
  });

  it('back and forth by two handlers has made no transition either; each of them has a function of its own', async () => {
    const body = objectWith(READY);
    const clock = manualClock();
    const patch = new Patch(undefined, { body });
    runInContext({ clock }, () => conditions(patch, body).set('Ready', false));
    await clock.advance(10);
    runInContext({ clock }, () => conditions(patch, body).set('Ready', true));
    expect(patch.fns).toHaveLength(2);
    expect(asJsonPatch(patch, body)).toEqual([]);
  });

  it('again to the same, with other words, has the time of the first time', async () => {
    const { all, after, clock } = setup(objectWith(READY));
    all.set('Ready', false);
    await clock.advance(60);
    all.set('Ready', false, { message: 'Still.' });
    expect(after()).toMatchObject([{ status: 'False', message: 'Still.', lastTransitionTime: '2020-02-02T02:02:02Z' }]);
  });

  it('is compared with the newest state of the object when it is written, and not with what the handler has seen', () => {
    const { all, patch } = setup(objectWith(READY));
    all.set('Ready', true);
    const newer = objectWith(FOREIGN, { ...READY, status: 'False', reason: 'ByOthers' });
    expect(applied(patch, newer)['status'].conditions).toEqual([
      FOREIGN,
      { ...READY, lastTransitionTime: '2020-02-02T02:02:02Z' },
    ]);
  });

  it('is of the generation that the handler has seen; or of none, if so wanted', () => {
    const body = makeLiveBody(objectWith(READY));
    const patch = new Patch();
    const all = conditions(patch, body.body, { clock: manualClock() });
    body.replace(deepFreeze({ metadata: { generation: 7 }, status: { conditions: [READY] } }));
    all.set('Ready', true).set('Synced', true, { observedGeneration: null });
    const [ready, synced] = applied(patch, objectWith(READY))['status'].conditions;
    expect(ready).toEqual({ ...READY, observedGeneration: 7 });
    expect(synced).not.toHaveProperty('observedGeneration');
  });

  it('has a message of the length that Kubernetes permits', () => {
    const { all, after } = setup({});
    all.set('Ready', false, { message: 'x'.repeat(40_000) });
    expect(after()[0].message).toHaveLength(32_768);
    expect(after()[0].message).toMatch(/x…$/);
  });

  it.each([
    ['no status', {}],
    ['a text for a status', { status: 'fine' }],
    ['a text for conditions', { status: { conditions: 'fine' } }],
  ])('does not mind %s', (_, body) => {
    const { all, after } = setup(body);
    expect([...all]).toEqual([]);
    all.set('Ready', true);
    expect(after()).toMatchObject([{ type: 'Ready' }]);
  });

  it('leaves alone what is no condition', () => {
    const strange = { metadata: {}, status: { conditions: ['x', null, READY] } };
    const { all, after } = setup(strange);
    all.set('Ready', false);
    expect(after()).toMatchObject(['x', null, { status: 'False' }]);
    expect([...all]).toHaveLength(1);
  });
});

describe('A condition that is removed', () => {
  it('is taken out of the list; and nothing happens if it is not there', () => {
    const body = objectWith(FOREIGN, READY);
    const { all, after, patch } = setup(body);
    all.remove('Never');
    expect(asJsonPatch(patch, body)).toEqual([]);
    all.remove('Foreign');
    expect(after()).toEqual([READY]);
    expect(all.get('Foreign')).toBeUndefined();
  });

  it('and set again is as it was', () => {
    const body = objectWith(READY, FOREIGN);
    const { all, patch } = setup(body);
    all.remove('Ready').set('Ready', true);
    expect(asJsonPatch(patch, body)).toEqual([]);
  });
});

describe('Conditions are read', () => {
  it('as the object has them', () => {
    const { all } = setup(objectWith(READY, FOREIGN, { type: 'Odd', status: 'Unknown' }));
    expect([...all].map(({ type }) => type)).toEqual(['Ready', 'Foreign', 'Odd']);
    expect(all.get('Ready')).toEqual(READY);
    expect(all.get('Nope')).toBeUndefined();
    expect([all.is('Ready'), all.is('Foreign'), all.is('Odd'), all.is('Nope')]).toEqual([true, false, false, false]);
    expect([all.is('Foreign', false), all.is('Odd', 'Unknown'), all.is('Nope', false)]).toEqual([true, true, false]);
  });

  it('as they will be when the patch is sent', () => {
    const body = objectWith(READY);
    const { all, patch, clock } = setup(body);
    all.set('Ready', false);
    expect(all.is('Ready', false)).toBe(true);
    expect(conditions(patch, body, { clock }).is('Ready')).toBe(false);
    patch.status['conditions'] = [FOREIGN];
    expect([...all].map(({ type, status }) => [type, status])).toEqual([
      ['Foreign', 'False'],
      ['Ready', 'False'],
    ]);
    patch.clear();
    expect(all.is('Ready')).toBe(true);
    Object.assign(patch, { status: null });
    expect([...all]).toEqual([]);
  });

  it('and cannot be changed in passing', () => {
    const { all } = setup(objectWith(READY));
    expect(() => Object.assign(all.get('Ready') ?? {}, { status: 'False' })).toThrow(TypeError);
  });
});

describe('What makes no sense', () => {
  it.each(['True', 1, null, undefined])('as a status is told at once: %o', (status) => {
    const { all, patch } = setup({});
    expect(() => all.set('Ready', status as never)).toThrow("The condition 'Ready' is true, false or 'Unknown', not");
    expect(patch.isEmpty).toBe(true);
  });

  it.each(['', undefined, 5])('as a type is told at once: %o', (type) => {
    const { all } = setup({});
    expect(() => all.set(type as never, true)).toThrow(KopfError);
  });

  it('is to set one where the time is not known', () => {
    const all: Conditions = conditions(new Patch(), {});
    expect(() => all.set('Ready', true)).toThrow(ContextError);
    expect(() => all.set('Ready', true)).toThrow('give it a clock');
  });
});

it('Functions that set conditions can be told from others', () => {
  const { all, patch } = setup({});
  patch.fns.push(() => {});
  all.set('Ready', true);
  expect(patch.fns.map(setsConditions)).toEqual([false, true]);
});
