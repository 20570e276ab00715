/** A client whose watch-streams can be held back, while all else goes on: as in a busy cluster. */
import type { KubeClient, KubeRequest } from '@kopf-ts/core';

export interface LaggingStream {
  /** To be put between the operator and the cluster. */
  through(client: KubeClient): KubeClient;
  hold(): void;
  /** What was held back comes at once. */
  release(): void;
}

export function laggingStream(): LaggingStream {
  let held: Promise<void> | undefined;
  let open = (): void => {};
  return {
    through: (client) => ({
      request: (request) => client.request(request),
      async *stream<T>(request: KubeRequest) {
        for await (const line of client.stream<T>(request)) {
          if (held !== undefined) await held;
          yield line;
        }
      },
    }),
    hold() {
      held ??= new Promise((resolve) => {
        open = resolve;
      });
    },
    release() {
      held = undefined;
      open();
    },
  };
}
