/**
 * The watch-stream of a kind: lists what there is, then tells of every change, for as long as it is wanted.
 *
 * It is a state machine that has no final state. Whatever happens to the connection or to the server, it ends in one of:
 * going on from the last known version, listing anew, or waiting a little and then one of those two.
 */
import type { KubeClient } from '../seams/client.js';
import type { Seconds } from '../seams/clock.js';
import { childController } from '../sync/abort.js';
import { relay } from '../sync/relay.js';
import type { Resource } from '../values/resources/resource.js';
import { startAttempt } from './attempt.js';
import { listing } from './watch-listing.js';
import {
  type Doing,
  type Emit,
  newStream,
  type State,
  type Stream,
  type WatchOptions,
  type WatchSignal,
} from './watch-stream.js';
import { watching } from './watch-watching.js';

export type { StreamState } from './stream-health.js';
export type { ServerCapabilities, WatchedEvent, WatchOptions, WatchSignal } from './watch-stream.js';

/**
 * Calls the function with each signal of the stream. Never fails and never ends until the signal aborts; then it ends
 * without an error. A function that takes its time is waited for; but it is not supposed to throw.
 */
export async function watchInto(
  client: KubeClient,
  resource: Resource,
  options: WatchOptions,
  emit: Emit,
): Promise<void> {
  const { signal, paused } = options;
  const stream = newStream(client, resource, options);
  let state: State = { kind: 'listing' };
  try {
    while (!signal.aborted) {
      if (paused?.isOn) state = { kind: 'paused' };
      switch (state.kind) {
        case 'paused':
          state = await waitWhilePaused(stream);
          break;
        case 'backing off':
          state = await backOff(stream, state.delay, state.next);
          break;
        case 'listing':
          state = await (canStreamLists(stream) ? watching(stream, undefined, emit) : listing(stream, emit));
          break;
        case 'watching':
          state = await watching(stream, state, emit);
          break;
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/**
 * The same as an iterable, for those who like loops; it costs several times more for each event. Whoever reads slowly is
 * waited for.
 */
export async function* watch(
  client: KubeClient,
  resource: Resource,
  options: WatchOptions,
): AsyncGenerator<WatchSignal, void, void> {
  const { signal, abort } = childController(options.signal);
  const signals = relay<WatchSignal>();
  const ended = watchInto(client, resource, { ...options, signal }, signals.give).then(signals.end, signals.fail);
  try {
    for (;;) {
      const next = await signals.take();
      if (next === undefined) return;
      yield next;
    }
  } finally {
    abort();
    signals.end();
    await ended;
  }
}

function canStreamLists({ capabilities, canStreamLists }: Stream): boolean {
  return canStreamLists && capabilities.streamingLists !== false;
}

async function waitWhilePaused(stream: Stream): Promise<State> {
  const { paused, health, logger, title, signal } = stream;
  health.enter('paused');
  logger.debug(`Pausing the watch-stream for ${title}.`);
  await paused?.whenOff(signal);
  logger.debug(`Resuming the watch-stream for ${title}.`);
  stream.failures = 0;
  stream.refusals = 0;
  return { kind: 'listing' };
}

async function backOff(stream: Stream, delay: Seconds, next: Doing): Promise<State> {
  const attempt = startAttempt(stream.signal, stream.paused);
  try {
    await stream.clock.sleep(delay, { signal: attempt.signal });
    return next;
  } catch (error) {
    if (attempt.interruption === 'paused') return { kind: 'paused' };
    throw error;
  } finally {
    attempt.dispose();
  }
}
