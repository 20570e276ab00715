/** Whole operators on the embedded server and by the manual clock: nothing of them is replaced but what is given. */
import { type LocalCluster, localCluster } from '@kopf-ts/apiserver';
import { type AnyObject, createRegistry, type KubeClient, type Registry } from '@kopf-ts/core';
import {
  type ManualClock,
  type ManualClockOptions,
  manualClock,
  type RecordingLogger,
  recordingLogger,
} from '@kopf-ts/testing';
import { onTestFinished } from 'vitest';
import { type Operator, operator } from '../../src/operator.js';
import type { OperatorOptions } from '../../src/options.js';

export interface Place {
  readonly clock: ManualClock;
  readonly cluster: LocalCluster;
  /** All that was asked of the cluster through the client, as `METHOD path`. */
  readonly requests: string[];
  readonly client: KubeClient;
  /** Everything that can happen without the time moving, happens. */
  settle(): Promise<void>;
  create(name: string, fields?: object): Promise<AnyObject>;
}

/** A cluster with the kind of the examples in it, and a client that remembers what it was used for. */
export async function newPlace({ start }: ManualClockOptions = {}): Promise<Place> {
  const clock = manualClock({ ...(start && { start }) });
  const cluster = await localCluster({ clock, listen: false });
  onTestFinished(() => cluster.stop());
  await cluster.define({ group: 'kopf.dev', plural: 'kopfexamples', kind: 'KopfExample' });
  const requests: string[] = [];
  const client: KubeClient = {
    request(request) {
      requests.push(`${request.method} ${request.path}`);
      return cluster.client.request(request);
    },
    stream(request) {
      requests.push(`${request.method} ${request.path}`);
      return cluster.client.stream(request);
    },
  };
  const settle = async (): Promise<void> => {
    // Each can give work to the other.
    for (let turn = 0; turn < 3; turn++) {
      await cluster.settled();
      await clock.settle();
    }
  };
  return {
    clock,
    cluster,
    requests,
    client,
    settle,
    async create(name, fields = {}) {
      const metadata = { name, namespace: 'default' };
      const created = await cluster.create({ apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata, ...fields });
      await settle();
      return created;
    },
  };
}

export interface Wired extends Operator {
  readonly logger: RecordingLogger;
}

/** Starts an operator with the handlers, and lets it do what it can at once. It ends with the test at the latest. */
export async function startOperator(
  place: Place,
  declare: (registry: Registry) => void,
  options: OperatorOptions = {},
): Promise<Wired> {
  const [registry, logger] = [createRegistry(), recordingLogger()];
  declare(registry);
  const scope = options.namespaces === undefined ? { clusterwide: true } : {};
  // The identity is given, as else the host is asked for its name, and that takes real time.
  const defaults = { registry, logger, client: place.client, clock: place.clock, identity: 'me', ...scope };
  const started = operator({ ...defaults, ...options });
  // The errors are looked at by the tests that expect them.
  started.ready.catch(() => {});
  started.done.catch(() => {});
  onTestFinished(() => stopOperator(place, started).catch(() => {}));
  await place.settle();
  return Object.assign(started, { logger });
}

/** Stops the operator, giving it all the time that it may need. */
export async function stopOperator(place: Place, started: Operator): Promise<void> {
  const stopped = started.stop();
  stopped.catch(() => {});
  await place.settle();
  await place.clock.advance(30);
  await stopped;
}
