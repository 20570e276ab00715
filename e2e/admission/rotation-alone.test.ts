import { setTimeout as pause } from 'node:timers/promises';
import { AdmissionError } from '@kopf-ts/core';
import { webhookServer } from '@kopf-ts/webhooks';
import { expect, it } from 'vitest';
import { connectedToReal } from '../support/operators/clusters.js';
import { describeOnRealCluster } from '../support/real-cluster.js';
import { startAdmission } from './support/operators.js';
import { usageOf } from './support/requests.js';
import { startWriting, watchCertificates } from './support/writing.js';

const [VALIDITY, DURATION] = [20, 120];

describeOnRealCluster('short-living certificates of one process', () => {
  it(`of ${VALIDITY} seconds are renewed for ${DURATION} seconds without one failed write`, async () => {
    await using cluster = connectedToReal();
    const [things, namespace] = [await cluster.newKind(), await cluster.newNamespace()];
    let reviews = 0;
    const operator = await startAdmission(
      cluster,
      ({ on }) => {
        on.validate(things.selector, { id: 'check' }, ({ spec }) => {
          reviews += 1;
          if (spec['size'] < 0) throw new AdmissionError('Not a size.', { code: 422 });
        });
      },
      {
        namespaces: [namespace],
        server: webhookServer({ addr: '127.0.0.1', validity: VALIDITY, authorityValidity: VALIDITY }),
      },
    );
    expect(await operator.validating.webhooks()).toMatchObject({ check: { failurePolicy: 'Fail' } });
    const writing = await startWriting(usageOf(cluster.connection, things, namespace));
    const certificates = watchCertificates(operator.validating);
    await pause(DURATION * 1000);
    await Promise.all([writing.stop(), certificates.stop()]);

    const { accepted, denied, slowest } = writing;
    const { authorities, leaves, handshakes, longestLife } = certificates;
    console.log(
      `one process: ${accepted} writes accepted, ${denied} denied, ${writing.failures.length} failed, the slowest in ` +
        `${slowest.toFixed(0)} ms; ${authorities.size} authorities, ${leaves.size} certificates, ${handshakes} handshakes, ` +
        `${certificates.failures.length} failed`,
    );
    expect(writing.failures).toEqual([]);
    expect(certificates.failures).toEqual([]);
    // It is no proof if there was nothing to prove.
    expect(longestLife).toBeLessThanOrEqual(VALIDITY);
    expect(Math.min(authorities.size, leaves.size)).toBeGreaterThanOrEqual(DURATION / VALIDITY);
    expect(accepted + denied).toBeGreaterThan(1000);
    expect(reviews).toBeGreaterThanOrEqual(accepted + denied);
    await operator.stop();
  }, 240_000);
});
