/**
 * Either a value or a promise of it: for seams where a synchronous answer is natural.
 *
 * ```ts
 * const fetchNote = (body: kopf.Body): kopf.Awaitable<string | undefined> => body.metadata?.annotations?.note;
 * ```
 */
export type Awaitable<T> = T | Promise<T>;
