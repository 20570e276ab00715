/**
 * Errors that end an operator pass several parts on their way, each of which could be the first to tell of them: who
 * does, marks the error; the others have nothing to add.
 */

// Of the process, since the parts may be of different copies of this package.
const TOLD: unique symbol = Symbol.for('kopf-ts.told') as never;

function toldErrors(): WeakSet<object> {
  const holder = globalThis as { [TOLD]?: WeakSet<object> };
  holder[TOLD] ??= new WeakSet();
  return holder[TOLD];
}

/** The error is in the log now, with all that is to be known of it. Gives it back. */
export function markTold<E extends object>(error: E): E {
  toldErrors().add(error);
  return error;
}

export function isTold(error: unknown): boolean {
  return typeof error === 'object' && error !== null && toldErrors().has(error);
}
