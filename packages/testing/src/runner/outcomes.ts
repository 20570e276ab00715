/** What became of the handlers of an operator: a list to look at, and to wait for. */
import type { HandlerId, Seconds } from '@kopf-ts/core';
import { type ExecutionMonitor, type MonitoredCall, type Outcome, onAbort } from '@kopf-ts/core/engine';

/** One attempt of one handler on one object, and what became of it. */
export interface HandledCall {
  /** The id of the handler; those of sub-handlers have the ids of their parents before them: `parent/child`. */
  readonly handler: HandlerId;
  readonly kind: MonitoredCall['handler']['kind'];
  /**
   * Why it was called: `create`, `update`, `delete`, `resume` for changes; `startup`, `cleanup`, etc. for activities;
   * the type of the event (`ADDED`, …) for `on.event`; `undefined` for all others.
   */
  readonly reason: string | undefined;
  /** Of which object; `undefined` for activities. */
  readonly object: HandledObject | undefined;
  /** How many attempts were before this one. */
  readonly retry: number;
  /** `retried`: it is to be called again, after the delay. */
  readonly how: 'succeeded' | 'failed' | 'retried';
  /** What the handler has returned. */
  readonly result: unknown;
  readonly error: Error | undefined;
  /** Until the next attempt. */
  readonly delay: Seconds | undefined;
}

export interface HandledObject {
  readonly kind: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly uid: string | undefined;
}

/** Which calls are meant: all that is given must be so. */
export interface CallMatch {
  readonly handler?: HandlerId | undefined;
  readonly reason?: string | undefined;
  /** The name of the object. */
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly how?: HandledCall['how'] | undefined;
  readonly retry?: number | undefined;
}

/**
 * The calls so far, in the order of their ends. As an async iterable, it gives these, then the next ones as they come,
 * and ends with the operator.
 */
export interface HandledCalls extends ReadonlyArray<HandledCall>, AsyncIterable<HandledCall> {
  /** The first matching call, of those so far or of the next ones; rejects if the operator ends without it. */
  next(match: CallMatch | HandlerId): Promise<HandledCall>;
  /** All matching calls so far. */
  of(match: CallMatch | HandlerId): readonly HandledCall[];
}

/** The list, and the monitor that fills it. It ends when the signal aborts. */
export function handledCalls(ended: AbortSignal): { readonly calls: HandledCalls; readonly monitor: ExecutionMonitor } {
  const calls: HandledCall[] = [];
  let waiting: (() => void)[] = [];
  const wakeUp = (): void => {
    const all = waiting;
    waiting = [];
    for (const wake of all) wake();
  };
  onAbort(ended, wakeUp);

  async function* iterate(): AsyncGenerator<HandledCall, void, undefined> {
    for (let n = 0; ; n++) {
      while (n >= calls.length && !ended.aborted) await new Promise<void>((resolve) => void waiting.push(resolve));
      const call = calls[n];
      if (call === undefined) return;
      yield call;
    }
  }

  const methods = {
    [Symbol.asyncIterator]: iterate,
    async next(match: CallMatch | HandlerId): Promise<HandledCall> {
      for await (const call of iterate()) if (isMatching(call, match)) return call;
      throw new Error(`The operator ended without a call of ${describeMatch(match)}. ${describeCalls(calls)}`);
    },
    of: (match: CallMatch | HandlerId) => calls.filter((call) => isMatching(call, match)),
  };
  const hidden = Object.getOwnPropertyDescriptors(methods);
  // Not enumerable, so that assertions see a list as any other.
  for (const descriptor of [...Object.values(hidden), hidden[Symbol.asyncIterator]]) descriptor.enumerable = false;
  return {
    calls: Object.defineProperties(calls, hidden) as readonly HandledCall[] as HandledCalls,
    monitor: {
      enter: () => ({ returned() {}, settled() {} }),
      judged(call, outcome, retry) {
        calls.push(callOf(call, outcome, retry));
        wakeUp();
      },
    },
  };
}

function callOf({ handler, cause }: MonitoredCall, outcome: Outcome, retry: number): HandledCall {
  return {
    handler: handler.id,
    kind: handler.kind,
    reason: reasonOf(cause),
    object: objectOf(cause),
    retry,
    how: 'result' in outcome ? 'succeeded' : outcome.final ? 'failed' : 'retried',
    result: 'result' in outcome ? outcome.result : undefined,
    error: 'error' in outcome ? outcome.error : undefined,
    delay: 'delay' in outcome ? outcome.delay : undefined,
  };
}

function reasonOf(cause: MonitoredCall['cause']): string | undefined {
  if (cause.kind === 'activity') return cause.activity;
  if (cause.kind === 'changing' || cause.kind === 'webhook') return cause.reason;
  return cause.kind === 'watching' ? (cause.event.type ?? undefined) : undefined;
}

function objectOf(cause: MonitoredCall['cause']): HandledObject | undefined {
  if (cause.kind === 'activity') return undefined;
  const { namespace, name, uid } = cause.body.metadata ?? {};
  return { kind: cause.body.kind ?? cause.resource.kind, namespace, name, uid };
}

function isMatching(call: HandledCall, match: CallMatch | HandlerId): boolean {
  if (typeof match === 'string') return call.handler === match;
  const { name, namespace, ...same } = match;
  if (name !== undefined && call.object?.name !== name) return false;
  if (namespace !== undefined && call.object?.namespace !== namespace) return false;
  return Object.entries(same).every(([key, value]) => value === undefined || call[key as keyof typeof same] === value);
}

function describeMatch(match: CallMatch | HandlerId): string {
  return typeof match === 'string' ? `"${match}"` : JSON.stringify(match);
}

function describeCalls(calls: readonly HandledCall[]): string {
  const lines = calls.map(({ handler, object, how }) => `${handler}${object?.name ? ` (${object.name})` : ''}: ${how}`);
  return lines.length === 0 ? 'No handlers were called.' : `The calls were: ${lines.join(', ')}.`;
}
