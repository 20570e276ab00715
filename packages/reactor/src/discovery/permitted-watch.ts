/** Watches objects that are useful but possibly not permitted to us: then there are fallbacks. */
import { ApiForbiddenError, type Awaitable, type KubeClient, type Seconds, type WatchTarget } from '@kopf-ts/core';
import { childController, type WatchOptions, type WatchSignal, watch } from '@kopf-ts/core/engine';
import { streamLife } from '../stream-life.js';

export interface PermittedWatchOptions extends Omit<WatchOptions, 'onTrouble' | 'paused'> {
  readonly accept: (signal: WatchSignal) => Awaitable<void>;
}

/** What is not permitted: even listing the objects, or only watching them. */
export type Refusal = 'list' | 'watch';

/** A refusal that late after the listing is not about the first connection: the permission was there before. */
const DECISIVE_WITHIN: Seconds = 60;

/**
 * Watches until aborted, or until the first connection shows that it is not permitted; returns what is not. Losing a
 * permission later is another matter: clusters in trouble forget permissions temporarily.
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
