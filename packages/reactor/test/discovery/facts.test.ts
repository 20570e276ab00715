import { describe, expect, it } from 'vitest';
import { discover, KEX, noop } from './harness.js';

const handlers = (registry: Parameters<NonNullable<NonNullable<Parameters<typeof discover>[0]>['handlers']>>[0]) => {
  registry.on.event('kopfexamples', noop);
};

describe('the facts of discovery', () => {
  it('tell what is served, once it is known and whenever it changes', async () => {
    const { told, cluster, advance } = await discover({ handlers, scope: { namespaces: ['default'] } });
    await advance(10);
    expect(told).toMatchObject([{ kind: 'discovery.revised', resources: [], namespaces: ['default'] }]);
    await cluster.define(KEX);
    await advance(10);
    expect(told.slice(1)).toMatchObject([
      { kind: 'discovery.revised', resources: [{ plural: 'kopfexamples' }], namespaces: ['default'] },
    ]);
  });

  it('tell of failures, and how many there were in a row', async () => {
    const { told, cluster, advance } = await discover({
      handlers,
      cluster: async ({ define, faults }) => {
        await define(KEX);
        faults.add({ match: { path: '/apis' }, answer: { status: 500 } });
      },
    });
    await advance(1);
    expect(told).toMatchObject([
      { kind: 'discovery.failed', failures: 1, error: { status: 500 } },
      { kind: 'discovery.failed', failures: 2, error: { status: 500 } },
    ]);
    cluster.faults.clear();
    await advance(31);
    expect(told.at(-1)).toMatchObject({ kind: 'discovery.revised', resources: [{ plural: 'kopfexamples' }] });
  });
});
