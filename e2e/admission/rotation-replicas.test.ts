import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { freePorts } from '../controlplane/ports.js';
import { connectedToReal } from '../support/operators/clusters.js';
import { eventually } from '../support/operators/operators.js';
import { program, type RunningProgram } from '../support/operators/programs.js';
import { describeOnRealCluster } from '../support/real-cluster.js';
import type { OperatorProgram } from './programs/operator.js';
import { tcpBalancer } from './support/balancer.js';
import { configuration } from './support/configurations.js';
import { newManaged } from './support/operators.js';
import { usageOf } from './support/requests.js';
import { startWriting, watchCertificates } from './support/writing.js';

const [VALIDITY, DURATION] = [20, 120];

describeOnRealCluster('short-living certificates of two replicas', () => {
  const startProgram = program(new URL('programs/operator.ts', import.meta.url));

  it(`of ${VALIDITY} seconds are renewed for ${DURATION} seconds without one failed write, whoever of them is killed`, async () => {
    await using cluster = connectedToReal();
    const [things, namespace] = [await cluster.newKind(), await cluster.newNamespace()];
    const ports = await freePorts(2);
    await using balancer = await tcpBalancer(ports);
    const managed = newManaged();
    const start = (port = 0): RunningProgram => {
      const options: OperatorProgram = {
        connection: cluster.connection,
        selector: things.selector,
        namespace,
        managed,
        // Else, there would be moments without checks when one of them exits.
        check: { persistent: true },
        server: {
          port,
          url: `https://127.0.0.1:${balancer.port}`,
          secret: { namespace, name: 'certificates' },
          validity: VALIDITY,
          authorityValidity: VALIDITY,
        },
      };
      return startProgram(options);
    };
    const isUp = (replica: RunningProgram) => replica.logs('Listening for admission requests');
    const [first, second] = ports.map(start);
    if (first === undefined || second === undefined) throw new Error('There are no two replicas.');
    await Promise.all([isUp(first), isUp(second)]);
    const usage = usageOf(cluster.connection, things, namespace);
    const validating = configuration(cluster.client, 'validating', managed);
    await eventually(async () => {
      expect(await usage.create('probe', { spec: { size: -1 } }, '?dryRun=All')).toMatchObject({ status: 422 });
    });
    expect(await validating.webhooks()).toMatchObject({ check: { failurePolicy: 'Fail' } });

    const until = timeline();
    const writing = await startWriting(usage);
    const certificates = watchCertificates(validating);
    await until(DURATION / 4);
    // As in a cluster: pods that are to end are no endpoints of services any more; but connections remain.
    balancer.spare(ports[0] ?? 0, true);
    first.kill('SIGTERM');
    expect(await first.ended, first.log).toBe(0);
    await until(DURATION / 4 + 10);
    const firstAgain = start(ports[0]);
    await isUp(firstAgain);
    balancer.spare(ports[0] ?? 0, false);
    await until((DURATION * 3) / 5);
    // Nobody can answer for those who are killed: so there is nothing to be answered at that moment.
    await writing.pausedFor(() =>
      certificates.pausedFor(async () => {
        second.kill('SIGKILL');
        await second.ended;
        await eventually(() => expect(balancer.open(ports[1] ?? 0)).toBe(0));
      }),
    );
    await until((DURATION * 3) / 5 + 10);
    const secondAgain = start(ports[1]);
    await isUp(secondAgain);
    await until(DURATION);
    await Promise.all([writing.stop(), certificates.stop()]);

    const { accepted, denied, slowest } = writing;
    const { authorities, leaves, handshakes, longestLife } = certificates;
    console.log(
      `two replicas: ${accepted} writes accepted, ${denied} denied, ${writing.failures.length} failed, the slowest in ` +
        `${slowest.toFixed(0)} ms; ${authorities.size} authorities, ${leaves.size} certificates, ${handshakes} handshakes, ` +
        `${certificates.failures.length} failed; connections: ${[...balancer.accepted.values()].join(' and ')}`,
    );
    expect(writing.failures).toEqual([]);
    expect(certificates.failures).toEqual([]);
    expect(longestLife).toBeLessThanOrEqual(VALIDITY);
    expect(authorities.size).toBeGreaterThanOrEqual(DURATION / VALIDITY);
    expect(leaves.size).toBeGreaterThanOrEqual((2 * DURATION) / VALIDITY);
    expect(accepted + denied).toBeGreaterThan(1000);
    expect(Math.min(...balancer.accepted.values())).toBeGreaterThan(10);
    for (const replica of [firstAgain, secondAgain]) {
      replica.kill('SIGTERM');
      expect(await replica.ended, replica.log).toBe(0);
    }
    await validating.delete();
  }, 300_000);
});

/** Waits until so many seconds after now. */
function timeline(): (seconds: number) => Promise<void> {
  const began = performance.now();
  return async (seconds) => {
    await pause(Math.max(0, seconds * 1000 - (performance.now() - began)));
  };
}
