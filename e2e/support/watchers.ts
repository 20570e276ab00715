import { type KubeClient, type Resource, type SettingsOverrides, settings } from '@kopf-ts/core';
import { type ServerCapabilities, type StreamState, type WatchSignal, watch } from '@kopf-ts/core/engine';
import { type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import { type RecordingClient, realClock, recordingClient } from './client.js';
import { becomesTrue } from './waiting.js';

export interface Watching {
  /** As `ADDED name`, in the order of coming; `- name` in a listing, `DELETED name (vanished)` after one. */
  readonly seen: string[];
  readonly client: RecordingClient;
  readonly logger: RecordingLogger;
  readonly capabilities: ServerCapabilities;
  readonly states: StreamState[];
  /** Waits until this has been seen for so many times. */
  saw(what: string, times?: number): Promise<boolean>;
}

/** Streams that are ended after each test. */
export function watchers() {
  const ending: (() => Promise<void>)[] = [];
  const start = (
    inner: KubeClient,
    resource: Resource,
    options: { namespace: string; capabilities?: ServerCapabilities; overrides?: SettingsOverrides; pageSize?: number },
  ): Watching => {
    const stopping = new AbortController();
    const [client, logger, capabilities] = [recordingClient(inner), recordingLogger(), options.capabilities ?? {}];
    const [seen, states]: [string[], StreamState[]] = [[], []];
    const running = (async () => {
      const signals = watch(client, resource, {
        namespace: options.namespace,
        settings: settings(options.overrides ?? {}),
        clock: realClock,
        logger,
        signal: stopping.signal,
        capabilities,
        pageSize: options.pageSize,
        onState: (state) => states.push(state),
      });
      for await (const signal of signals) seen.push(describeSignal(signal));
    })();
    ending.push(async () => {
      stopping.abort();
      await running;
    });
    // Pauses between attempts grow, so that it may take a while after a long outage.
    const saw = (what: string, times = 1) =>
      becomesTrue(() => seen.filter((line) => line === what).length >= times, 45_000);
    return { seen, client, logger, capabilities, states, saw };
  };
  const end = async () => {
    await Promise.all(ending.splice(0).map((stop) => stop()));
  };
  return { start, end };
}

function describeSignal(signal: WatchSignal): string {
  if (signal.type === 'LISTED' || signal.type === 'REWOUND') return signal.type;
  const vanished = signal.vanished ? ' (vanished)' : '';
  return `${signal.type ?? '-'} ${signal.object.metadata?.name}${vanished}`;
}
