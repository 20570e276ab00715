/** Clusters for tests, with initial objects and a manual clock. */
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

/**
 * The initial contents of a cluster, and its options.
 *
 * ```ts
 * import type { TestClusterOptions } from 'kopf-ts/testing';
 * const options: TestClusterOptions = { apply: ['crd.yaml', { kind: 'Namespace', metadata: { name: 'shop' } }] };
 * ```
 */
export interface TestClusterOptions extends Omit<LocalClusterOptions, 'clock'> {
  /** Default: a new one for each cluster. */
  readonly clock?: ManualClock;
  /** Custom resources to define, in short form. */
  readonly define?: readonly ResourceDefinition[] | undefined;
  /** Initial objects, custom resource definitions included: YAML or JSON files, or the objects themselves. */
  readonly apply?: readonly (string | URL | AnyObject)[] | undefined;
}

/**
 * An embedded cluster with a manual clock: time stands still until a test advances it.
 *
 * ```ts
 * import { type TestCluster, testCluster } from 'kopf-ts/testing';
 * await using cluster: TestCluster = await testCluster();
 * await cluster.clock.advance(60);
 * ```
 */
export interface TestCluster extends LocalCluster {
  readonly clock: ManualClock;
}

/**
 * Starts an embedded cluster with a manual clock. It listens on a port only if asked to.
 *
 * ```ts
 * import { testCluster } from 'kopf-ts/testing';
 * await using cluster = await testCluster({ define: [{ group: 'kopf.dev', plural: 'kopfexamples', kind: 'KopfExample' }] });
 * await cluster.create({ apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata: { name: 'web' } });
 * ```
 */
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
  // The same clock that it was given.
  return cluster as TestCluster;
}

/**
 * A cluster for each test of vitest.
 *
 * ```ts
 * import { test } from 'vitest';
 * import { clusterFixture, type TestCluster } from 'kopf-ts/testing';
 * const tests = test.extend<{ cluster: TestCluster }>({ cluster: clusterFixture({ apply: ['crd.yaml'] }) });
 * tests('begins with nothing', async ({ cluster }) => {
 *   expect(await cluster.list('kopfexamples')).toEqual([]);
 * });
 * ```
 */
export function clusterFixture(options?: TestClusterOptions): Fixture<TestCluster> {
  return fixtureOf(() => testCluster(options));
}

/**
 * A cluster between two hooks of any test runner.
 *
 * ```ts
 * import { clusterHooks } from 'kopf-ts/testing';
 * const cluster = clusterHooks({ before: beforeEach, after: afterEach }, { apply: ['crd.yaml'] });
 * ```
 */
export function clusterHooks(hooks: Hooks, options?: TestClusterOptions): Hooked<TestCluster> {
  return hooked(hooks, () => testCluster(options));
}

function isFile(source: string | URL | AnyObject): source is string | URL {
  return typeof source === 'string' || source instanceof URL;
}
