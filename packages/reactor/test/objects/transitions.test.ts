import type { AnyObject } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import {
  type Alarm,
  type Around,
  INITIAL,
  type Input,
  type ObjectState,
  type Observed,
  type Phase,
  transition,
} from '../../src/objects/transitions.js';

const objectOf = (version: number | string): AnyObject => ({
  metadata: { uid: 'u', resourceVersion: String(version) },
});
const seen = (version: number | string, type: Observed['type'] = 'MODIFIED'): Observed => ({
  type,
  body: objectOf(version),
});

const AROUND: Around = {
  now: 100,
  mayBegin: true,
  isPaused: false,
  isAborted: false,
  hasEvents: false,
  consistencyTimeout: 5,
  pausedUntil: () => undefined,
};

const DELAY: Alarm = { why: 'delay', at: 130, byTouching: false };
const THROTTLING: Alarm = { why: 'throttling', at: 130, byTouching: false };

/** One state for everything that an object can be busy with; each knows version 5. */
const STATES = {
  idle: { ...INITIAL, version: '5' },
  held: { ...INITIAL, phase: 'waiting', version: '5', newest: seen(6) },
  delayed: { ...INITIAL, phase: 'waiting', version: '5', last: seen(5), alarm: DELAY },
  throttled: { ...INITIAL, phase: 'waiting', version: '5', last: seen(5), alarm: THROTTLING },
  queued: { ...INITIAL, phase: 'queued', version: '5', newest: seen(6) },
  running: { ...INITIAL, phase: 'running', version: '5', last: seen(5) },
  'running, with news': { ...INITIAL, phase: 'running', version: '5', last: seen(5), newest: seen(6) },
  vanishing: { ...INITIAL, version: '5', isVanishing: true },
  paused: { ...INITIAL, version: '5', isHeld: true },
  'paused, with news': { ...INITIAL, phase: 'waiting', version: '5', newest: seen(6), isHeld: true },
  'paused, delayed': { ...INITIAL, phase: 'waiting', version: '5', last: seen(5), alarm: DELAY, isHeld: true },
  'paused, queued': { ...INITIAL, phase: 'queued', version: '5', newest: seen(6), isHeld: true },
  'paused, running': { ...INITIAL, phase: 'running', version: '5', last: seen(5), isHeld: true },
} satisfies Record<string, ObjectState>;

const INPUTS = {
  news: { kind: 'pushed', observed: seen(7) },
  'an echo': { kind: 'pushed', observed: seen(5) },
  'something old': { kind: 'pushed', observed: seen(4) },
  'a deletion': { kind: 'pushed', observed: seen(8, 'DELETED') },
  opened: { kind: 'opened' },
  turn: { kind: 'turn' },
  ended: { kind: 'ended', ending: {} },
  'ended with an answer': { kind: 'ended', ending: { answer: objectOf(9) } },
  'ended with a delay': { kind: 'ended', ending: { delay: 20 } },
  'ended for good': { kind: 'ended', ending: { answer: objectOf(9), isVanishing: true } },
  failed: { kind: 'failed', observed: seen(5), event: undefined, pause: 3 },
  alarmed: { kind: 'alarmed' },
  undoubted: { kind: 'undoubted' },
  recalled: { kind: 'recalled' },
  retried: { kind: 'retried' },
  held: { kind: 'held' },
  resumed: { kind: 'resumed' },
  discarded: { kind: 'discarded' },
  winding: { kind: 'winding' },
  rewound: { kind: 'rewound' },
} satisfies Record<string, Input>;

type StateName = keyof typeof STATES;
type InputName = keyof typeof INPUTS;

/** The phase after it, and what is to be done, in short. */
function after(state: ObjectState, input: Input, around: Around = AROUND): string {
  const { state: next, effects } = transition(state, input, around);
  const version = (one: Observed | undefined): string => `${one?.type} ${one?.body.metadata?.resourceVersion}`;
  const shown = effects.map((effect) => {
    if (effect.kind === 'run') return `run ${version(effect.observed)}`;
    if (effect.kind === 'set-alarm') return `set-alarm ${effect.at}`;
    if (effect.kind === 'report-error') return `report-error ${effect.pause}`;
    return effect.kind;
  });
  return [next.phase, ...shown].join(', ');
}

/** Every pair: what is not possible in life must do no harm. */
const TABLE: Record<StateName, Record<InputName, string>> = {
  idle: {
    news: 'queued, schedule',
    'an echo': 'idle, rest',
    'something old': 'idle, rest',
    'a deletion': 'queued, schedule',
    opened: 'idle',
    turn: 'idle, rest',
    ended: 'idle, rest',
    'ended with an answer': 'queued, schedule',
    'ended with a delay': 'waiting, set-alarm 120',
    'ended for good': 'idle, rest',
    failed: 'waiting, set-alarm 103, report-error 3',
    alarmed: 'idle',
    undoubted: 'idle',
    recalled: 'idle',
    retried: 'idle',
    held: 'idle',
    resumed: 'idle',
    discarded: 'idle, drop-events',
    winding: 'idle',
    rewound: 'idle',
  },
  held: {
    news: 'queued, schedule',
    'an echo': 'queued, schedule',
    'something old': 'queued, schedule',
    'a deletion': 'queued, schedule',
    opened: 'queued, schedule',
    turn: 'running, run MODIFIED 6',
    ended: 'queued, schedule',
    'ended with an answer': 'queued, schedule',
    'ended with a delay': 'queued, schedule',
    'ended for good': 'idle, rest',
    failed: 'waiting, set-alarm 103, report-error 3',
    alarmed: 'waiting',
    undoubted: 'waiting',
    recalled: 'waiting',
    retried: 'waiting',
    held: 'waiting',
    resumed: 'queued, schedule',
    discarded: 'idle, drop-events, rest',
    winding: 'queued, schedule',
    rewound: 'waiting',
  },
  delayed: {
    news: 'queued, cancel-alarm, say, schedule',
    'an echo': 'waiting',
    'something old': 'waiting',
    'a deletion': 'queued, cancel-alarm, say, schedule',
    opened: 'waiting',
    turn: 'waiting',
    ended: 'waiting',
    'ended with an answer': 'queued, cancel-alarm, say, schedule',
    'ended with a delay': 'waiting, set-alarm 120',
    'ended for good': 'waiting',
    failed: 'waiting, set-alarm 103, report-error 3',
    alarmed: 'queued, cancel-alarm, schedule',
    undoubted: 'waiting',
    recalled: 'queued, cancel-alarm, schedule',
    retried: 'queued, cancel-alarm, schedule',
    held: 'waiting',
    resumed: 'waiting',
    discarded: 'idle, cancel-alarm, drop-events, rest',
    winding: 'idle, cancel-alarm, rest',
    rewound: 'waiting',
  },
  throttled: {
    news: 'waiting',
    'an echo': 'waiting',
    'something old': 'waiting',
    'a deletion': 'queued, cancel-alarm, schedule',
    opened: 'waiting',
    turn: 'waiting',
    ended: 'waiting',
    'ended with an answer': 'waiting',
    'ended with a delay': 'waiting, set-alarm 120',
    'ended for good': 'waiting',
    failed: 'waiting, set-alarm 103, report-error 3',
    alarmed: 'queued, cancel-alarm, say, schedule',
    undoubted: 'waiting',
    recalled: 'waiting',
    retried: 'queued, cancel-alarm, say, schedule',
    held: 'waiting',
    resumed: 'waiting',
    discarded: 'idle, cancel-alarm, drop-events, rest',
    winding: 'idle, cancel-alarm, rest',
    rewound: 'waiting',
  },
  queued: {
    news: 'queued',
    'an echo': 'queued',
    'something old': 'queued',
    'a deletion': 'queued',
    opened: 'queued',
    turn: 'running, run MODIFIED 6',
    ended: 'queued, schedule',
    'ended with an answer': 'queued, schedule',
    'ended with a delay': 'queued, schedule',
    'ended for good': 'idle, rest',
    failed: 'waiting, set-alarm 103, report-error 3',
    alarmed: 'queued',
    undoubted: 'queued',
    recalled: 'queued',
    retried: 'queued',
    held: 'queued',
    resumed: 'queued',
    discarded: 'queued, drop-events',
    winding: 'queued',
    rewound: 'queued',
  },
  running: {
    news: 'running',
    'an echo': 'running',
    'something old': 'running',
    'a deletion': 'running',
    opened: 'running',
    turn: 'idle, rest',
    ended: 'idle, rest',
    'ended with an answer': 'queued, schedule',
    'ended with a delay': 'waiting, set-alarm 120',
    'ended for good': 'idle, rest',
    failed: 'waiting, set-alarm 103, report-error 3',
    alarmed: 'running',
    undoubted: 'running',
    recalled: 'running',
    retried: 'running',
    held: 'running',
    resumed: 'running',
    discarded: 'running, drop-events',
    winding: 'running',
    rewound: 'running',
  },
  'running, with news': {
    news: 'running',
    'an echo': 'running',
    'something old': 'running',
    'a deletion': 'running',
    opened: 'running',
    turn: 'running, run MODIFIED 6',
    ended: 'queued, schedule',
    'ended with an answer': 'queued, schedule',
    'ended with a delay': 'queued, schedule',
    'ended for good': 'idle, rest',
    failed: 'waiting, set-alarm 103, report-error 3',
    alarmed: 'running',
    undoubted: 'running',
    recalled: 'running',
    retried: 'running',
    held: 'running',
    resumed: 'running',
    discarded: 'running, drop-events',
    winding: 'running',
    rewound: 'running',
  },
  vanishing: {
    news: 'idle, rest',
    'an echo': 'idle, rest',
    'something old': 'idle, rest',
    'a deletion': 'queued, schedule',
    opened: 'idle',
    turn: 'idle, rest',
    ended: 'idle, rest',
    'ended with an answer': 'idle, rest',
    'ended with a delay': 'waiting, set-alarm 120',
    'ended for good': 'idle, rest',
    failed: 'waiting, set-alarm 103, report-error 3',
    alarmed: 'idle',
    undoubted: 'idle',
    recalled: 'idle',
    retried: 'idle',
    held: 'idle',
    resumed: 'idle',
    discarded: 'idle, drop-events',
    winding: 'idle',
    rewound: 'idle',
  },
  paused: {
    news: 'waiting',
    'an echo': 'idle, rest',
    'something old': 'idle, rest',
    'a deletion': 'waiting',
    opened: 'idle',
    turn: 'idle, rest',
    ended: 'idle, rest',
    'ended with an answer': 'waiting',
    'ended with a delay': 'waiting, set-alarm 120',
    'ended for good': 'idle, rest',
    failed: 'waiting, set-alarm 103, report-error 3',
    alarmed: 'idle',
    undoubted: 'idle',
    recalled: 'idle',
    retried: 'idle',
    held: 'idle',
    resumed: 'idle',
    discarded: 'idle, drop-events',
    winding: 'idle, drop-events',
    rewound: 'idle',
  },
  'paused, with news': {
    news: 'waiting',
    'an echo': 'waiting',
    'something old': 'waiting',
    'a deletion': 'waiting',
    opened: 'waiting',
    turn: 'waiting',
    ended: 'waiting',
    'ended with an answer': 'waiting',
    'ended with a delay': 'waiting',
    'ended for good': 'idle, rest',
    failed: 'waiting, set-alarm 103, report-error 3',
    alarmed: 'waiting',
    undoubted: 'waiting',
    recalled: 'waiting',
    retried: 'waiting',
    held: 'waiting',
    resumed: 'queued, schedule',
    discarded: 'idle, drop-events, rest',
    winding: 'idle, drop-events, rest',
    rewound: 'waiting',
  },
  'paused, delayed': {
    news: 'waiting, cancel-alarm, say',
    'an echo': 'waiting',
    'something old': 'waiting',
    'a deletion': 'waiting, cancel-alarm, say',
    opened: 'waiting',
    turn: 'waiting',
    ended: 'waiting',
    'ended with an answer': 'waiting, cancel-alarm, say',
    'ended with a delay': 'waiting, set-alarm 120',
    'ended for good': 'waiting',
    failed: 'waiting, set-alarm 103, report-error 3',
    alarmed: 'waiting, cancel-alarm',
    undoubted: 'waiting',
    recalled: 'waiting, cancel-alarm',
    retried: 'waiting, cancel-alarm',
    held: 'waiting',
    resumed: 'waiting',
    discarded: 'idle, cancel-alarm, drop-events, rest',
    winding: 'idle, cancel-alarm, drop-events, rest',
    rewound: 'waiting',
  },
  'paused, queued': {
    news: 'queued',
    'an echo': 'queued',
    'something old': 'queued',
    'a deletion': 'queued',
    opened: 'queued',
    turn: 'waiting',
    ended: 'waiting',
    'ended with an answer': 'waiting',
    'ended with a delay': 'waiting',
    'ended for good': 'idle, rest',
    failed: 'waiting, set-alarm 103, report-error 3',
    alarmed: 'queued',
    undoubted: 'queued',
    recalled: 'queued',
    retried: 'queued',
    held: 'queued',
    resumed: 'queued',
    discarded: 'queued, drop-events',
    winding: 'queued, drop-events',
    rewound: 'queued',
  },
  'paused, running': {
    news: 'running',
    'an echo': 'running',
    'something old': 'running',
    'a deletion': 'running',
    opened: 'running',
    turn: 'idle, rest',
    ended: 'idle, rest',
    'ended with an answer': 'waiting',
    'ended with a delay': 'waiting, set-alarm 120',
    'ended for good': 'idle, rest',
    failed: 'waiting, set-alarm 103, report-error 3',
    alarmed: 'running',
    undoubted: 'running',
    recalled: 'running',
    retried: 'running',
    held: 'running',
    resumed: 'running',
    discarded: 'running, drop-events',
    winding: 'running, drop-events',
    rewound: 'running',
  },
};

describe('From each state, by each input', () => {
  const pairs = (Object.keys(STATES) as StateName[]).flatMap((state) =>
    (Object.keys(INPUTS) as InputName[]).map((input) => [state, input] as const),
  );

  it.each(pairs)('%s + %s', (state, input) => {
    expect(after(STATES[state], INPUTS[input])).toBe(TABLE[state][input]);
  });

  it.each(pairs)('nothing is begun while paused: %s + %s', (state, input) => {
    const { effects } = transition(STATES[state], INPUTS[input], { ...AROUND, isPaused: true });
    expect(effects.filter(({ kind }) => kind === 'run')).toEqual([]);
  });

  it.each(pairs.filter(([state]) => STATES[state].isHeld))(
    'nothing is begun for a paused object: %s + %s',
    (state, input) => {
      const { state: next, effects } = transition(STATES[state], INPUTS[input], AROUND);
      const begun = effects.filter(({ kind }) => kind === 'run' || kind === 'schedule');
      expect(begun.length === 0 || !next.isHeld).toBe(true);
    },
  );

  it.each(pairs)('nothing is asked for when the stream is over: %s + %s', (state, input) => {
    const { effects } = transition(STATES[state], INPUTS[input], { ...AROUND, isAborted: true });
    expect(effects.filter(({ kind }) => kind === 'schedule' || kind === 'rest')).toEqual([]);
  });

  it.each(pairs)('the old state stays as it was: %s + %s', (state, input) => {
    const before = structuredClone(STATES[state]);
    transition(STATES[state], INPUTS[input], AROUND);
    expect(STATES[state]).toEqual(before);
  });
});

describe('Phases', () => {
  it.each<[Phase, string]>([
    ['waiting', 'waiting'],
    ['queued', 'queued'],
    ['running', 'running'],
  ])('%s: what is new waits until it may be begun', (phase, expected) => {
    const around = { ...AROUND, mayBegin: false };
    expect(after({ ...INITIAL, phase }, { kind: 'pushed', observed: seen(1, 'ADDED') }, around)).toBe(expected);
  });
});

describe('After a failure of the handlers of an event', () => {
  it.each([
    { known: '5', event: '5', again: '5' },
    { known: '5', event: '7', again: '7' },
    { known: '5', event: '4', again: undefined },
    { known: undefined, event: 'x', again: 'x' },
    { known: 'x', event: 'x', again: 'x' },
    // It was in doubt, and the known one has come back since then: so it is from before that.
    { known: 'x', event: 'y', again: undefined },
  ])('with version $event, where $known is known, what is looked at again is $again', ({ known, event, again }) => {
    const running: ObjectState = { ...INITIAL, phase: 'running', version: known };
    const failed: Input = { kind: 'failed', observed: undefined, event: seen(event), pause: 3 };
    const { state } = transition(running, failed, AROUND);
    expect(state.last?.body.metadata?.resourceVersion).toBe(again);
  });
});

describe('An object that pauses itself', () => {
  const pausing: Around = { ...AROUND, pausedUntil: () => 160 };

  it.each<[StateName, InputName, string]>([
    ['idle', 'news', 'waiting, pause'],
    ['delayed', 'news', 'waiting, cancel-alarm, pause, say'],
    ['running', 'news', 'running, pause'],
    ['running', 'ended with an answer', 'waiting, pause'],
    ['running', 'ended with a delay', 'waiting, set-alarm 120'],
    ['idle', 'a deletion', 'queued, schedule'],
  ])('is left alone, unless it is gone: %s + %s', (state, input, expected) => {
    expect(after(STATES[state], INPUTS[input], pausing)).toBe(expected);
  });

  const paused = { ...STATES['held'], pausedUntil: 160 } satisfies ObjectState;

  it.each<[string, Input, Partial<Around>, string]>([
    ['it says so again', INPUTS.news, { pausedUntil: () => 160.1 }, 'waiting'],
    ['it says another time', INPUTS.news, { pausedUntil: () => 200 }, 'waiting, pause'],
    ['its time has come for something else', INPUTS.alarmed, {}, 'waiting'],
    ['it is resumed by hand, which is another pause', INPUTS.resumed, {}, 'waiting'],
    ['it does not say so any more', INPUTS.news, {}, 'queued, unpause, schedule'],
    ['the pause has expired', { kind: 'unpaused' }, {}, 'queued, unpause, schedule'],
    ['it is gone', INPUTS['a deletion'], {}, 'queued, unpause, schedule'],
    ['the operator ends', INPUTS.winding, {}, 'idle, drop-events, rest'],
  ])('waits until: %s', (_, input, around, expected) => {
    expect(after(paused, input, { ...AROUND, ...around })).toBe(expected);
  });
});
