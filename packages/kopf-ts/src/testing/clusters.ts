/** Clusters for tests: ready with what the tests need, and with time that moves when told. */
import { readFile } from 'node:fs/promises';
import { type LocalCluster, type LocalClusterOptions, localCluster, type ResourceDefinition } from '@kopf-ts/apiserver';
import type { AnyObject } from '@kopf-ts/core';
import {
  type Fixture,
  fixtureOf,
  type Hooked,
  type Hooks,
  hooked,
  type ManualClock,
  manualClock,
} from '@kopf-ts/testing';

export interface TestClusterOptions extends Omit<LocalClusterOptions, 'clock'> {
  /** Default: a new one for each cluster. */
  readonly clock?: ManualClock;
  /** Custom resources to define, in short. */
  readonly define?: readonly ResourceDefinition[] | undefined;
  /** Objects to begin with, definitions of resources included: files of YAML or JSON, or the objects themselves. */
  readonly apply?: readonly (string | URL | AnyObject)[] | undefined;
}

/** An embedded cluster whose time stands still until its clock is moved. */
export interface TestCluster extends LocalCluster {
  readonly clock: ManualClock;
}

/** Starts an embedded cluster with a manual clock; without a port, unless it is asked to listen. */
export async function testCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const { clock = manualClock(), define = [], apply = [], ...others } = options;
  const cluster = await localCluster({ listen: false, ...others, clock });
  try {
    for (const definition of define) await cluster.define(definition);
    for (const source of apply) await cluster.apply(isFile(source) ? await readFile(source, 'utf8') : source);
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  // The very one that it was given.
  return cluster as TestCluster;
}

/** A cluster for each test of vitest: `test.extend<{ cluster: TestCluster }>({ cluster: clusterFixture({ … }) })`. */
export function clusterFixture(options?: TestClusterOptions): Fixture<TestCluster> {
  return fixtureOf(() => testCluster(options));
}

/** A cluster between two hooks of any test runner: `const cluster = clusterHooks({ before, after }, { … })`. */
export function clusterHooks(hooks: Hooks, options?: TestClusterOptions): Hooked<TestCluster> {
  return hooked(hooks, () => testCluster(options));
}

function isFile(source: string | URL | AnyObject): source is string | URL {
  return typeof source === 'string' || source instanceof URL;
}
