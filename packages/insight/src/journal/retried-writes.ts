/** Writes that have failed and are sent again, by the names of their objects: only the latest of each, and not many. */
import type { RetriedWrite } from './entries.js';
import { RECORD, textSize } from './sizes.js';

/** More objects than that fail for the same reason, mostly. */
const MAX_WRITES = 200;

export interface RetriedWrites {
  readonly bytes: number;
  put(key: string, write: RetriedWrite): void;
  get(key: string): RetriedWrite | undefined;
  forget(key: string): void;
  forgetOldest(): void;
}

export function retriedWrites(): RetriedWrites {
  const known = new Map<string, RetriedWrite>();
  let bytes = 0;
  const sizeOf = (key: string, { error }: RetriedWrite): number => RECORD + textSize(key) + textSize(error.message);

  const forget = (key: string): void => {
    const write = known.get(key);
    if (write === undefined) return;
    known.delete(key);
    bytes -= sizeOf(key, write);
  };

  const forgetOldest = (): void => {
    const [oldest] = known.keys();
    if (oldest !== undefined) forget(oldest);
  };

  return {
    get bytes() {
      return bytes;
    },
    put(key, write) {
      forget(key);
      known.set(key, write);
      bytes += sizeOf(key, write);
      if (known.size > MAX_WRITES) forgetOldest();
    },
    get: (key) => known.get(key),
    forget,
    forgetOldest,
  };
}
