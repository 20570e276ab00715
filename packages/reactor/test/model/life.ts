/** A process that can be killed: from then on it sends nothing, hears nothing, and its time stands still. */
import type { Clock, KubeClient, KubeRequest } from '@kopf-ts/core';

export interface Life {
  readonly number: number;
  readonly isOver: boolean;
  /** Resolves at once while the process lives, and never after that. */
  going(): Promise<void>;
  end(): void;
  clock(clock: Clock): Clock;
  client(client: MortalsClient): KubeClient;
}

/** A client that knows on whose behalf it is asked. */
export interface MortalsClient {
  request(request: KubeRequest, life: Life): Promise<unknown>;
  stream(request: KubeRequest, life: Life): AsyncIterable<unknown>;
}

export function newLife(number: number): Life {
  const death = new AbortController();
  const endings = new Set<() => void>();
  const life: Life = {
    number,
    get isOver() {
      return death.signal.aborted;
    },
    async going() {
      if (death.signal.aborted) await never();
    },
    end() {
      death.abort();
      for (const ending of endings) ending();
      endings.clear();
    },
    clock: (clock) => ({
      now: () => clock.now(),
      utc: () => clock.utc(),
      async sleep(delay, { wakeup, signal } = {}) {
        await life.going();
        // Sleepers of dead processes must not keep the clock busy: each is woken up by its own signal, and then hangs.
        const own = new AbortController();
        const wake = (): void => own.abort(WOKEN);
        endings.add(wake);
        if (wakeup?.aborted) wake();
        else wakeup?.addEventListener('abort', wake);
        try {
          return await clock.sleep(delay, { wakeup: own.signal, ...(signal === undefined ? {} : { signal }) });
        } finally {
          endings.delete(wake);
          wakeup?.removeEventListener('abort', wake);
          await life.going();
        }
      },
    }),
    client: (client) => ({
      async request<T>(request: KubeRequest): Promise<T> {
        await life.going();
        try {
          return (await client.request(request, life)) as T;
        } finally {
          await life.going();
        }
      },
      async *stream<T>(request: KubeRequest): AsyncGenerator<T, void, void> {
        await life.going();
        for await (const line of client.stream(request, life)) {
          await life.going();
          yield line as T;
        }
        await life.going();
      },
    }),
  };
  return life;
}

const WOKEN = 'woken up';

function never(): Promise<never> {
  return new Promise(() => {});
}
