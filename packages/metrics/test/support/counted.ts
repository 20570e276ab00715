/** Metrics of an operator that is not there: its facts are told by the tests. */
import type {
  HandlerId,
  Indices,
  KubeClient,
  KubeRequest,
  ObservedHandler,
  ObservedObject,
  PageAnswer,
} from '@kopf-ts/core';
import { type Facts, facts, makeResource } from '@kopf-ts/core/engine';
import { type ManualClock, manualClock, type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import { type MetricRegistry, metricRegistry, type OperatorMetrics, operatorMetrics } from '../../src/index.js';

export const KIND = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'kopfexamples', kind: 'KopfExample' });
export const POD = makeResource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod' });

export function objectOf(name: string, resource = KIND): ObservedObject {
  return { resource, kind: resource.kind, namespace: 'default', name, uid: `uid-${name}` };
}

export const HANDLER: ObservedHandler = { id: 'fn', kind: 'change' };

export interface Counted extends Facts {
  readonly metrics: OperatorMetrics;
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  readonly registry: MetricRegistry;
  /** What was asked of the cluster. */
  readonly requests: KubeRequest[];
  scrape(accept?: string): Promise<PageAnswer>;
  /** The lines of these metrics, without those of the buckets. */
  lines(name: string): Promise<string[]>;
}

export interface CountedOptions {
  readonly declared?: readonly HandlerId[];
  readonly indices?: Indices;
  /** How the cluster answers; without it, there is no cluster. */
  readonly answer?: (request: KubeRequest) => unknown;
}

export function counted({ declared = ['fn'], indices, answer }: CountedOptions = {}): Counted {
  const clock = manualClock();
  const logger = recordingLogger();
  const registry = metricRegistry();
  const requests: KubeRequest[] = [];
  const client = {
    async request(request: KubeRequest) {
      requests.push(request);
      return await answer?.(request);
    },
  } as KubeClient;
  const metrics = operatorMetrics({
    clock,
    logger,
    registry,
    declared: () => declared,
    indices,
    workerLimit: () => 100,
    version: '1.2.3',
    ...(answer === undefined ? {} : { client }),
  });
  const { signal } = new AbortController();
  const scrape = async (accept?: string): Promise<PageAnswer> =>
    await metrics.page.answer({ method: 'GET', path: '/metrics', query: '', headers: { accept }, signal });
  return {
    ...facts({ observers: [metrics.observer], operator: 'op', clock, logger }),
    metrics,
    clock,
    logger,
    registry,
    requests,
    scrape,
    async lines(name) {
      // Readers of the same second share the text.
      await clock.advance(1);
      const all = (await metrics.text()).split('\n');
      return all.filter(
        (line) => line.startsWith(name) && /^[{ _]/.test(line.slice(name.length)) && !line.includes('_bucket'),
      );
    },
  };
}
