/** Where faults are let in: the pipeline asks the plan before each request and before each line of a stream. */
import type { Awaitable } from '@kopf-ts/core';
import type { ApiAnswer, RequestHead, StreamLine } from './request.js';

/** `undefined` lets the request through. A delay is a promise that resolves later. */
export type RequestFault =
  | { readonly kind: 'answer'; readonly answer: ApiAnswer }
  /** The connection is broken without any answer. */
  | { readonly kind: 'reset' };

/** `end` closes the stream properly, `reset` breaks the connection. */
export interface StreamControl {
  end(): void;
  reset(): void;
  /** Puts a text into the stream as it is, out of turn. */
  write?(text: string): void;
}

export interface StreamFault {
  /** Asked for each line. A frozen stream is a promise that does not resolve until thawed. */
  pass(line: StreamLine): Awaitable<'send' | 'drop'>;
  /** The stream has ended by itself or by the client: the control is of no use from now on. */
  closed(): void;
}

export interface FaultPlan {
  /** Before authentication and everything else. */
  beforeRequest(request: RequestHead): Awaitable<RequestFault | undefined>;
  /** When a watch begins; `undefined` if it is of no interest. */
  onStream(request: RequestHead, control: StreamControl): StreamFault | undefined;
}

/** What the plan can do to the server itself. */
export interface ServerControl {
  /** Breaks all connections and streams, closes the port, and opens the same port again; the data stay. */
  restart(options?: { readonly downFor?: number }): Promise<void>;
  /** Breaks all connections that are open now. */
  dropConnections(): void;
  /** Forgets the history: watches from older versions get 410. */
  compact(): void;
  /** Refuses (closes at once) new connections while `true`. */
  refuseConnections(refuse: boolean): void;
}
