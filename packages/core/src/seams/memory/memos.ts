/**
 * The memos of objects, for parts that must not see anything else of what is remembered.
 *
 * ```ts
 * const memoOf = (memos: kopf.Memos): unknown => memos.recall(body, { ephemeral: true });
 * ```
 */
export interface Memos {
  /** The memo of the object. If there is none yet, a new one is made, and kept unless it is ephemeral. */
  recall(body: object, options?: { readonly ephemeral?: boolean }): unknown;
}
