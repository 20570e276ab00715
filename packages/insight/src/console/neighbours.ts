/** What is around the objects: streams, peers, reviews, the queue. */
import type { Clock, FactOf, ObservedStream, Seconds } from '@kopf-ts/core';
import { compareVersions, type LagMeter } from '@kopf-ts/core/engine';
import { resourceTitle } from '../journal/operator-facts.js';
import { shortName, shortText } from '../journal/texts.js';
import { type FactTakers, keyOf } from './takers.js';

/** Moments are in milliseconds since 1970, as browsers have them. */
export type Millis = number;

interface StreamView {
  readonly resource: string;
  readonly namespace: string | null;
  readonly selectors: string | undefined;
  readonly phase: string;
  readonly since: Millis;
  readonly lastEventAt: Millis | undefined;
  readonly error: string | undefined;
  readonly lag: number | undefined;
}

interface KnownStream {
  seen: string | undefined;
  phase: FactOf<'stream.phase'> | undefined;
  readonly isWatching: boolean;
}

export interface StreamsBook {
  readonly takers: FactTakers;
  readonly streams: ReadonlyMap<ObservedStream, KnownStream>;
  view(millis: (at: Seconds) => Millis): readonly StreamView[];
}

/** More than that, nobody reads. */
const MOST_STREAMS = 300;

export function streamsBook(lag: LagMeter | undefined): StreamsBook {
  const streams = new Map<ObservedStream, KnownStream>();
  const known = (stream: ObservedStream): KnownStream => {
    let one = streams.get(stream);
    if (one === undefined) {
      one = {
        seen: undefined,
        phase: undefined,
        get isWatching() {
          return this.phase?.phase === 'watching';
        },
      };
      streams.set(stream, one);
    }
    return one;
  };
  const see = ({ stream, version }: { stream: ObservedStream; version: string | undefined }): void => {
    const one = known(stream);
    const order = compareVersions(version, one.seen);
    if (one.seen === undefined || (order !== undefined && order > 0)) one.seen = version;
  };
  return {
    streams,
    takers: {
      'stream.event': see,
      'stream.bookmark': see,
      'stream.opened': see,
      'stream.phase'(fact) {
        if (fact.phase === 'ended') streams.delete(fact.stream);
        else known(fact.stream).phase = fact;
      },
    },
    view: (millis) =>
      [...streams].slice(0, MOST_STREAMS).flatMap(([stream, { phase }]): StreamView[] => {
        if (phase === undefined) return [];
        const { resource, namespace, labelSelector, fieldSelector } = stream;
        const selectors = [labelSelector, fieldSelector].filter((one) => one !== undefined).join(', ');
        return [
          {
            resource: resourceTitle(resource),
            namespace,
            selectors: selectors === '' ? undefined : shortText(selectors),
            phase: phase.phase,
            since: millis(phase.since),
            lastEventAt: phase.lastEventAt === undefined ? undefined : millis(phase.lastEventAt),
            error: phase.error && shortText(phase.error.message),
            lag: lag?.lagOf(stream),
          },
        ];
      }),
  };
}

interface PeerView {
  /** `null` is the whole cluster. */
  readonly namespace: string | null;
  readonly isPaused: boolean;
  readonly kind: string | undefined;
  readonly by: string | undefined;
  readonly since: Millis;
}

export interface PeersBook {
  readonly takers: FactTakers;
  view(millis: (at: Seconds) => Millis): readonly PeerView[];
}

const MOST_PEERS = 100;

export function peersBook(): PeersBook {
  const rulings = new Map<string | null, FactOf<'peering.ruled'>>();
  return {
    takers: {
      'peering.ruled': (fact) => void rulings.set(fact.namespace, fact),
      'peering.left': ({ namespace }) => void rulings.delete(namespace),
    },
    view: (millis) =>
      // Where it does not work goes first.
      [...rulings.values()]
        .sort((one, two) => Number(two.isPaused) - Number(one.isPaused))
        .slice(0, MOST_PEERS)
        .map(({ namespace, isPaused, why, at }) => ({
          namespace,
          isPaused,
          kind: isPaused ? why?.kind : undefined,
          by: isPaused ? shortName(why?.by) : undefined,
          since: millis(at),
        })),
  };
}

interface ReviewView {
  readonly at: Millis;
  readonly operation: string | undefined;
  readonly resource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly outcome: 'allowed' | 'denied' | 'refused';
  readonly code: number | undefined;
  /** Who has judged; or why it was refused. */
  readonly text: string;
  readonly seconds: number | undefined;
}

interface ReviewsView {
  readonly allowed: number;
  readonly denied: number;
  readonly refused: number;
  /** When the certificate expires. */
  readonly certified: Millis | undefined;
  /** The latest goes first. */
  readonly recent: readonly ReviewView[];
}

export interface ReviewsBook {
  readonly takers: FactTakers;
  view(millis: (at: Seconds) => Millis): ReviewsView;
}

const MOST_REVIEWS = 50;

export function reviewsBook(): ReviewsBook {
  const counts = { allowed: 0, denied: 0, refused: 0 };
  const recent: (Omit<ReviewView, 'at'> & { readonly at: Seconds })[] = [];
  let certified: Millis | undefined;
  const add = (review: (typeof recent)[number]): void => {
    counts[review.outcome] += 1;
    recent.unshift(review);
    if (recent.length > MOST_REVIEWS) recent.pop();
  };
  const nobody = { operation: undefined, resource: undefined, namespace: undefined, name: undefined };
  return {
    takers: {
      'review.answered'({ object, operation, allowed, code, handlers, duration, at }) {
        add({
          at,
          operation: shortName(operation),
          resource: object && resourceTitle(object.resource),
          namespace: shortName(object?.namespace),
          name: shortName(object?.name),
          outcome: allowed ? 'allowed' : 'denied',
          code,
          text: shortText(handlers.join(', ')),
          seconds: Number(duration.toPrecision(3)),
        });
      },
      'review.refused': ({ error, at }) =>
        add({
          ...nobody,
          at,
          outcome: 'refused',
          code: undefined,
          text: shortText(error.message),
          seconds: undefined,
        }),
      'webhook.refused': ({ code, why, at }) =>
        add({ ...nobody, at, outcome: 'refused', code, text: shortText(why), seconds: undefined }),
      'webhook.certified'({ until }) {
        certified = until.getTime();
      },
    },
    view: (millis) => ({ ...counts, certified, recent: recent.map((one) => ({ ...one, at: millis(one.at) })) }),
  };
}

export interface QueueBook {
  readonly takers: FactTakers;
  /** Since when the oldest object waits for its turn. */
  oldest(): Seconds | undefined;
}

export function queueBook(clock: Clock): QueueBook {
  /** In the order of their coming. */
  const queued = new Map<string, Seconds>();
  return {
    takers: {
      'object.phase'({ object, phase, before }) {
        if (phase === 'queued') queued.set(keyOf(object), clock.now());
        else if (before === 'queued') queued.delete(keyOf(object));
      },
      'object.gone': ({ object }) => void queued.delete(keyOf(object)),
    },
    oldest: () => queued.values().next().value,
  };
}
