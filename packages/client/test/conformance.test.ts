import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type LocalCluster, localCluster } from '@kopf-ts/apiserver';
import { settings } from '@kopf-ts/core';
import { manualClock, recordingLogger, testClient } from '@kopf-ts/testing';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { TinyCluster } from '../../testing/test/helpers/tiny-cluster.js';
import { kubeClient, loginWithKubeconfig } from '../src/index.js';
import { authority } from './helpers/certificates.js';
import { bodyOf, loopbackServer } from './helpers/servers.js';

const ca = authority();
const { cert, key } = ca.issue('server', [{ ip: '127.0.0.1' }]);

/** The tiny cluster of the suite's own tests, over HTTP. */
function serving(cluster: TinyCluster): RequestListener {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', url = '/', headers } = request;
    const body = await bodyOf(request);
    const contentType = headers['content-type'];
    const answer = cluster.handle({ method, path: url, accept: headers.accept, contentType, body });
    if ('status' in answer) {
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text);
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    let { after } = answer;
    const send = (): void => {
      const { text, version } = cluster.lines(answer, after);
      after = version;
      if (text !== '') response.write(text);
    };
    const stop = cluster.onChange(send);
    response.on('close', stop);
    send();
    if (answer.timeoutSeconds !== undefined) setImmediate(() => response.end());
  };
  return (request, response) => void serve(request, response);
}

describe.each([
  ['HTTP', undefined],
  ['HTTPS', { cert, key }],
])('over %s', (_title, tls) => {
  testClient(
    async () => {
      const server = await loopbackServer(serving(new TinyCluster()), tls);
      const connection = { server: server.url, token: 'tkn', ...(tls === undefined ? {} : { ca: ca.cert }) };
      const client = kubeClient({ connection, clock: manualClock(), logger: recordingLogger(), settings: settings() });
      return {
        client,
        connections: () => server.connections.open,
        async dispose() {
          await client.close();
          await server[Symbol.asyncDispose]();
        },
      };
    },
    { describe, it },
  );
});

describe('of the embedded cluster', () => {
  let cluster: LocalCluster;
  beforeAll(async () => {
    cluster = await localCluster({ tls: true });
  });
  afterAll(async () => {
    await cluster.stop();
  });

  describe('over HTTPS', () => {
    testClient(
      async () => {
        const connection = await loginWithKubeconfig({ path: await cluster.kubeconfigFile() });
        if (connection === undefined) throw new Error('The cluster has no kubeconfig.');
        const client = kubeClient({
          connection,
          clock: manualClock(),
          logger: recordingLogger(),
          settings: settings(),
        });
        return { client, dispose: () => client.close() };
      },
      { describe, it },
    );
  });

  describe('in the same process', () => {
    testClient(() => ({ client: cluster.client }), { describe, it });
  });
});
