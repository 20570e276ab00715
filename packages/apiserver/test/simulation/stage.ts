/** A cluster whose workloads live by a clock that tests move. */
import type { AnyObject, Mapping } from '@kopf-ts/core';
import { type ManualClock, manualClock } from '@kopf-ts/testing';
import { type LocalCluster, type LocalClusterOptions, localCluster } from '../../src/index.js';

// biome-ignore lint/suspicious/noExplicitAny: objects are looked into by the tests
type Found = any;

export interface Stage extends AsyncDisposable {
  readonly cluster: LocalCluster;
  readonly clock: ManualClock;
  /** Lets so many seconds pass, and all that happens in them. */
  pass(seconds: number): Promise<void>;
  create(object: AnyObject): Promise<Found>;
  get(reference: string): Found;
  list(reference: string): readonly Found[];
}

export async function stage(options: LocalClusterOptions = {}): Promise<Stage> {
  const clock = manualClock();
  const cluster = await localCluster({ listen: false, controllers: 'simulated', ...options, clock });
  await cluster.settled();
  return {
    cluster,
    clock,
    async pass(seconds) {
      await cluster.settled();
      await clock.advance(seconds);
      await cluster.settled();
    },
    async create(object) {
      const created = await cluster.create(object);
      await cluster.settled();
      return created;
    },
    get: (reference) => cluster.get(reference),
    list: (reference) => cluster.list(reference),
    [Symbol.asyncDispose]: () => cluster.stop(),
  };
}

export const template = (app: string, spec: Mapping = {}, annotations: Record<string, string> = {}): AnyObject => ({
  metadata: { labels: { app }, annotations },
  spec: { containers: [{ name: 'main', image: 'example.com/image:1' }], ...spec },
});

export const deployment = (name: string, spec: Mapping = {}): AnyObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'default' },
  spec: { replicas: 3, selector: { matchLabels: { app: name } }, template: template(name), ...spec },
});

export const pod = (name: string, spec: Mapping = {}, annotations: Record<string, string> = {}): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', annotations },
  spec: { containers: [{ name: 'main', image: 'example.com/image:1' }], ...spec },
});

export const condition = (object: Found, type: string): Found =>
  object?.status?.conditions?.find((one: { type: string }) => one.type === type);
