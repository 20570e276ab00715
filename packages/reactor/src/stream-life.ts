/** The phases of a stream that the stream itself cannot tell: those before its beginning and after its end. */
import type { Clock, Seconds, WatchTarget } from '@kopf-ts/core';
import { type Facts, NO_FACTS } from '@kopf-ts/core/engine';

export interface StreamLife {
  /** It has failed by a fault of ours, and is restarted. */
  crashed(error: Error): void;
  /** It is not wanted any more. */
  ended(): void;
}

/** The life of a stream for the observers: it is starting from now on. */
export function streamLife(
  stream: WatchTarget,
  { facts = NO_FACTS, clock }: { readonly facts?: Facts | undefined; readonly clock: Clock },
): StreamLife {
  const tell = (phase: 'starting' | 'crashed' | 'ended', error?: Error): void => {
    if (!facts.wants['stream.phase']) return;
    const since: Seconds = clock.now();
    const never = { lastEventAt: undefined, lastGoodAt: undefined };
    facts.tell({ kind: 'stream.phase', stream, phase, since, error, ...never });
  };
  tell('starting');
  return { crashed: (error) => tell('crashed', error), ended: () => tell('ended') };
}
