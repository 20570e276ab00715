/** Facts about daemons and timers. Called only if an observer wants the fact. */
import type { Body, Resource, Seconds, StopReason } from '@kopf-ts/core';
import { type Facts, observedBody, observedHandler, type SpawningHandler } from '@kopf-ts/core/engine';

/** Whose daemon it is. */
interface Told {
  readonly handler: SpawningHandler;
  readonly resource: Resource;
  readonly body: Body;
}

export function tellDaemonStarted(facts: Facts, told: Told): void {
  facts.tell({ kind: 'daemon.started', ...refs(told) });
}

export function tellDaemonStopping(facts: Facts, told: Told, why: StopReason): void {
  facts.tell({ kind: 'daemon.stopping', ...refs(told), why });
}

export function tellDaemonStopped(facts: Facts, told: Told, isOver: boolean): void {
  facts.tell({ kind: 'daemon.stopped', ...refs(told), isOver });
}

export function tellDaemonWaiting(facts: Facts, told: Told, delay: Seconds): void {
  facts.tell({ kind: 'daemon.waiting', ...refs(told), delay });
}

function refs({ handler, resource, body }: Told) {
  return { object: observedBody(resource, body), handler: observedHandler(handler) };
}
