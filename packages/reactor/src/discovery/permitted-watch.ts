/** Watching what is good to know, but may be not permitted to us: then there are ways to do without it. */
import { ApiForbiddenError, type Awaitable, type KubeClient, type Seconds, type WatchTarget } from '@kopf-ts/core';
import { childController, type WatchOptions, type WatchSignal, watch } from '@kopf-ts/core/engine';
import { streamLife } from '../stream-life.js';

export interface PermittedWatchOptions extends Omit<WatchOptions, 'onTrouble' | 'paused'> {
  readonly accept: (signal: WatchSignal) => Awaitable<void>;
}

/** What is not permitted: even to see the objects, or only to be told of their changes. */
export type Refusal = 'list' | 'watch';

/** A refusal that comes that long after the listing is not of the first connection: the permission was there before. */
const DECISIVE_WITHIN: Seconds = 60;

/**
 * Watches until aborted, or until it turns out at the first connection that it is not permitted; returns what is not.
 * A permission that was there and is lost is another matter: clusters in trouble forget them, and then recall.
 */
export async function watchIfPermitted(
  client: KubeClient,
  target: WatchTarget,
  options: PermittedWatchOptions,
): Promise<Refusal | undefined> {
  const { accept, signal, clock } = options;
  const life = streamLife(target, options);
  const watching = childController(signal);
  let listedAt: Seconds | undefined;
  let refusal: Refusal | undefined;
  const isDecisive = (error: unknown): boolean =>
    error instanceof ApiForbiddenError && (listedAt === undefined || clock.now() - listedAt <= DECISIVE_WITHIN);
  try {
    const stream = watch(client, target, {
      ...options,
      // Never, whatever else is in the options: the pause may last until the kind of the peerings appears.
      paused: undefined,
      // The caller has a fallback, and reports the refusal in better words.
      isReportedElsewhere: isDecisive,
      signal: watching.signal,
      onTrouble(error) {
        if (!isDecisive(error)) return;
        refusal = listedAt === undefined ? 'list' : 'watch';
        watching.abort(error);
      },
    });
    for await (const event of stream) {
      if (event.type === 'LISTED') listedAt ??= clock.now();
      await accept(event);
    }
  } finally {
    watching.dispose();
    life.ended();
  }
  return refusal;
}
