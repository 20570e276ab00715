/** What the process takes, by the names that dashboards know; and how late its event loop is. */
import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { memoryUsage } from 'node:process';
import type { Clock, Seconds } from '@kopf-ts/core';
import { alarm } from '@kopf-ts/core/engine';
import type { Registry } from '../registry/registry.js';

export interface ProcessMetrics {
  /** Somebody looks: so it measures for a while. */
  look(): void;
  close(): void;
}

/** How often the event loop is asked. */
const INTERVAL: Seconds = 0.5;
/** For how long after the last look. Who looks more seldom does not need it. */
const PATIENCE: Seconds = 300;
/** As `performance` numbers them. */
const GC_KINDS: Readonly<Record<number, string>> = {
  1: 'minor',
  2: 'minor',
  4: 'major',
  8: 'incremental',
  16: 'weakcb',
};
const LAGS: readonly number[] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];

/** Nothing is measured until somebody looks: an idle process stays idle. */
export function processMetrics(registry: Registry, clock: Clock): ProcessMetrics {
  const lag = registry.histogram({
    name: 'nodejs_eventloop_lag_seconds',
    help: 'Lag of the event loop, measured twice a second while metrics are scraped.',
    buckets: LAGS,
  });
  const gc = registry.histogram({
    name: 'nodejs_gc_duration_seconds',
    help: 'Duration of garbage collections, measured while metrics are scraped.',
    labels: ['kind'],
    buckets: LAGS,
  });
  const ask = (name: string, help: string, value: () => number) => registry.gauge({ name, help, ask: value });
  ask('process_resident_memory_bytes', 'Resident memory of the process.', () => memoryUsage.rss());
  ask(
    'process_start_time_seconds',
    'Start time of the process.',
    () => clock.utc().getTime() / 1000 - process.uptime(),
  );
  ask('nodejs_heap_size_total_bytes', 'Total heap size.', () => memoryUsage().heapTotal);
  ask('nodejs_heap_size_used_bytes', 'Used heap size.', () => memoryUsage().heapUsed);
  ask(
    'nodejs_external_memory_bytes',
    'Memory outside of the heap held by objects in it.',
    () => memoryUsage().external,
  );
  registry.asked(
    { name: 'process_cpu_seconds_total', help: 'CPU time used by the process.' },
    () => {
      const { user, system } = process.cpuUsage();
      return [[[], (user + system) / 1e6]];
    },
    'counter',
  );

  const collections = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { duration, detail } = entry as PerformanceEntry & { readonly detail?: { readonly kind?: number } };
      const kind = GC_KINDS[detail?.kind ?? 0] ?? 'other';
      gc.with({ kind }).observe(duration / 1000);
    }
  });
  let lookedAt = Number.NEGATIVE_INFINITY;
  let cancel: (() => void) | undefined;
  const tick = (): void => {
    const due = clock.now() + INTERVAL;
    cancel = alarm(clock, INTERVAL, () => {
      lag.observe(Math.max(0, clock.now() - due));
      if (clock.now() - lookedAt < PATIENCE) tick();
      else stop();
    });
  };
  const stop = (): void => {
    cancel?.();
    cancel = undefined;
    collections.disconnect();
  };
  return {
    look() {
      lookedAt = clock.now();
      if (cancel !== undefined) return;
      collections.observe({ entryTypes: ['gc'] });
      tick();
    },
    close: stop,
  };
}
