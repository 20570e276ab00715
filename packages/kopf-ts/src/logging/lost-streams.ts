/**
 * Output streams can fail: the reader of a pipe has gone (EPIPE), a descriptor was closed (EBADF), the disk is full.
 * The output is lost then, but the operator must survive. By default, it would not: an `error` event without listeners
 * ends the process.
 */

/** An output. Any writable stream of Node fits; other objects have no events. */
interface Printable {
  write(text: string): unknown;
  on?(event: 'error', listener: (error: Error) => void): unknown;
}

// On the streams themselves, since copies of this package share them; by a symbol, since the streams are not ours.
const IS_GUARDED: unique symbol = Symbol.for('kopf-ts.logging.guarded') as never;

/** From now on, errors of this stream are ignored. Other listeners still receive them. */
function surviveLoss(stream: Printable): void {
  const guarded = stream as Printable & { [IS_GUARDED]?: boolean };
  if (guarded[IS_GUARDED] || typeof stream.on !== 'function') return;
  Object.defineProperty(guarded, IS_GUARDED, { value: true });
  stream.on('error', () => {});
}

/** The same for the streams of the process, because handlers and other loggers print, too. */
export function surviveLostOutput(): void {
  surviveLoss(process.stdout);
  surviveLoss(process.stderr);
}

/** Prints the text if possible. */
export function writeOrLose(stream: Printable, text: string): void {
  surviveLoss(stream);
  try {
    stream.write(text);
  } catch {
    // Nowhere to report it.
  }
}
