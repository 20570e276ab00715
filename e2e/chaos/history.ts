/**
 * What happened in one run, as plain data: what the writer did, what the handlers were called with, what went through
 * the line, which faults hit everything at once, and what is in the cluster in the end. All times are of `Date.now()`:
 * everything runs on one machine.
 */

/** The parts of an object that only the writer changes. Each number only grows, so that no state ever comes back. */
export interface Values {
  /** The number of the latest edit, whatever it has changed. */
  readonly edit: number;
  readonly round: number;
  readonly size: number;
}

/** One accepted write by somebody else than the operator. */
export interface Edit {
  readonly at: number;
  readonly what: 'create' | 'edit' | 'delete';
  readonly uid: string;
  /** `<plural>/<name>`. */
  readonly key: string;
  readonly values: Values;
  /** Of deletions: whether our finalizer was there, so that the deletion has to wait for the handlers. */
  readonly isBlocked?: boolean;
}

/** One call of a handler. */
export interface Call {
  /** The number of the operator's process: each restart has a new one. */
  readonly run: number;
  readonly began: number;
  /** Absent if the process has ended first. */
  readonly ended?: number;
  readonly outcome?: 'succeeded' | 'failed';
  readonly uid: string;
  readonly key: string;
  readonly handler: string;
  readonly kind: 'change' | 'parent' | 'deletion' | 'resumption' | 'timer' | 'daemon';
  readonly retry: number;
  /** What the handler looks at, as it was: two calls that have seen the same are a duplicate, unless it is a retry. */
  readonly seen: string;
  readonly values: Values;
}

/** One write of the operator to one object, as seen on the line. */
export interface LineWrite {
  readonly from: number;
  readonly to: number;
  readonly key: string;
  /** For people: `PATCH`, `PATCH of the status`. */
  readonly method: string;
  /** Of the line or of the server; 0 if there was none. */
  readonly status: number;
  /** Has the server accepted it, whether the operator was told so or not? */
  readonly isApplied: boolean;
  readonly fate: 'delivered' | 'answer lost' | 'reset' | 'given up by the client' | 'server down';
  /** Names of our annotations in the body, without the prefix; with a minus if they are removed. */
  readonly marks: readonly string[];
}

/** What hit the whole operator at once. */
export interface Blow {
  readonly kind: 'kill' | 'stop' | 'break of all connections';
  readonly from: number;
  readonly to: number;
}

/** An object of the cluster, as found after all. */
export interface Remnant {
  readonly uid: string;
  readonly key: string;
  readonly isDeleting: boolean;
  readonly finalizers: readonly string[];
  /** Our annotations except for the last handled state. */
  readonly marks: readonly string[];
  readonly lastHandled: 'equal' | 'different' | 'absent';
  readonly values: Values;
  /** What the handlers have made of it, by names. */
  readonly effects: Readonly<Record<string, unknown>>;
}

export interface History {
  readonly edits: readonly Edit[];
  readonly calls: readonly Call[];
  readonly writes: readonly LineWrite[];
  readonly blows: readonly Blow[];
  /** When the last fault was over. */
  readonly calmSince: number;
  /** When the objects were looked at; everything was deleted after that. */
  readonly settledAt: number;
  /** The objects at that time. */
  readonly settled: readonly Remnant[];
  /** What is left after everything was deleted. */
  readonly left: readonly Remnant[];
  /** What went wrong with the operator as a whole: processes that ended by themselves, or did not end. */
  readonly accidents: readonly string[];
}

/** What an operator promises about one kind of objects. */
export interface Promises {
  /** Together, these handlers have to see the final value; the last one of them that succeeds has to. */
  readonly chains: readonly { readonly handlers: readonly string[]; readonly value: keyof Values }[];
  readonly deletions: readonly string[];
  /** One of each runs for every live object. */
  readonly daemons: readonly string[];
  readonly timers: readonly string[];
  readonly effects: (values: Values) => Readonly<Record<string, unknown>>;
}
