/** One operator of several replicas works at a time: the holder of the lease. */
import { readFile } from 'node:fs/promises';
import { KopfError, type Peering, type PeeringScope, type Seconds } from '@kopf-ts/core';
import { childController, untilAborted } from '@kopf-ts/core/engine';
import { detectIdentity } from '../identity/identity.js';
import { type Election, election } from './lease-election.js';

/**
 * Which Lease the replicas compete for, and at which pace.
 *
 * ```ts
 * const options: kopf.peering.LeasePeeringOptions = { name: 'my-operator', leaseDuration: 30, renewDeadline: 20 };
 * ```
 */
export interface LeasePeeringOptions {
  /** The name of the Lease; the same for all replicas. It is created when needed. */
  readonly name: string;
  /** Of the Lease. Default: the variable `POD_NAMESPACE`; or the namespace of the pod; or `default`. */
  readonly namespace?: string | undefined;
  /** Unique among the replicas. Default: {@link detectIdentity}. */
  readonly identity?: string | undefined;
  /** How long the others wait after the last renewal before one of them takes over. In whole seconds. Default: 15. */
  readonly leaseDuration?: Seconds | undefined;
  /** How long the leader works after its last renewal; must be shorter than the above. Default: 10. */
  readonly renewDeadline?: Seconds | undefined;
  /** How often the lease is renewed, and looked at by the others. Default: 2. */
  readonly retryPeriod?: Seconds | undefined;
  /** From 0 to 1, as `Math.random()`. */
  readonly random?: (() => number) | undefined;
}

/** As in client-go: some slack, so that at least one retry fits into the deadline. */
const JITTER_FACTOR = 1.2;
const NAMESPACE_OF_POD = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/** One election, and all who take part in it for this operator. */
interface Candidacy {
  readonly started: Promise<Election>;
  readonly members: Set<PeeringScope>;
  /** Who leads instead, if it is known. */
  rival(): string | undefined;
  /** How many have come and not left, waiting for the start included. */
  users: number;
  /** Resolves when the lease is released. */
  stop(): Promise<void>;
}

/**
 * Leader election by a `coordination.k8s.io` Lease. The leader works, all others are paused; when the leader stops, it
 * releases the lease, and when it dies or is cut off, the lease ends.
 *
 * There is one election per operator, however many namespaces it serves: as it pauses as a whole, leaders of
 * different namespaces would all pause because of each other. The write guard closes before another replica can take
 * over, even if the process was stopped meanwhile and does not know.
 *
 * ```ts
 * const peering = kopf.peering.leasePeering({ name: 'kopfexamples-operator' });
 * await kopf.run({ peering, clusterwide: true });
 * ```
 */
export function leasePeering(options: LeasePeeringOptions): Peering {
  const { name, leaseDuration = 15, renewDeadline = 10, retryPeriod = 2, random = Math.random } = options;
  const times = { leaseDuration, renewDeadline, retryPeriod };
  checkTimes(times);
  let candidacy: Candidacy | undefined;
  let previous: Promise<void> = Promise.resolve();

  const stand = ({ client, clock, logger }: PeeringScope, after: Promise<void>): Candidacy => {
    const members = new Set<PeeringScope>();
    const standing = childController();
    let rival: string | undefined;
    let done: Promise<void> = Promise.resolve();
    const onChange = (isLeading: boolean): void => {
      rival = undefined;
      for (const { paused } of members) paused.turn(!isLeading, { kind: 'leader' });
    };
    const onRival = (holder: string): void => {
      rival = holder;
      for (const { paused } of members) paused.turn(true, { kind: 'leader', by: holder });
    };
    const start = async (): Promise<Election> => {
      const identity = options.identity ?? (await detectIdentity({ now: clock.utc(), random }));
      if (identity === '') throw emptyIdentity();
      const namespace = options.namespace ?? (await detectNamespace());
      await after;
      const own = election({ client, clock, logger, random, name, namespace, identity, ...times, onChange, onRival });
      done = own.run(standing.signal);
      return own;
    };
    const stop = (): Promise<void> => {
      standing.abort();
      return done;
    };
    return { started: start(), members, rival: () => rival, users: 0, stop };
  };

  const leave = async (own: Candidacy): Promise<void> => {
    own.users -= 1;
    if (own.users > 0) return;
    if (candidacy === own) candidacy = undefined;
    previous = own.stop();
    await previous;
  };

  return {
    async join(scope) {
      const { paused, guardWrites, signal } = scope;
      if (signal.aborted) return;
      candidacy ??= stand(scope, previous);
      const own = candidacy;
      own.users += 1;
      // Before the first ruling, nobody may write.
      let mayWrite = (): boolean => false;
      guardWrites(() => mayWrite());
      try {
        const elected = await own.started;
        own.members.add(scope);
        mayWrite = () => own.members.has(scope) && elected.isLeading;
        paused.turn(!elected.isLeading, { kind: 'leader', by: own.rival() });
        await untilAborted(signal);
      } finally {
        // The last one turns off the light; and stays a member until then, to be told of the end.
        await leave(own);
        own.members.delete(scope);
      }
    },
  };
}

function emptyIdentity(): KopfError {
  const message = 'The identity must not be empty: an empty one means that nobody holds the lease.';
  return new KopfError(message, { code: 'KOPF_LEASE_IDENTITY' });
}

function checkTimes(times: {
  readonly leaseDuration: Seconds;
  readonly renewDeadline: Seconds;
  readonly retryPeriod: Seconds;
}): void {
  const { leaseDuration, renewDeadline, retryPeriod } = times;
  const complain = (message: string): never => {
    throw new KopfError(message, { code: 'KOPF_LEASE_TIMES' });
  };
  if (!Number.isInteger(leaseDuration) || leaseDuration < 1)
    complain(`leaseDuration must be a whole number of seconds, not ${leaseDuration}.`);
  if (!(retryPeriod > 0)) complain(`retryPeriod must be positive, not ${retryPeriod}.`);
  if (!(renewDeadline > retryPeriod * JITTER_FACTOR))
    complain(`renewDeadline (${renewDeadline}) must be longer than ${JITTER_FACTOR} × retryPeriod (${retryPeriod}).`);
  if (!(leaseDuration > renewDeadline))
    complain(`leaseDuration (${leaseDuration}) must be longer than renewDeadline (${renewDeadline}).`);
}

async function detectNamespace(): Promise<string> {
  if (process.env.POD_NAMESPACE) return process.env.POD_NAMESPACE;
  try {
    return (await readFile(NAMESPACE_OF_POD, 'utf8')).trim() || 'default';
  } catch {
    return 'default'; // Not in a pod.
  }
}
