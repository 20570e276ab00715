/** Passes items from one producer to one consumer, one at a time, at the consumer's pace. */
export interface Relay<T> {
  /** Resolves when the consumer has finished with the item, i.e. asks for the next one, or when the relay is closed. */
  readonly give: (item: T) => Promise<void>;
  /** The next item; `undefined` when the relay is closed. Rejects if it was closed with an error. */
  readonly take: () => Promise<T | undefined>;
  /** Closes the relay: nothing more comes, or nothing more is wanted. */
  readonly end: () => void;
  readonly fail: (error: unknown) => void;
}

export function relay<T>(): Relay<T> {
  let given: { readonly item: T } | undefined;
  let release: () => void = () => {};
  let isOver = false;
  let failure: { readonly error: unknown } | undefined;
  let wakeTaker: () => void = () => {};

  const end = (): void => {
    isOver = true;
    release();
    wakeTaker();
  };
  return {
    give(item) {
      if (isOver) return Promise.resolve();
      given = { item };
      return new Promise((resolve) => {
        release = resolve;
        wakeTaker();
      });
    },
    async take() {
      release();
      if (given === undefined && !isOver) {
        await new Promise<void>((resolve) => {
          wakeTaker = resolve;
        });
      }
      const taken = given;
      given = undefined;
      if (taken === undefined && failure !== undefined) throw failure.error;
      return taken?.item;
    },
    end,
    fail(error) {
      failure = { error };
      end();
    },
  };
}
