/** Who may forbid writing: peerings do, once another operator may have taken over. */

export interface Fences {
  /** Asks this one too from now on; returns how to stop asking it. */
  add(mayWrite: () => boolean): () => void;
  /** Whether there are any: so that writing may be forbidden at any moment. */
  readonly isFenced: boolean;
  /** Whether all of them permit to write at this very moment. */
  readonly mayWrite: () => boolean;
}

export function fences(): Fences {
  const all = new Set<{ readonly mayWrite: () => boolean }>();
  return {
    get isFenced() {
      return all.size > 0;
    },
    add(mayWrite) {
      const fence = { mayWrite };
      all.add(fence);
      return () => void all.delete(fence);
    },
    mayWrite: () => {
      for (const fence of all) if (!fence.mayWrite()) return false;
      return true;
    },
  };
}
