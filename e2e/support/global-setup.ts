import type { TestProject } from 'vitest/node';
import { type ControlPlaneAccess, describeBinaries, findBinaries, startControlPlane } from '../controlplane/index.js';

/** What the tests are told: how to reach the cluster of the suite, or why there is none. */
export type RealCluster =
  | { readonly kind: 'running'; readonly access: ControlPlaneAccess }
  | { readonly kind: 'unavailable'; readonly reason: string };

declare module 'vitest' {
  export interface ProvidedContext {
    realCluster: RealCluster;
  }
}

/** One control plane for the whole suite. Tests keep to namespaces and kinds of their own. */
export default async function setup({ provide }: TestProject): Promise<(() => Promise<void>) | undefined> {
  const found = await findBinaries({ say });
  if (found.kind === 'unavailable') {
    say(`the real-cluster suite is SKIPPED: ${found.reason}.`);
    provide('realCluster', found);
    return undefined;
  }
  const { binaries } = found;
  say(describeBinaries(binaries));
  const started = performance.now();
  const controllerManager = binaries.controllerManager !== undefined;
  const controlPlane = await startControlPlane({ binaries, controllerManager, auditLog: true });
  say(`ready in ${((performance.now() - started) / 1000).toFixed(1)} s at ${controlPlane.url}`);
  provide('realCluster', { kind: 'running', access: accessOf(controlPlane) });
  return async () => {
    try {
      controlPlane.check();
    } finally {
      await controlPlane.stop();
    }
  };
}

/** Without the methods: they cannot be handed over to the processes of the tests. */
function accessOf(controlPlane: ControlPlaneAccess): ControlPlaneAccess {
  return JSON.parse(JSON.stringify(controlPlane));
}

function say(text: string): void {
  console.log(`control plane: ${text}`);
}
