/** Watching what is good to know, but may be not permitted to us: then there are ways to do without it. */
import { ApiForbiddenError, type Awaitable, type KubeClient, type Resource, type Seconds } from '@kopf-ts/core';
import { childController, formatResource, type WatchOptions, type WatchSignal, watch } from '@kopf-ts/core/engine';
import type { Health } from '../probing/health.js';

export interface PermittedWatchOptions extends Omit<WatchOptions, 'onState' | 'paused'> {
  readonly health: Health;
  readonly digest: (signal: WatchSignal) => Awaitable<void>;
}

/** What is not permitted: even to see the objects, or only to be told of their changes. */
export type Refusal = 'list' | 'watch';

/** A refusal that comes that long after the listing is not of the first attempt: the permission was there before. */
const DECISIVE_WITHIN: Seconds = 60;

/**
 * Watches until aborted, or until it turns out at the first attempt that it is not permitted; returns what is not.
 * A permission that was there and is lost is another matter: clusters in trouble forget them, and then recall.
 */
export async function watchIfPermitted(
  client: KubeClient,
  resource: Resource,
  options: PermittedWatchOptions,
): Promise<Refusal | undefined> {
  const { health, digest, signal, logger, clock, ...rest } = options;
  const following = health.follow(`${formatResource(resource)} cluster-wide`);
  const watching = childController(signal);
  let listedAt: Seconds | undefined;
  let refusal: Refusal | undefined;
  const isDecisive = (error: unknown): boolean =>
    error instanceof ApiForbiddenError && (listedAt === undefined || clock.now() - listedAt <= DECISIVE_WITHIN);
  try {
    const stream = watch(client, resource, {
      ...rest,
      // Never, whatever else is in the options: the pause may last until the kind of the peerings appears.
      paused: undefined,
      clock,
      logger,
      // Whoever has a fallback tells of the refusal in better words.
      isToldElsewhere: isDecisive,
      signal: watching.signal,
      onState(state) {
        if (isDecisive(state.error)) {
          refusal = listedAt === undefined ? 'list' : 'watch';
          watching.abort(state.error);
        } else {
          following.update(state);
        }
      },
    });
    for await (const event of stream) {
      if (event.type === 'LISTED') listedAt ??= clock.now();
      await digest(event);
    }
  } finally {
    watching.dispose();
    following.drop();
  }
  return refusal;
}
