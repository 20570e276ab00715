import { once } from 'node:events';
import { get as getPlain, type IncomingMessage } from 'node:http';
import { get as getSecure } from 'node:https';
import { describe, expect, it } from 'vitest';
import { type LocalCluster, localCluster } from '../../src/index.js';

describe.each([
  ['plain', false],
  ['TLS', true],
])('connections by %s', (_, tls) => {
  const ask = ({ url, token }: LocalCluster, path: string) => {
    const options = { agent: false, rejectUnauthorized: false, headers: { authorization: `Bearer ${token}` } };
    return (tls ? getSecure : getPlain)(`${url}${path}`, options);
  };

  it('are reset instead of an answer, and the next ones are not', async () => {
    await using cluster = await localCluster({ tls });
    cluster.faults.add({ match: { path: /configmaps/ }, reset: true, times: 1 });
    await expect(once(ask(cluster, '/api/v1/configmaps'), 'response')).rejects.toMatchObject({ code: 'ECONNRESET' });
    const [answer] = (await once(ask(cluster, '/api/v1/configmaps'), 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(200);
    answer.destroy();
  });

  it('are reset in the midst of a watch', async () => {
    await using cluster = await localCluster({ tls });
    const asking = ask(cluster, '/api/v1/configmaps?watch=true').on('error', () => {});
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    const failed = once(answer, 'error');
    expect(cluster.faults.resetStreams()).toBe(1);
    expect(await failed).toMatchObject([{ code: 'ECONNRESET' }]);
  });
});
