/** Either a value or a promise of it: for seams where a synchronous answer is natural. */
export type Awaitable<T> = T | Promise<T>;
