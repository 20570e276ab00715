/** The users' per-object containers, as seen by those who must not see the rest of the memory. */
export interface Memos {
  recall(body: object, options?: { readonly ephemeral?: boolean }): unknown;
}
