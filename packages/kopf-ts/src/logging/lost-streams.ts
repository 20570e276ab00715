/**
 * Streams that may be lost: the reader of a pipe has gone (EPIPE), a descriptor was closed (EBADF), the disk is full.
 * Whatever was to be printed is lost then; but an operator must not end for that, and by default it would: an `error`
 * event without listeners ends the process.
 */

/** What is printed to. Any writable stream of Node fits; what is not a stream has no events. */
interface Printable {
  write(text: string): unknown;
  on?(event: 'error', listener: (error: Error) => void): unknown;
}

// On the streams themselves, since copies of this package share them; by a symbol, since the streams are not ours.
const IS_GUARDED: unique symbol = Symbol.for('kopf-ts.logging.guarded') as never;

/** From now on, errors of this stream are of no consequence. Other listeners of them are told as before. */
function surviveLoss(stream: Printable): void {
  const guarded = stream as Printable & { [IS_GUARDED]?: boolean };
  if (guarded[IS_GUARDED] || typeof stream.on !== 'function') return;
  Object.defineProperty(guarded, IS_GUARDED, { value: true });
  stream.on('error', () => {});
}

/** The same for the streams of the process: handlers print, too, and so do the loggers that others bring along. */
export function surviveLostOutput(): void {
  surviveLoss(process.stdout);
  surviveLoss(process.stderr);
}

/** Prints it if it can be printed. */
export function writeOrLose(stream: Printable, text: string): void {
  surviveLoss(stream);
  try {
    stream.write(text);
  } catch {
    // There is nobody to tell it to.
  }
}
