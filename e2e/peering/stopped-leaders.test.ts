import { setTimeout as pause } from 'node:timers/promises';
import type { HttpKubeClient } from '@kopf-ts/client';
import { makeResource, resourceUrl } from '@kopf-ts/core/engine';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { clientOf } from '../support/client.js';
import { newNamespace } from '../support/objects.js';
import { absentIfNotFound, newTestKind, type TestKind } from '../support/operators/kinds.js';
import { eventually } from '../support/operators/operators.js';
import { program, type RunningProgram } from '../support/operators/programs.js';
import type { ReplicaOptions } from '../support/operators/replica.js';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';
import { type AuditedWrite, isAccepted, writesIn } from './lease-audit.js';

const ROUNDS = 20;
const REPLICAS = ['replica-1', 'replica-2', 'replica-3'];
const OBJECTS = ['a', 'b', 'c', 'd', 'e', 'f'];
const TIMES = { leaseDuration: 3, renewDeadline: 2, retryPeriod: 0.5 };
const FAIL_OVER = TIMES.leaseDuration + TIMES.retryPeriod;
/** The lease, the server and the replicas share few processors: what one fail-over of many may take beyond its limit, in seconds. */
const SLOWNESS = 4;

const leases = makeResource({ group: 'coordination.k8s.io', version: 'v1', plural: 'leases', namespaced: true });

describeOnRealCluster('leaders by a lease', () => {
  const startReplica = program(new URL('../support/operators/replica.ts', import.meta.url));
  let client: HttpKubeClient;
  let things: TestKind;
  let namespace: string;
  beforeAll(async () => {
    client = clientOf(realCluster());
    things = await newTestKind(client);
    namespace = await newNamespace(client);
  });
  afterAll(() => client?.close());

  const start = (identity: string): RunningProgram => {
    const { url: server, ca, token } = realCluster();
    const options: ReplicaOptions = {
      // The server tells them from each other by that, and so does its log.
      connection: { server, ca, token, impersonate: { user: identity, groups: ['system:masters'] } },
      selector: things.selector,
      namespace,
      identity,
      lease: { ...TIMES, name: 'operator', namespace },
      tickEvery: 0.15,
    };
    return startReplica(options);
  };
  const leader = async (): Promise<string | undefined> => {
    const path = resourceUrl(leases, { namespace, name: 'operator' });
    const lease = await absentIfNotFound(client.request<AuditedWrite['object']>({ method: 'GET', path }));
    return lease?.spec.holderIdentity || undefined;
  };
  const otherLeader = (than: string | undefined): Promise<string> =>
    eventually(async () => {
      const now = await leader();
      expect(now).toBeDefined();
      expect(now).not.toBe(than);
      return now as string;
    });

  it(`stopped and continued ${ROUNDS} times, are replaced in time and write nothing afterwards`, async () => {
    const replicas = new Map(REPLICAS.map((identity) => [identity, start(identity)]));
    for (const name of OBJECTS) await things.create(namespace, name, { spec: { round: 0 } });
    let current = await otherLeader(undefined);
    await eventually(async () =>
      expect((await things.get(namespace, 'a'))?.['status']?.tick).toMatch(new RegExp(`^${current} `)),
    );

    const failOvers: number[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      const changing = Promise.all(OBJECTS.map((name) => things.patch(namespace, name, { spec: { round } })));
      await pause(300 + Math.random() * 700);
      await changing;
      const stoppedAt = performance.now();
      replicas.get(current)?.kill('SIGSTOP');
      const next = await otherLeader(current);
      failOvers.push((performance.now() - stoppedAt) / 1000);
      // For longer than the lease in any case, and until the other one is at work, or about to be.
      const left = TIMES.leaseDuration + 0.1 - (performance.now() - stoppedAt) / 1000;
      await pause(Math.max(0, left) * 1000 + Math.random() * 500);
      replicas.get(current)?.kill('SIGCONT');
      current = next;
    }
    await pause(1000);
    expect(await leader()).toBe(current);
    for (const replica of replicas.values()) replica.kill('SIGTERM');
    for (const replica of replicas.values()) expect(await replica.ended, replica.log).toBe(0);

    const writes = await writesIn(realCluster().auditLog ?? '', namespace);
    const reigns = reignsIn(writes);
    const takeOvers = reigns.filter(({ isByForce }) => isByForce);
    console.log(summary(failOvers, takeOvers, writes));
    expect(takeOvers.length).toBeGreaterThanOrEqual(ROUNDS);
    const vacancies = takeOvers.map(({ vacancy }) => vacancy);
    expect(medianOf(vacancies)).toBeLessThan(FAIL_OVER);
    expect(Math.max(...vacancies)).toBeLessThan(FAIL_OVER + SLOWNESS);
    expect(Math.max(...failOvers)).toBeLessThan(FAIL_OVER + SLOWNESS);
    const ofThings = writes.filter((write) => write.resource === things.plural && REPLICAS.includes(write.user));
    const accepted = ofThings.filter(isAccepted);
    // It is no proof if they were idle. Only the shortest reigns can be too short for writing.
    const busy = reigns.filter((reign) =>
      accepted.some(({ user, version }) => user === reign.leader && isDuring(reign, version)),
    );
    expect(busy.length).toBeGreaterThan(ROUNDS / 2);
    expect(accepted.length).toBeGreaterThan(ROUNDS * OBJECTS.length);
    const usurped = accepted.filter((write) => whoReigns(reigns, write.version) !== write.user);
    expect(usurped.map(briefly)).toEqual([]);
    const late = accepted.filter((write) => isLate(write, reigns));
    expect(late.map(briefly)).toEqual([]);
  }, 170_000);
});

/** From one taking of the lease to the next one. */
interface Reign {
  readonly leader: string;
  /** The version of the lease when it was taken: all that is written later has a greater one. */
  readonly since: bigint;
  /** When the server received the request for it, and when it was answered. */
  readonly answeredAt: number;
  /** The lease was not released by the predecessor. */
  readonly isByForce: boolean;
  /** Seconds from the last renewal by the predecessor to the taking, as both are told in the lease. */
  readonly vacancy: number;
  until: bigint | undefined;
}

function reignsIn(writes: readonly AuditedWrite[]): readonly Reign[] {
  const ofLease = writes.filter((write) => write.resource === 'leases' && isAccepted(write));
  const ordered = [...ofLease].sort((one, two) => (one.version < two.version ? -1 : 1));
  const reigns: Reign[] = [];
  let previous: { readonly holderIdentity: string; readonly renewTime: string } | undefined;
  for (const { object, version, answeredAt } of ordered) {
    const { spec } = object;
    const last = reigns.at(-1);
    if (spec.holderIdentity !== (previous?.holderIdentity ?? '')) {
      if (last !== undefined) last.until ??= version;
      if (spec.holderIdentity !== '') {
        reigns.push({
          leader: spec.holderIdentity,
          since: version,
          answeredAt,
          isByForce: (previous?.holderIdentity ?? '') !== '',
          vacancy: (Date.parse(spec.acquireTime) - Date.parse(previous?.renewTime ?? spec.acquireTime)) / 1000,
          until: undefined,
        });
      }
    }
    previous = spec;
  }
  return reigns;
}

const isDuring = ({ since, until }: Reign, version: bigint): boolean =>
  version > since && (until === undefined || version < until);

const whoReigns = (reigns: readonly Reign[], version: bigint): string | undefined =>
  reigns.find((reign) => isDuring(reign, version))?.leader;

/** It came to the server when that had answered somebody else already that the lease is theirs. Even if it changed nothing. */
function isLate({ user, receivedAt }: AuditedWrite, reigns: readonly Reign[]): boolean {
  const latest = reigns.findLast(({ answeredAt }) => answeredAt < receivedAt);
  return latest !== undefined && latest.leader !== user;
}

const briefly = ({ user, verb, name, version, receivedAt, answeredAt }: AuditedWrite): string =>
  `${user} ${verb} ${name} ${version} ${new Date(receivedAt).toISOString()} +${answeredAt - receivedAt} ms`;

function summary(failOvers: readonly number[], takeOvers: readonly Reign[], writes: readonly AuditedWrite[]): string {
  const range = (numbers: readonly number[]): string =>
    `${Math.min(...numbers).toFixed(2)}…${Math.max(...numbers).toFixed(2)} s`;
  const ofReplicas = writes.filter(({ user, resource }) => REPLICAS.includes(user) && resource !== 'leases');
  const refused = ofReplicas.filter((write) => !isAccepted(write)).length;
  return [
    `fail-overs: ${failOvers.length}; from the stop: ${range(failOvers)}`,
    `from the last renewal: ${range(takeOvers.map(({ vacancy }) => vacancy))}, of ${FAIL_OVER} s permitted`,
    `writes: ${ofReplicas.length}, of which refused: ${refused}`,
  ].join('; ');
}

function medianOf(values: readonly number[]): number {
  return [...values].sort((one, two) => one - two)[Math.floor(values.length / 2)] ?? Number.NaN;
}
