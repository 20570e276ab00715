/**
 * How far streams are behind the cluster. That takes a request for each of them, so it is done only when somebody
 * looks, and at most once a minute, however many look.
 */
import type { KubeClient } from '../seams/client.js';
import type { Clock, Seconds } from '../seams/clock.js';
import type { ObservedStream } from '../seams/inspection/observer.js';
import { childController } from '../sync/abort.js';
import { resourceUrl } from '../values/resources/resource.js';

export interface LagOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
}

/** What is known of a stream, to be compared with the cluster. It is read again when the answer is there. */
interface SeenStream {
  /** The newest version that has come by it. */
  readonly seen: string | undefined;
  readonly isWatching: boolean;
}

export interface LagMeter {
  /** Measures, if it is time for it. Resolves when it is done, or when it takes too long; never rejects. */
  measure(streams: Iterable<readonly [ObservedStream, SeenStream]>, signal: AbortSignal): Promise<void>;
  /** By how many versions the stream was behind when that was measured; `undefined` if it was not, or if nobody can tell. */
  lagOf(stream: ObservedStream): number | undefined;
}

const INTERVAL: Seconds = 60;
/** No look waits longer than that. Answers that come later are there for the next one. */
const PATIENCE: Seconds = 2;
/** There may be thousands of streams: these are asked for in one minute, the others in the next ones. */
const MOST = 50;
const AT_ONCE = 4;

type Entry = readonly [ObservedStream, SeenStream];

export function lagMeter({ client, clock }: LagOptions): LagMeter {
  let measuredAt = Number.NEGATIVE_INFINITY;
  let measuring: Promise<void> | undefined;
  const askedAt = new WeakMap<ObservedStream, Seconds>();
  const lags = new WeakMap<ObservedStream, number>();

  const measureOne = async ([stream, known]: Entry, signal: AbortSignal): Promise<void> => {
    askedAt.set(stream, clock.now());
    try {
      const lag = behind(await versionOf(client, stream, signal), known.seen);
      if (lag === undefined) lags.delete(stream);
      else lags.set(stream, lag);
    } catch {
      // It is in the counters of requests.
      lags.delete(stream);
    }
  };
  const measureAll = async (streams: readonly Entry[], signal: AbortSignal): Promise<void> => {
    for (const [stream, { isWatching }] of streams) if (!isWatching) lags.delete(stream);
    const since = ([stream]: Entry): Seconds => askedAt.get(stream) ?? -1;
    const next = streams
      .filter(([, { isWatching }]) => isWatching)
      .sort((one, two) => since(one) - since(two))
      .slice(0, MOST)
      [Symbol.iterator]();
    const work = async (): Promise<void> => {
      for (const entry of next) await measureOne(entry, signal);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  };

  return {
    lagOf: (stream) => lags.get(stream),
    async measure(streams, signal) {
      if (measuring === undefined) {
        if (clock.now() - measuredAt < INTERVAL) return;
        measuredAt = clock.now();
        measuring = measureAll([...streams], signal).finally(() => {
          measuring = undefined;
        });
      }
      const isDone = new AbortController();
      void measuring.then(() => isDone.abort());
      await clock.sleep(PATIENCE, { wakeup: isDone.signal });
    },
  };
}

/** Of the whole collection, with as little of it as possible. */
async function versionOf(client: KubeClient, stream: ObservedStream, signal: AbortSignal): Promise<string | undefined> {
  const { resource, namespace } = stream;
  const limit = childController(signal);
  try {
    const { metadata } = await client.request<{ metadata?: { resourceVersion?: string } }>({
      method: 'GET',
      path: `${resourceUrl(resource, { namespace })}?limit=1`,
      accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
      retries: 'none',
      timeouts: { connect: PATIENCE, headers: PATIENCE, total: PATIENCE * 2 },
      signal: limit.signal,
    });
    return metadata?.resourceVersion;
  } finally {
    limit.dispose();
  }
}

const DIGITS = /^\d{1,19}$/;

/** `undefined` if versions are no numbers: then nobody can tell. */
function behind(version: string | undefined, seen: string | undefined): number | undefined {
  if (version === undefined || seen === undefined || !DIGITS.test(version) || !DIGITS.test(seen)) return undefined;
  const lag = BigInt(version) - BigInt(seen);
  return lag > 0n ? Number(lag) : 0;
}
