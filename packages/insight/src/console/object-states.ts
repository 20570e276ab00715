/** The state of objects in one word. Only what is in trouble is remembered: all others are as they are at the moment. */
import type { ControlledObject, FactOf, FieldPath, ObservedHandler, ObservedObject } from '@kopf-ts/core';
import { errorText, shortText } from '../journal/texts.js';
import { type FactTakers, keyOf } from './takers.js';

/** What an object is like, the most pressing first. */
export type ObjectState = 'failed' | 'retrying' | 'running' | 'waiting' | 'paused' | 'daemons' | 'done';

export const STATES: readonly ObjectState[] = ['failed', 'retrying', 'running', 'waiting', 'paused', 'daemons', 'done'];

export interface ObjectStates {
  readonly takers: FactTakers;
  stateOf(controlled: ControlledObject): { readonly state: ObjectState; readonly message: string | undefined };
}

interface Trouble {
  readonly calls: Map<string, { readonly kind: ObservedHandler['kind']; readonly isFinal: boolean; message: string }>;
  throttled: string | undefined;
  reason: string | undefined;
  /** There is nothing left to do for the change: the next one begins anew. */
  isOver: boolean;
}

/** Of objects in trouble; those that were in it for longest are forgotten first. */
const MOST = 100_000;
/** Of these, so many are remembered with their messages: of the others, only that they are in trouble. */
const MOST_TOLD = 5000;
const MAX_MESSAGE = 200;
/** There is nothing to be handled then. */
const INFORMATIONAL: ReadonlySet<string> = new Set(['noop', 'free', 'gone']);
/** Their failures are not of the object. */
const ELSEWHERE: ReadonlySet<ObservedHandler['kind']> = new Set(['activity', 'webhook']);

export function objectStates(sensitive: readonly FieldPath[]): ObjectStates {
  const troubles = new Map<string, Trouble>();
  /** Those with messages. The oldest goes first. */
  const told = new Map<string, Trouble>();

  const forget = (key: string): void => {
    troubles.delete(key);
    told.delete(key);
  };
  const tell = (key: string, trouble: Trouble): void => {
    told.set(key, trouble);
    const [oldest] = told;
    if (told.size <= MOST_TOLD || oldest === undefined) return;
    const [first, { calls }] = oldest;
    told.delete(first);
    for (const call of calls.values()) call.message = '';
    if (oldest[1].throttled !== undefined) oldest[1].throttled = '';
  };
  const troubleOf = (object: ObservedObject): Trouble => {
    const key = keyOf(object);
    let trouble = troubles.get(key);
    if (trouble === undefined) {
      trouble = { calls: new Map(), throttled: undefined, reason: undefined, isOver: false };
      troubles.set(key, trouble);
      const [oldest] = troubles.keys();
      if (troubles.size > MOST && oldest !== undefined) forget(oldest);
    }
    tell(key, trouble);
    return trouble;
  };
  const messageOf = ({ resource }: ObservedObject, error: Error | undefined): string => {
    const isSecret = resource.group === '' && resource.plural === 'secrets';
    return error === undefined ? '' : shortText(errorText(error, { isSecret, sensitive }), MAX_MESSAGE);
  };
  const settle = (object: ObservedObject, { calls, throttled }: Trouble): void => {
    if (calls.size === 0 && throttled === undefined) forget(keyOf(object));
  };
  /** Of changes: those of daemons and the like are of their own. */
  const clear = ({ calls }: Trouble, isConcerned: (call: { readonly isFinal: boolean }) => boolean): void => {
    for (const [key, call] of calls) if (call.kind === 'change' && isConcerned(call)) calls.delete(key);
  };
  const ended = ({ object, handler, outcome, error, reason }: FactOf<'call.ended'>): void => {
    if (object === undefined || ELSEWHERE.has(handler.kind)) return;
    const key = `${handler.kind} ${handler.id}`;
    if (outcome === 'succeeded') {
      const trouble = troubles.get(keyOf(object));
      if (trouble?.calls.delete(key)) settle(object, trouble);
      return;
    }
    const trouble = troubleOf(object);
    trouble.reason ??= reason;
    trouble.isOver = false;
    trouble.calls.delete(key);
    const message = messageOf(object, error);
    trouble.calls.set(key, { kind: handler.kind, isFinal: outcome === 'failed', message });
  };

  return {
    takers: {
      'call.ended': ended,
      'object.cause'({ object, reason }) {
        const trouble = troubles.get(keyOf(object));
        if (trouble === undefined || INFORMATIONAL.has(reason)) return;
        if (trouble.isOver || (trouble.reason !== undefined && trouble.reason !== reason)) clear(trouble, () => true);
        trouble.reason = reason;
        trouble.isOver = false;
        settle(object, trouble);
      },
      'object.phase'({ object, phase }) {
        const trouble = phase === 'idle' ? troubles.get(keyOf(object)) : undefined;
        if (trouble === undefined) return;
        clear(trouble, ({ isFinal }) => !isFinal);
        trouble.isOver = true;
        trouble.throttled = undefined;
        settle(object, trouble);
      },
      'object.failed'({ object, error }) {
        troubleOf(object).throttled = messageOf(object, error);
      },
      'daemon.stopped'({ object, handler, isOver }) {
        const trouble = troubles.get(keyOf(object));
        const key = `${handler.kind} ${handler.id}`;
        // What has failed for good has ended on its own, too: that remains to be known.
        if (trouble === undefined || (isOver && trouble.calls.get(key)?.isFinal)) return;
        if (trouble.calls.delete(key)) settle(object, trouble);
      },
      'object.gone': ({ object }) => forget(keyOf(object)),
    },
    stateOf({ object, isPaused, phase, daemons }) {
      const trouble = troubles.get(keyOf(object));
      const calls = [...(trouble?.calls.values() ?? [])];
      const failed = calls.findLast(({ isFinal }) => isFinal);
      const message = (failed?.message ?? calls.at(-1)?.message ?? trouble?.throttled) || undefined;
      if (isPaused) return { state: 'paused', message };
      if (failed !== undefined) return { state: 'failed', message };
      if (trouble !== undefined) return { state: 'retrying', message };
      if (phase === 'running') return { state: 'running', message };
      if (phase !== 'idle') return { state: 'waiting', message };
      return { state: daemons.length > 0 ? 'daemons' : 'done', message };
    },
  };
}
