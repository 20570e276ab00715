/** Who may forbid writing: peerings do, once another operator may have taken over. */

export interface WriteGuards {
  /** Asks this one too from now on; returns how to stop asking it. */
  add(mayWrite: () => boolean): () => void;
  /** Whether there are any: so that writing may be forbidden at any moment. */
  readonly isGuarded: boolean;
  /** Whether all of them permit to write at this very moment. */
  readonly mayWrite: () => boolean;
}

export function writeGuards(): WriteGuards {
  const all = new Set<{ readonly mayWrite: () => boolean }>();
  return {
    get isGuarded() {
      return all.size > 0;
    },
    add(mayWrite) {
      const guard = { mayWrite };
      all.add(guard);
      return () => void all.delete(guard);
    },
    mayWrite: () => {
      for (const guard of all) if (!guard.mayWrite()) return false;
      return true;
    },
  };
}
