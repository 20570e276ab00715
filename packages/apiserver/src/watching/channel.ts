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

/** A watcher that is so far behind, by lines or by characters, is cut off, as there: it will come again and list. */
const MAX_LINES = 20_000;
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** `onClose` is called once, however often and by whichever side it is closed. */
export function makeChannel(onClose: () => void): Channel {
  let lines: StreamLine[] = [];
  /** How many of them are taken already: taking from the front of a long list would move all the others. */
  let taken = 0;
  let waiting = 0;
  const initial = { lines: 0, characters: 0 };
  let isClosed = false;
  let wake: (() => void) | undefined;

  const drop = (): void => {
    lines = [];
    taken = 0;
    waiting = 0;
  };
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
      initial.lines++;
      initial.characters += line.text.length;
      this.push(line);
    },
    push(line) {
      if (isClosed) return;
      lines.push(line);
      waiting += line.text.length;
      const isBehind =
        lines.length - taken > MAX_LINES + initial.lines || waiting > MAX_CHARACTERS + initial.characters;
      // A single line is never too much.
      if (isBehind && lines.length - taken > 1) {
        drop();
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
            waiting -= line.text.length;
            if (taken > 1024 && taken > lines.length / 2) {
              lines = lines.slice(taken);
              taken = 0;
            }
            return { done: false, value: line };
          }
          drop();
          if (isClosed) return { done: true, value: undefined };
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          wake = undefined;
        }
      },
      return() {
        drop();
        close();
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
}
