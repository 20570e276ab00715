/** Operators with journals, on clusters without a network, that can be asked why. */

import * as testing from '@kopf-ts/testing';
import * as kopf from 'kopf-ts';
import {
  type AnyObject,
  createRegistry,
  type Operator,
  type OperatorOptions,
  operator,
  type Registry,
  settings,
} from 'kopf-ts';
import { manualClock, type TestCluster, type TestClusterOptions, testCluster } from 'kopf-ts/testing';
import { onTestFinished } from 'vitest';

export interface Asked {
  readonly cluster: TestCluster;
  readonly runner: testing.OperatorRunner;
  readonly operator: Operator;
  readonly journal: kopf.insight.Journal;
  create(name: string, more?: AnyObject): Promise<void>;
  patch(name: string, patch: AnyObject): Promise<void>;
  settled(): Promise<void>;
  advance(seconds: number): Promise<void>;
  why(name?: string, namespace?: string): Promise<kopf.insight.Explanation>;
  /** The sentences for that reason. */
  texts(reason: kopf.insight.WhyReason, name?: string, namespace?: string): Promise<string[]>;
}

export const KIND = 'kopfexamples';

export interface AskedOptions extends OperatorOptions {
  readonly server?: TestClusterOptions;
  readonly prepare?: (cluster: TestCluster) => Promise<void>;
}

export async function asked(declare: (registry: Registry) => void, options: AskedOptions = {}): Promise<Asked> {
  const { server, prepare, ...others } = options;
  const clock = manualClock();
  const cluster = await testCluster({
    clock,
    define: [{ group: 'kopf.dev', plural: KIND, kind: 'KopfExample' }],
    ...server,
  });
  onTestFinished(() => cluster.stop());
  await prepare?.(cluster);
  const registry = createRegistry();
  declare(registry);
  const journal = kopf.insight.journal({ clock });
  const own = options.settings ?? settings({ peering: { standalone: true } });
  let started: Operator | undefined;
  const runner = await testing.operatorRunner<OperatorOptions>(
    { operator: (given) => (started = operator(given)), clock },
    { cluster, registry, observers: [journal.observer], settings: own, ...others },
  );
  onTestFinished(() => runner.stop().catch(() => {}));
  const settled = (): Promise<void> => runner.settled();
  await settled();
  const running = started as unknown as Operator;

  const why: Asked['why'] = async (name = 'one', namespace = 'default') => {
    const object = { resource: `${KIND}.kopf.dev`, kind: 'KopfExample', namespace, name };
    const body = cluster.get(`${KIND}/${namespace}/${name}`) as AnyObject | undefined;
    const [controlled] = running.control.objects({ resource: KIND, namespace, name });
    return kopf.insight.explain({
      object,
      journal: journal.find(object),
      operator: journal.operator(),
      live: controlled && { ...controlled, isOperatorPaused: running.control.isPaused },
      marks: body === undefined ? null : await kopf.insight.marksOf({ body, settings: own }),
    });
  };
  return {
    cluster,
    runner,
    operator: running,
    journal,
    async create(name, more) {
      const { metadata, ...rest } = (more ?? {}) as { metadata?: object };
      const object = { apiVersion: 'kopf.dev/v1', kind: 'KopfExample', ...rest };
      await cluster.create({ ...object, metadata: { name, namespace: 'default', ...metadata } } as AnyObject);
      await settled();
    },
    async patch(name, patch) {
      await cluster.patch(`${KIND}/default/${name}`, patch);
      await settled();
    },
    settled,
    async advance(seconds) {
      await clock.advance(seconds);
      await settled();
    },
    why,
    async texts(reason, name, namespace) {
      const { findings } = await why(name, namespace);
      return findings.filter((one) => one.reason === reason).map(({ text }) => text);
    },
  };
}
