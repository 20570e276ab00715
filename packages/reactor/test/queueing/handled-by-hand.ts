/** Handlers and index functions that end when told to. */

export interface Gate {
  /** Ends the oldest of those who wait. */
  release(): void;
  /** From now on, nobody waits. */
  open(): void;
  readonly waiting: number;
  pass(): Promise<void> | undefined;
}

/** Whoever passes, waits until released. */
export function gate(): Gate {
  const waiting: (() => void)[] = [];
  let isOpen = false;
  return {
    get waiting() {
      return waiting.length;
    },
    release: () => waiting.shift()?.(),
    open() {
      isOpen = true;
      for (const resolve of waiting.splice(0)) resolve();
    },
    pass() {
      if (isOpen) return undefined;
      return new Promise<void>((resolve) => void waiting.push(resolve));
    },
  };
}
