import type { TestProject } from 'vitest/node';
import { type ControlPlaneAccess, findBinaries, startControlPlane } from '../../controlplane/index.js';
import { comparable } from '../../differential/harness/targets.js';
import type { Installed } from './installed.js';

declare module 'vitest' {
  export interface ProvidedContext {
    realServer: Installed<ControlPlaneAccess>;
  }
}

/** One for all the programs: each of them keeps to namespaces and kinds of its own. */
export default async function setup({ provide }: TestProject): Promise<(() => Promise<void>) | undefined> {
  const say = (text: string) => console.log(`control plane: ${text}`);
  const found = await findBinaries({ say });
  if (found.kind === 'unavailable') {
    say(`comparisons with the real server are SKIPPED: ${found.reason}.`);
    provide('realServer', found);
    return undefined;
  }
  // The embedded server has the certificates of its root in each namespace, if it speaks TLS.
  const controllers = [...(comparable.controllers ?? []), 'root-ca-certificate-publisher-controller'];
  const controlPlane = await startControlPlane({ ...comparable, controllers, binaries: found.binaries });
  // Without the methods: they cannot be handed over to the processes of the tests.
  provide('realServer', { kind: 'installed', it: JSON.parse(JSON.stringify(controlPlane)) });
  return () => controlPlane.stop();
}
