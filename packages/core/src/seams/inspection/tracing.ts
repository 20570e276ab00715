import type { Seconds } from '../clock.js';
import type { ObservedHandler, ObservedObject } from './observer.js';

/**
 * A piece of work that takes some time, and that a trace may show as a span.
 *
 * ```ts
 * const spanName = (work: kopf.TracedWork): string =>
 *   work.kind === 'call' ? `call ${work.handler.id}` : work.kind;
 * ```
 */
export type TracedWork =
  /** One cycle of one object: from what happened to it to what is written back. */
  | {
      readonly kind: 'cycle';
      readonly object: ObservedObject;
      /** The mark that the tracing of the object's creator left on it, and the age of the object. */
      readonly origin?: { readonly mark: string; readonly age: Seconds } | undefined;
    }
  /** One call of one handler. */
  | {
      readonly kind: 'call';
      readonly handler: ObservedHandler;
      /** Absent for activities. */
      readonly object: ObservedObject | undefined;
      readonly retry: number;
    }
  /** One request of the client, including all its tries. */
  | { readonly kind: 'request'; readonly method: string; readonly path: string }
  /** One admission review. */
  | {
      readonly kind: 'review';
      readonly uid: string;
      readonly operation: string;
      /** The headers of the review, as far as the server provides them, by lower-case name. */
      readonly headers?: Readonly<Record<string, string>> | undefined;
    };

/**
 * Puts spans of a trace around the work of an operator, and passes the trace on to the servers it calls.
 *
 * *Guarantees.* Spans nest as the work does: calls and requests are inside of their cycle, a handler's requests are
 * inside of its call. Without a `Tracing`, there is no overhead.
 *
 * *Errors.* What `fn` throws must be thrown, and what it returns must be returned, even if it is a promise. If `around`
 * throws before it has called `fn`, calls it more than once, or not at all, the work is still done exactly once.
 *
 * *Cost.* It is called in the middle of the work: it must be quick.
 *
 * ```ts
 * const tracing: kopf.Tracing = {
 *   around(work, fn) {
 *     const start = performance.now();
 *     const end = () => performance.measure(work.kind, { start });
 *     const result = fn();
 *     void Promise.resolve(result).then(end, end);
 *     return result;
 *   },
 *   headers: () => ({ traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }),
 * };
 * await kopf.run({ tracing });
 * ```
 *
 * *Guarantees.* Work is nested as it happens: calls and requests are inside of their cycle, requests of a handler are
 * inside of its call. Without a `Tracing`, nothing is made or called for it.
 *
 * *Errors.* What `fn` throws must be thrown, and what it returns must be returned, also if it is a promise. If `around`
 * throws before it has called `fn`, or calls it more than once, or not at all, the work is done all the same, once.
 *
 * *Cost.* It is called in the midst of the work: it must be quick.
 */
export interface Tracing {
  /** Calls `fn` once and synchronously, and returns what it returns. */
  around<R>(work: TracedWork, fn: () => R): R;
  /** Headers for a request that is about to be sent, such as `traceparent`; called inside of the work around it. */
  headers(): Readonly<Record<string, string>>;
  /**
   * The mark to leave on an object that is created inside of a call, of at most 512 characters: its cycles get it, in
   * this operator or in another one. `undefined` for none. Optional: without it, no marks are left.
   */
  mark?(): string | undefined;
}
