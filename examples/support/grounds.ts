/**
 * The ground that examples stand on: the embedded server, or a real one where the suite has started it.
 * `npm test` takes the former, `npm run test:real` the latter; the tests cannot tell, except for how fast time passes.
 */
import { systemClock } from '@kopf-ts/reactor';
import { type Clock, client as clients, type KubeClient } from 'kopf-ts';
import { type LocalClusterOptions, localCluster, manualClock, recordingLogger } from 'kopf-ts/testing';
import { inject, vi } from 'vitest';
import type { RealCluster } from '../../e2e/support/global-setup.js';

export interface Ground extends AsyncDisposable {
  readonly client: KubeClient;
  /** By which operators are to live. */
  readonly clock: Clock;
  /** Whether each namespace gets an account for its pods, and pods need it. */
  readonly hasServiceAccounts: boolean;
  /** Whether pods wait for somebody to say how they are. */
  readonly lacksNodes: boolean;
  /** A file, for those who log in by themselves. */
  kubeconfig(): Promise<string>;
  /** Waits until the assertions hold; else, fails with what they say. */
  eventually<T>(assertions: () => T | Promise<T>): Promise<T>;
  /** Lets the time pass while waiting for that. */
  during<T>(promise: Promise<T>): Promise<T>;
}

export interface GroundOptions {
  /** The time is the real one also on the embedded server: for examples that talk over sockets. */
  readonly isRealTime?: boolean;
  /** Pods are made for workloads, and become ready: by a simulation, or by controllers and somebody who plays the nodes. */
  readonly hasWorkloads?: boolean;
}

export function newGround({ isRealTime = false, hasWorkloads = false }: GroundOptions = {}): Promise<Ground> {
  const real: RealCluster | undefined = inject('realCluster');
  if (real?.kind === 'running') return realGround(real, hasWorkloads);
  const controllers = hasWorkloads ? { controllers: 'simulated' as const } : {};
  return isRealTime ? embeddedGround(controllers) : timelessGround(controllers);
}

/** How long the assertions may take to come true, in seconds of the clock that is in use. */
const PATIENCE = 60;

/** The time does not pass by itself, but only as long as something is waited for; then it flies. */
async function timelessGround(options: LocalClusterOptions): Promise<Ground> {
  const clock = manualClock({ start: new Date().toISOString() });
  const cluster = await localCluster({ ...options, clock, listen: false });
  const settle = async (): Promise<void> => {
    await cluster.settled();
    await clock.settle();
  };
  return {
    client: cluster.client,
    clock,
    hasServiceAccounts: false,
    lacksNodes: false,
    kubeconfig: () => Promise.reject(new Error('There is nothing to connect to: it needs `isRealTime`.')),
    async eventually(assertions) {
      for (let patience = PATIENCE; ; patience -= 0.5) {
        await settle();
        try {
          return await assertions();
        } catch (error) {
          if (patience <= 0) throw error;
        }
        await clock.advance(0.5);
      }
    },
    async during(promise) {
      let isOver = false;
      const over = (): void => {
        isOver = true;
      };
      promise.then(over, over);
      for (let patience = PATIENCE; !isOver && patience > 0; patience -= 0.5) {
        await settle();
        if (!isOver) await clock.advance(0.5);
      }
      return await promise;
    },
    [Symbol.asyncDispose]: () => cluster.stop(),
  };
}

async function embeddedGround(options: LocalClusterOptions): Promise<Ground> {
  const cluster = await localCluster(options);
  return {
    ...inRealTime,
    client: cluster.client,
    hasServiceAccounts: false,
    lacksNodes: false,
    kubeconfig: () => cluster.kubeconfigFile(),
    [Symbol.asyncDispose]: () => cluster.stop(),
  };
}

async function realGround({ access }: RealCluster & { kind: 'running' }, hasWorkloads: boolean): Promise<Ground> {
  const connection = { server: access.url, ca: access.ca, token: access.token };
  const client = clients.kubeClient({ connection, clock: systemClock, logger: recordingLogger() });
  return {
    ...inRealTime,
    client,
    hasServiceAccounts: access.hasControllerManager,
    lacksNodes: hasWorkloads,
    kubeconfig: () => Promise.resolve(access.kubeconfig),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

const inRealTime: Pick<Ground, 'clock' | 'eventually' | 'during'> = {
  clock: systemClock,
  eventually: async (assertions) => await vi.waitFor(assertions, { timeout: PATIENCE * 1000, interval: 20 }),
  during: (promise) => promise,
};
