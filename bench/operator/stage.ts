/** A real control plane of our own, with the kind that the measured operators handle. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Binaries, startControlPlane } from '../../e2e/controlplane/index.js';
import { objectsOf } from './objects.js';
import type { Stage } from './workloads.js';

/** Who asks for what, without the bodies; with these, the log would be the most of the server's work. */
const AUDIT_POLICY = JSON.stringify({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
});

export async function onStage(
  binaries: Binaries,
  { countsRequests }: { readonly countsRequests: boolean },
  use: (stage: Stage) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'kopf-ts-bench-'));
  const policy = join(folder, 'audit-policy.json');
  writeFileSync(policy, AUDIT_POLICY);
  try {
    await using controlPlane = await startControlPlane({
      binaries,
      auditLog: countsRequests,
      extraArgs: countsRequests ? { apiServer: [`--audit-policy-file=${policy}`] } : {},
    });
    const { kubeconfig, auditLog } = controlPlane;
    const objects = await objectsOf(controlPlane);
    const identity = await objects.clusterIdentity();
    const verify = async (): Promise<void> => {
      controlPlane.check();
      if ((await objects.clusterIdentity()) !== identity) {
        throw new Error(`${controlPlane.url} is not served by the control plane that was started for this any more.`);
      }
    };
    try {
      await use({ objects, kubeconfig, verify, ...(auditLog !== undefined && { auditLog }) });
    } finally {
      await objects.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
