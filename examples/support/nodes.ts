/** Where there are no nodes, somebody has to say what they would say of pods: all of them run, and are ready. */
import { setTimeout as pause } from 'node:timers/promises';
import { ApiNotFoundError, api, type KubeClient } from 'kopf-ts';

export function playNodes(client: KubeClient, namespace: string): AsyncDisposable {
  const stop = new AbortController();
  const pods = api(client, { namespace })('pods');
  const report = async (): Promise<void> => {
    for (const { metadata, status } of await pods.list()) {
      if (status?.phase !== 'Pending' || metadata?.deletionTimestamp != null) continue;
      const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: metadata?.creationTimestamp }];
      await pods.status.patch(metadata?.name ?? '', { status: { phase: 'Running', conditions } });
    }
  };
  const loop = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await report().catch((error: unknown) => {
        // Of a pod that is replaced meanwhile, there is nothing to say.
        if (!(error instanceof ApiNotFoundError)) throw error;
      });
      await pause(100);
    }
  };
  const ended = loop();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}
