/** Facts about objects. Called only if an observer wants the fact. */
import type { ObservedObject } from '@kopf-ts/core';
import { type ChangingCause, type Facts, observedBody } from '@kopf-ts/core/engine';
import type { Tripping } from '../objects/breaker.js';
import type { Input, ObjectState } from '../objects/transitions.js';
import { versionOf } from '../objects/versions.js';

export function tellCause(facts: Facts, { resource, body, reason, diff }: ChangingCause): void {
  const paths = diff.map(([, path]) => path);
  const object = observedBody(resource, body);
  facts.tell({ kind: 'object.cause', object, reason, paths, version: versionOf(body) });
}

export function tellPaused(
  facts: Facts,
  object: () => ObservedObject,
  before: ObjectState,
  { isHeld, pausedUntil: until }: ObjectState,
): void {
  if (isHeld !== before.isHeld) {
    facts.tell({ kind: 'object.paused', object: object(), by: 'control', isPaused: isHeld, until: undefined });
  }
  if (until !== before.pausedUntil) {
    facts.tell({ kind: 'object.paused', object: object(), by: 'annotation', isPaused: until !== undefined, until });
  }
}

/** What has changed in what the object waits for. */
export function tellWaiting(
  facts: Facts,
  object: ObservedObject,
  input: Input,
  before: ObjectState,
  { alarm, doubt }: ObjectState,
): void {
  if (alarm === before.alarm && doubt === before.doubt) return;
  const isOver = before.alarm !== undefined && alarm === undefined;
  const isSettled = before.doubt !== undefined && doubt === undefined;
  if (isOver || isSettled) facts.tell({ kind: 'object.woken', object, why: whyWoken(input) });
  if (alarm !== undefined && alarm !== before.alarm) {
    facts.tell({ kind: 'object.waiting', object, until: alarm.at, why: alarm.why });
  }
  if (doubt !== undefined && doubt !== before.doubt) {
    facts.tell({ kind: 'object.waiting', object, until: doubt.until, why: 'consistency' });
  }
}

function whyWoken({ kind }: Input): 'time' | 'event' | 'recall' | 'retry' | 'discarded' {
  switch (kind) {
    case 'alarmed':
    case 'undoubted':
      return 'time';
    case 'retried':
      return 'retry';
    case 'recalled':
    case 'turn':
      return 'recall';
    case 'discarded':
    case 'winding':
    case 'rewound':
      return 'discarded';
    default:
      return 'event';
  }
}

export function tellTripped(
  facts: Facts,
  { resource, body }: Pick<ChangingCause, 'resource' | 'body'>,
  { fields, handlers, delay: pause }: Tripping,
): void {
  facts.tell({ kind: 'breaker.tripped', object: observedBody(resource, body), fields, handlers, pause });
}
