import { settings } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { KubeConnectionError, kubeClient } from '../../../src/index.js';
import { authority } from '../../helpers/certificates.js';
import { loopbackServer } from '../../helpers/servers.js';

const ca = authority();
const { cert, key } = ca.issue('server', [{ ip: '127.0.0.1' }]);
const get = { method: 'GET', path: '/' } as const;

describe.each([
  ['without TLS', undefined],
  ['with TLS', { cert, key }],
])('connections that are cut %s', (_title, tls) => {
  it('in any phase, by any of the ways, and many times, are errors of the connection and nothing worse', async () => {
    let count = 0;
    await using server = await loopbackServer((request, response) => {
      const { socket } = request;
      // Only plain sockets can send a reset.
      const reset = () => (tls === undefined ? socket.resetAndDestroy() : socket.destroy());
      const cuts = [
        () => socket.destroy(),
        reset,
        () => socket.end(),
        () => response.write('{"a":', () => socket.destroy()),
        () => response.write('{"a":', reset),
        () => response.writeHead(200, { 'content-length': '100' }).end('{"a":1}', () => socket.end()),
        () => socket.write('nonsense\r\n\r\n'),
      ];
      if (request.url === '/fine') response.end('{"fine":true}');
      else (cuts[count++ % cuts.length] as () => void)();
    }, tls);
    await using client = kubeClient({
      connection: { server: server.url, ca: ca.cert },
      clock: manualClock(),
      logger: recordingLogger(),
      settings: settings({ networking: { errorBackoffs: [] } }),
    });
    for (let round = 0; round < 70; round++) {
      const attempts = [client.request(get), client.stream(get)[Symbol.asyncIterator]().next()];
      for (const outcome of await Promise.allSettled(attempts)) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(KubeConnectionError) });
      }
    }
    await expect(client.request({ ...get, path: '/fine' })).resolves.toEqual({ fine: true });
  });
});

it('a server that is not there is an error of the connection', async () => {
  const server = await loopbackServer(() => {});
  await server[Symbol.asyncDispose]();
  await using client = kubeClient({
    connection: { server: server.url },
    clock: manualClock(),
    logger: recordingLogger(),
    settings: settings({ networking: { errorBackoffs: [] } }),
  });
  await expect(client.request(get)).rejects.toThrow(`The connection to ${server.url} failed: connect ECONNREFUSED`);
});
