/** The users' per-object containers, as seen by those who must not see the rest of the memory. */
export interface Memos {
  /** The memo of the object. If there is none yet, a new one: remembered from now on, unless it is ephemeral. */
  recall(body: object, options?: { readonly ephemeral?: boolean }): unknown;
}
