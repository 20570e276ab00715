/**
 * Watching: all existing objects, then every change of them, for as long as needed.
 *
 * Whatever happens to the connection or to the server, the stream goes on. Lost connections, expired versions,
 * malformed objects and restored backups are handled here; the caller gets objects.
 */
import type { KubeClient } from '../../seams/client.js';
import { childController } from '../../sync/abort.js';
import { relay } from '../../sync/relay.js';
import type { WatchTarget } from '../../values/resources/watch-target.js';
import type { Emit, WatchOptions, WatchSignal } from './signals.js';
import { WatchStream } from './stream.js';

/**
 * Calls the function with each signal of the stream. Never fails and never ends until the signal aborts; then it ends
 * without an error. Asynchronous functions are awaited; they must not throw.
 */
export async function watchInto(
  client: KubeClient,
  target: WatchTarget,
  options: WatchOptions,
  emit: Emit,
): Promise<void> {
  await new WatchStream(client, target, options, emit).run();
}

/** The same as an iterable, for loops; it costs several times more per event. It goes at the reader's pace. */
export async function* watch(
  client: KubeClient,
  target: WatchTarget,
  options: WatchOptions,
): AsyncGenerator<WatchSignal, void, void> {
  const { signal, abort } = childController(options.signal);
  const signals = relay<WatchSignal>();
  const ended = watchInto(client, target, { ...options, signal }, signals.give).then(signals.end, signals.fail);
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
