/** Lines on their way to one watcher: pushed by the store, taken by a listener. */
import type { StreamLine } from '../contracts/request.js';

export interface Channel extends AsyncIterable<StreamLine> {
  readonly isClosed: boolean;
  push(line: StreamLine): void;
  /** However many these are: what is there already makes nobody late. */
  pushInitial(line: StreamLine): void;
  /** What was pushed before is still delivered. */
  end(): void;
  /** How many lines wait. */
  readonly size: number;
}

/** A watcher that is so far behind is cut off, as there: it will come again and list. */
const MAX_LINES = 20_000;

/** `onClose` is called once, however often and by whichever side it is closed. */
export function makeChannel(onClose: () => void): Channel {
  let lines: StreamLine[] = [];
  /** How many of them are taken already: taking from the front of a long list would move all the others. */
  let taken = 0;
  let initial = 0;
  let isClosed = false;
  let wake: (() => void) | undefined;

  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    onClose();
    wake?.();
  };

  return {
    get isClosed() {
      return isClosed;
    },
    get size() {
      return lines.length - taken;
    },
    pushInitial(line) {
      initial++;
      this.push(line);
    },
    push(line) {
      if (isClosed) return;
      lines.push(line);
      if (lines.length - taken > MAX_LINES + initial) {
        lines = [];
        taken = 0;
        close();
      }
      wake?.();
    },
    end: close,
    // No generator: those cannot be left while they wait, and a watch mostly waits.
    [Symbol.asyncIterator]: () => ({
      async next() {
        for (;;) {
          const line = lines[taken];
          if (line !== undefined) {
            taken++;
            if (taken > 1024 && taken > lines.length / 2) {
              lines = lines.slice(taken);
              taken = 0;
            }
            return { done: false, value: line };
          }
          lines = [];
          taken = 0;
          if (isClosed) return { done: true, value: undefined };
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          wake = undefined;
        }
      },
      return() {
        lines = [];
        taken = 0;
        close();
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
}
