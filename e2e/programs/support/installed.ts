/** What others have written, and how to run it; or why it cannot be had here. */
export type Installed<T> =
  | { readonly kind: 'installed'; readonly it: T }
  | { readonly kind: 'unavailable'; readonly reason: string };
