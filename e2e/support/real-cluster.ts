import { describe, inject } from 'vitest';
import type { ControlPlaneAccess } from '../controlplane/index.js';
import type {} from './global-setup.js';

const cluster = inject('realCluster');

/** `describe` for what needs the real cluster; skipped, together with its hooks, where there is none. */
export function describeOnRealCluster(name: string, tests: () => void): void {
  describe.skipIf(cluster.kind === 'unavailable')(name, tests);
}

/** The cluster of the suite. To be called within tests and hooks: outside of them there may be none. */
export function realCluster(): ControlPlaneAccess {
  if (cluster.kind === 'unavailable') throw new Error(`There is no real cluster: ${cluster.reason}.`);
  return cluster.access;
}
