import { type FactOf, type KubeClient, type Resource, type SettingsOverrides, settings } from '@kopf-ts/core';
import { facts, type ServerCapabilities, type WatchSignal, watch, watchTarget } from '@kopf-ts/core/engine';
import { type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import { type RecordingClient, realClock, recordingClient } from './client.js';
import { phasesInto } from './phases.js';
import { becomesTrue } from './waiting.js';

export interface Watching {
  /** As `ADDED name`, in the order of coming; `- name` in a listing, `DELETED name (vanished)` after one. */
  readonly seen: string[];
  readonly client: RecordingClient;
  readonly logger: RecordingLogger;
  readonly capabilities: ServerCapabilities;
  readonly phases: FactOf<'stream.phase'>[];
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
    const [seen, phases]: [string[], FactOf<'stream.phase'>[]] = [[], []];
    const running = (async () => {
      const signals = watch(client, watchTarget(resource, { namespace: options.namespace }), {
        settings: settings(options.overrides ?? {}),
        clock: realClock,
        logger,
        signal: stopping.signal,
        capabilities,
        pageSize: options.pageSize,
        facts: facts({ observers: [phasesInto(phases)], operator: 'me', clock: realClock, logger }),
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
    return { seen, client, logger, capabilities, phases, saw };
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
