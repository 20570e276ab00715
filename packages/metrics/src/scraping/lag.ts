/**
 * How far the streams are behind the cluster. That takes a request for each of them, so it is done only when somebody
 * looks, and at most once a minute.
 */
import type { Clock, KubeClient, ObservedStream, Seconds } from '@kopf-ts/core';
import { childController, resourceUrl } from '@kopf-ts/core/engine';
import type { StreamState } from '../facts/streams.js';

export interface LagOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly streams: ReadonlyMap<ObservedStream, StreamState>;
}

const INTERVAL: Seconds = 60;
/** No look waits longer than that. Answers that come later are there for the next one. */
const PATIENCE: Seconds = 2;
/** There may be thousands of streams: these are asked for in one minute, the others in the next ones. */
const MOST = 50;
const AT_ONCE = 4;

/** Measures, if it is time for it. Resolves when it is done, or when it takes too long; never rejects. */
export function lagMeter({ client, clock, streams }: LagOptions): (signal: AbortSignal) => Promise<void> {
  let measuredAt = Number.NEGATIVE_INFINITY;
  let measuring: Promise<void> | undefined;
  const askedAt = new WeakMap<ObservedStream, Seconds>();

  const measureOne = async (stream: ObservedStream, state: StreamState, signal: AbortSignal): Promise<void> => {
    askedAt.set(stream, clock.now());
    try {
      const version = await versionOf(client, stream, signal);
      state.lag = lagOf(version, state.seen);
    } catch {
      // It is in the counters of requests.
      state.lag = undefined;
    }
  };
  const measureAll = async (signal: AbortSignal): Promise<void> => {
    const watching = [...streams].filter(([, { phase }]) => phase?.phase === 'watching');
    for (const [, state] of streams) if (state.phase?.phase !== 'watching') state.lag = undefined;
    const since = ([stream]: readonly [ObservedStream, StreamState]): Seconds => askedAt.get(stream) ?? -1;
    const next = watching
      .sort((one, two) => since(one) - since(two))
      .slice(0, MOST)
      [Symbol.iterator]();
    const work = async (): Promise<void> => {
      for (const [stream, state] of next) await measureOne(stream, state, signal);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  };

  return async (signal) => {
    if (measuring === undefined) {
      if (clock.now() - measuredAt < INTERVAL) return;
      measuredAt = clock.now();
      measuring = measureAll(signal).finally(() => {
        measuring = undefined;
      });
    }
    const isDone = new AbortController();
    void measuring.then(() => isDone.abort());
    await clock.sleep(PATIENCE, { wakeup: isDone.signal });
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
function lagOf(version: string | undefined, seen: string | undefined): number | undefined {
  if (version === undefined || seen === undefined || !DIGITS.test(version) || !DIGITS.test(seen)) return undefined;
  const lag = BigInt(version) - BigInt(seen);
  return lag > 0n ? Number(lag) : 0;
}
