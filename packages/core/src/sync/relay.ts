/** From one who gives to one who takes, one thing at a time, at the pace of the latter. */
export interface Relay<T> {
  /** Resolves when the taker is done with it, i.e. asks for the next one; or when all is over. */
  readonly give: (item: T) => Promise<void>;
  /** The next one; `undefined` when all is over. Rejects if it was told so. */
  readonly take: () => Promise<T | undefined>;
  /** Nothing more comes, or nothing more is wanted. */
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
