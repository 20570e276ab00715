import type { KubeClient, KubeRequest } from '@kopf-ts/core';
import { describe, expect, it } from 'vitest';
import { operated } from '../support/operated.js';

/** A cluster with versions ahead of its time, until it is restored: then, they are as they are, and streams are cut. */
function restorable(ahead: number) {
  let shift = ahead;
  let cut = new AbortController();
  const shifted = <T>(value: T): T =>
    JSON.parse(
      JSON.stringify(value, (key, field: unknown) =>
        key === 'resourceVersion' && typeof field === 'string' ? String(Number(field) + shift) : field,
      ),
    ) as T;
  /** Versions of the future are waited for in silence. */
  const from = ({ path }: KubeRequest): number => Number(/[?&]resourceVersion=(\d+)/.exec(path)?.[1] ?? 0);
  const through = (client: KubeClient): KubeClient => ({
    request: async (request) => shifted(await client.request(request)),
    async *stream<T>(request: KubeRequest) {
      const since = from(request);
      const path = request.path.replace(/([?&]resourceVersion=)\d+/, `$1${Math.max(0, since - ahead)}`);
      const signal = AbortSignal.any([cut.signal, ...(request.signal ? [request.signal] : [])]);
      for await (const line of client.stream<T>({ ...request, path, signal })) {
        const { object } = line as { object?: { metadata?: { resourceVersion?: string } } };
        if (Number(object?.metadata?.resourceVersion) + shift > since) yield shifted(line);
      }
    },
  });
  return {
    through,
    restore() {
      shift = 0;
      cut.abort(new TypeError('cut'));
      cut = new AbortController();
    },
  };
}

describe('A cluster that is restored from a backup', () => {
  it.each([10_000, 77])('goes on being served, though its versions are lower by %d', async (ahead) => {
    const cluster = restorable(ahead);
    await using operator = await operated({ through: cluster.through });
    const calls: unknown[] = [];
    operator.registry.on.create('kopfexamples', { id: 'c' }, ({ name }) => void calls.push(`create ${name}`));
    operator.registry.on.update('kopfexamples', { id: 'u' }, ({ name, spec }) => {
      calls.push(`update ${name} ${JSON.stringify(spec)}`);
    });
    await operator.create('old', { spec: { field: 'a' } });
    await operator.start();
    expect(calls).toEqual(['create old']);
    cluster.restore();
    await operator.settle();
    await operator.edit('old', { spec: { field: 'b' } });
    await operator.create('new', {});
    await operator.advance(200);
    expect(calls.slice(1).sort()).toEqual(['create new', 'update old {"field":"b"}']);
    expect(operator.logger.find('restored to an earlier state')).toBeDefined();
    await operator.edit('old', { spec: { field: 'c' } });
    await operator.advance(1);
    expect(calls.at(-1)).toBe('update old {"field":"c"}');
  });
});
