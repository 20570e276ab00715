/** All that the console shows, at one moment: made for whoever looks, and not more often than it is worth. */
import {
  type Clock,
  type Control,
  type ControlledObject,
  type Fact,
  type FactKind,
  type Observer,
  parseField,
  type Seconds,
  type Settings,
} from '@kopf-ts/core';
import type { LagMeter } from '@kopf-ts/core/engine';
import type { ObjectJournal } from '../journal/entries.js';
import type { Journal } from '../journal/journal.js';
import { resourceTitle } from '../journal/operator-facts.js';
import { explain, type LiveState } from '../why/explain.js';
import { type DeclaredHandler, handlerBook } from './handler-rates.js';
import { type Millis, peersBook, queueBook, reviewsBook, streamsBook } from './neighbours.js';
import type { ObjectLogs } from './object-logs.js';
import { type ObjectState, objectStates, STATES } from './object-states.js';

export interface SnapshotOptions {
  readonly clock: Clock;
  readonly journal: Journal;
  readonly control: Control;
  readonly logs?: ObjectLogs | undefined;
  readonly lag?: LagMeter | undefined;
  readonly handlers?: (() => Iterable<DeclaredHandler>) | undefined;
  /** How many objects of one kind are worked on at once. */
  readonly workerLimit?: (() => number | undefined) | undefined;
  readonly version?: string | undefined;
  readonly settings?: Pick<Settings, 'insight'> | undefined;
}

/** One object in the list. */
export interface Row {
  readonly resource: string;
  readonly kind: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly uid: string | undefined;
  readonly state: ObjectState;
  readonly message: string | undefined;
  /** When it will be looked at again by itself. */
  readonly until: Millis | undefined;
  readonly daemons: number;
}

export interface Snapshot {
  readonly overview: unknown;
  /** The most pressing go first, then in the order in which the operator has met them. */
  readonly rows: readonly Row[];
}

/** Which object is looked at. */
export interface Chosen {
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface Snapshots {
  readonly observer: Observer;
  /** Changes whenever there may be something new. */
  readonly count: number;
  onChange(listener: () => void): () => void;
  snapshot(): Snapshot;
  /** All about one object; `null` if nothing is known of it. */
  detail(chosen: Chosen): { readonly content: unknown; readonly signature: string } | null;
  /** Compares the streams with the cluster, if it is time for it. */
  measure(signal: AbortSignal): Promise<void>;
}

export function snapshots(options: SnapshotOptions): Snapshots {
  const { clock, journal, control, logs, lag, workerLimit = () => undefined } = options;
  const states = objectStates((options.settings?.insight.sensitiveFields ?? []).map((field) => parseField(field)));
  const handlers = handlerBook({ clock, declared: options.handlers });
  const streams = streamsBook(lag);
  const peers = peersBook();
  const reviews = reviewsBook();
  const queue = queueBook(clock);
  const listeners = new Set<() => void>();
  // Once, so that moments of the past do not seem to change.
  const epoch = clock.utc().getTime() - clock.now() * 1000;
  const startedAt = clock.now();
  const millis = (at: Seconds): Millis => Math.round(epoch + at * 1000);
  let count = 0;

  const changed = (): void => {
    count += 1;
    for (const listener of listeners) listener();
  };
  const books = [states, handlers, streams, peers, reviews, queue];
  const takers = new Map<FactKind, ((fact: Fact) => void)[]>();
  for (const book of books) {
    for (const [kind, take] of Object.entries(book.takers) as [FactKind, (fact: Fact) => void][]) {
      takers.set(kind, [...(takers.get(kind) ?? []), take]);
    }
  }
  // These are only news: what they tell is asked for elsewhere.
  for (const kind of ['object.paused', 'daemon.started', 'discovery.revised', 'indexing.ready'] as const) {
    if (!takers.has(kind)) takers.set(kind, []);
  }

  const rowOf = (controlled: ControlledObject): Row => {
    const { object, until, daemons } = controlled;
    const { resource, kind, namespace, name, uid } = object;
    const at = until === undefined || !Number.isFinite(until) ? undefined : millis(until);
    return {
      resource: resourceTitle(resource),
      kind,
      namespace,
      name,
      uid,
      ...states.stateOf(controlled),
      until: at,
      daemons: daemons.length,
    };
  };

  return {
    observer: {
      wants: [...takers.keys()],
      observe(fact) {
        for (const take of takers.get(fact.kind) ?? []) take(fact);
        changed();
      },
    },
    get count() {
      return count + (logs?.count ?? 0);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    snapshot() {
      const all = control.objects();
      const byState = new Map<ObjectState, Row[]>(STATES.map((state) => [state, []]));
      const known = journal.operator();
      const kinds = new Map((known.resources ?? []).map((resource) => [resource, emptyCounts()]));
      const phases = { queued: 0, running: 0, waiting: 0 };
      for (const controlled of all) {
        const row = rowOf(controlled);
        byState.get(row.state)?.push(row);
        const counts = kinds.get(row.resource) ?? emptyCounts();
        counts[row.state] += 1;
        kinds.set(row.resource, counts);
        if (controlled.phase !== 'idle') phases[controlled.phase] += 1;
      }
      const { operator, namespaces, indexing } = known;
      const oldest = queue.oldest();
      return {
        rows: [...byState.values()].flat(),
        overview: {
          operator,
          version: options.version,
          startedAt: millis(startedAt),
          namespaces,
          isPaused: control.isPaused,
          indexing,
          total: all.length,
          kinds: [...kinds].map(([resource, counts]) => ({ resource, ...counts })),
          handlers: handlers.view(),
          streams: streams.view(millis),
          queue: { ...phases, oldest: oldest === undefined ? undefined : millis(oldest), limit: workerLimit() },
          peers: peers.view(millis),
          reviews: reviews.view(millis),
        },
      };
    },
    detail(chosen) {
      const [controlled] = control.objects(chosen);
      const uid = controlled?.object.uid;
      const found = journal.find(uid === undefined ? { ...chosen } : { uid });
      if (controlled === undefined && found === undefined) return null;
      const lines = logs?.of(uid ?? found?.uid) ?? [];
      const live = controlled && liveOf(controlled, control.isPaused);
      const row = controlled && rowOf(controlled);
      const { kind } = controlled?.object ?? found ?? {};
      const operator = journal.operator();
      const resource = row?.resource ?? found?.resource ?? chosen.resource;
      const signature = signatureOf(found, [row, live, lines.length, lines.at(-1)?.at]);
      const why = explain({ object: { ...chosen, resource, kind }, journal: found, operator, live });
      return {
        signature,
        content: {
          ...chosen,
          resource,
          kind,
          uid: uid ?? found?.uid,
          isKnown: controlled !== undefined,
          state: row?.state,
          phase: controlled?.phase,
          isPaused: controlled?.isPaused ?? false,
          until: row?.until,
          calls: controlled?.calls ?? [],
          daemons: controlled?.daemons ?? [],
          version: controlled?.version,
          findings: why.findings,
          handlers: why.handlers,
          timeline: why.timeline,
          lost: why.lost,
          logs: lines.map(({ at, level, message }) => ({ at: millis(at), level, message })),
        },
      };
    },
    async measure(signal) {
      if (lag === undefined) return;
      const before = [...streams.streams.keys()].map((stream) => lag.lagOf(stream));
      await lag.measure(streams.streams, signal);
      const after = [...streams.streams.keys()].map((stream) => lag.lagOf(stream));
      if (before.length !== after.length || before.some((value, index) => value !== after[index])) changed();
    },
  };
}

function emptyCounts(): Record<ObjectState, number> {
  return { failed: 0, retrying: 0, running: 0, waiting: 0, paused: 0, daemons: 0, done: 0 };
}

function liveOf(controlled: ControlledObject, isOperatorPaused: boolean): LiveState {
  const { phase, isPaused, until, calls, daemons } = controlled;
  return { phase, isPaused, until, calls, daemons, isOperatorPaused };
}

/** The same as long as nothing has happened: the words for it may differ, as time goes by. */
function signatureOf(found: ObjectJournal | undefined, more: readonly unknown[]): string {
  const last = found?.entries.at(-1);
  const repeats = last?.kind === 'cause' ? [last.lastAt, last.repeats, last.verdicts.length] : [];
  return JSON.stringify([found?.entries.length, found?.lost, last?.at, last?.kind, repeats, found?.waiting, ...more]);
}
