import { expect, it } from 'vitest';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';

describeOnRealCluster('the control plane', () => {
  it('works', () => {
    expect(realCluster().url).toMatch(/^https:/);
  });
});
