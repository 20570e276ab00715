/** The last stage of a stream: what is really sent, after all faults. */
import { KopfError } from '@kopf-ts/core';
import type { StreamControl, StreamFault } from '../contracts/faults.js';
import type { StreamLine } from '../contracts/request.js';

/** The connection was broken on purpose. */
export class ConnectionReset extends KopfError {
  constructor() {
    super('The connection was reset.', { code: 'KOPF_CONNECTION' });
  }
}

export interface Outlet {
  /** One or more whole lines; `undefined` at the end. Rejects with `ConnectionReset` if it is broken. */
  next(): Promise<string | undefined>;
  /** The reader goes away. */
  close(): void;
  /** Is nothing ready to be read? */
  readonly isEmpty: boolean;
}

/** Beyond this, lines wait where they are counted. */
const MAX_TEXTS = 500;
const MAX_CHARACTERS = 1024 * 1024;

export function makeOutlet(
  lines: AsyncIterable<StreamLine>,
  faultFor: (control: StreamControl) => StreamFault | undefined,
): Outlet {
  let texts: string[] = [];
  let characters = 0;
  let state: 'open' | 'ended' | 'reset' = 'open';
  let isAbandoned = false;
  let wakeReader: (() => void) | undefined;
  let wakePump: (() => void) | undefined;
  const wake = (): void => {
    wakeReader?.();
    wakePump?.();
  };
  const finish = (how: 'ended' | 'reset'): void => {
    if (state === 'open') state = how;
    if (how === 'reset') texts = [];
    wake();
    // The source may be waiting for something that never happens.
    void iterator.return?.();
  };
  const iterator = lines[Symbol.asyncIterator]();
  const fault = faultFor({
    end: () => finish('ended'),
    reset: () => finish('reset'),
    write: (text) => {
      texts.push(text);
      wakeReader?.();
    },
  });

  const pump = async (): Promise<void> => {
    try {
      for (;;) {
        const { done, value } = await iterator.next();
        if (done === true || state !== 'open' || isAbandoned) break;
        const passing = fault === undefined ? 'send' : fault.pass(value);
        if ((typeof passing === 'string' ? passing : await passing) === 'drop') continue;
        if (state !== 'open' || isAbandoned) break;
        texts.push(value.text);
        characters += value.text.length;
        wakeReader?.();
        if (texts.length > MAX_TEXTS || characters > MAX_CHARACTERS) {
          await new Promise<void>((resolve) => {
            wakePump = resolve;
          });
          wakePump = undefined;
        }
      }
    } finally {
      fault?.closed();
      if (state === 'open') state = 'ended';
      wakeReader?.();
    }
  };
  void pump();

  return {
    get isEmpty() {
      return texts.length === 0;
    },
    async next() {
      for (;;) {
        if (texts.length > 0) {
          const ready = texts.length === 1 ? (texts[0] as string) : texts.join('');
          texts = [];
          characters = 0;
          wakePump?.();
          return ready;
        }
        if (state === 'reset') throw new ConnectionReset();
        if (state === 'ended' || isAbandoned) return undefined;
        await new Promise<void>((resolve) => {
          wakeReader = resolve;
        });
        wakeReader = undefined;
      }
    },
    close() {
      isAbandoned = true;
      fault?.closed();
      wake();
      void iterator.return?.();
    },
  };
}
