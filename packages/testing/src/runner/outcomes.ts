/** What became of the handlers of an operator: a list to look at, and to wait for. */
import type { FactOf, HandlerId, ObservedHandler, ObservedObject, Observer, Seconds } from '@kopf-ts/core';
import { onAbort } from '@kopf-ts/core/engine';

/**
 * One attempt of one handler on one object, and what became of it.
 *
 * ```ts
 * import type { HandledCall } from 'kopf-ts/testing';
 * const shown = ({ handler, how, object }: HandledCall): string => `${handler} ${how} for ${object?.name}`;
 * ```
 */
export interface HandledCall {
  /** The id of the handler; those of sub-handlers have the ids of their parents before them: `parent/child`. */
  readonly handler: HandlerId;
  readonly kind: ObservedHandler['kind'];
  /**
   * Why it was called: `create`, `update`, `delete`, `resume` for changes; `startup`, `cleanup`, etc. for activities;
   * the type of the event (`ADDED`, …) for `on.event`; `undefined` for all others.
   */
  readonly reason: string | undefined;
  /** Of which object; `undefined` for activities. */
  readonly object: HandledObject | undefined;
  /** How many attempts were before this one. */
  readonly retry: number;
  /** `retried`: it is called again after the delay. */
  readonly how: 'succeeded' | 'failed' | 'retried';
  /** What the handler has returned. */
  readonly result: unknown;
  readonly error: Error | undefined;
  /** Until the next attempt. */
  readonly delay: Seconds | undefined;
}

/**
 * The object that a handler was called for.
 *
 * ```ts
 * import type { HandledObject } from 'kopf-ts/testing';
 * const title = ({ namespace, name }: HandledObject): string => `${namespace}/${name}`;
 * ```
 */
export interface HandledObject {
  readonly kind: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly uid: string | undefined;
}

/**
 * Which calls are meant: all that is given must be so.
 *
 * ```ts
 * import type { CallMatch } from 'kopf-ts/testing';
 * const firstFailure: CallMatch = { handler: 'create_fn', how: 'retried', retry: 0 };
 * ```
 */
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
 *
 * ```ts
 * import { operatorRunner } from 'kopf-ts/testing';
 * await using runner = await operatorRunner({ handlers: 'src/handlers.ts' });
 * await runner.outcomes.next({ handler: 'create_fn', how: 'succeeded' });
 * expect(runner.outcomes.of('delete_fn')).toHaveLength(0);
 * ```
 */
export interface HandledCalls extends ReadonlyArray<HandledCall>, AsyncIterable<HandledCall> {
  /** The first matching call, of those so far or of the next ones; rejects if the operator ends without it. */
  next(match: CallMatch | HandlerId): Promise<HandledCall>;
  /** All matching calls so far. */
  of(match: CallMatch | HandlerId): readonly HandledCall[];
}

/** The list, and the observer that fills it. It ends when the signal aborts. */
export function handledCalls(ended: AbortSignal): { readonly calls: HandledCalls; readonly observer: Observer } {
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
    observer: {
      wants: ['call.ended'],
      observe(fact) {
        if (fact.kind !== 'call.ended') return;
        calls.push(callOf(fact));
        wakeUp();
      },
    },
  };
}

function callOf({
  handler,
  reason,
  object,
  retry,
  outcome: how,
  result,
  error,
  delay,
}: FactOf<'call.ended'>): HandledCall {
  return {
    handler: handler.id,
    kind: handler.kind,
    reason,
    object: object && named(object),
    retry,
    how,
    result,
    error,
    delay,
  };
}

function named({ kind, namespace, name, uid }: ObservedObject): HandledObject {
  return { kind, namespace, name, uid };
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
