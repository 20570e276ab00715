import { settings } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { expect, it } from 'vitest';
import { kubeClient } from '../../../src/index.js';
import { authority } from '../../helpers/certificates.js';
import { loopbackServer, until } from '../../helpers/servers.js';

const ca = authority();
const { cert, key } = ca.issue('server', [{ ip: '127.0.0.1' }]);
const forbidden = { code: 'KOPF_REQUEST_FORBIDDEN' };
const put = { method: 'PUT', path: '/', body: {} } as const;
const common = { clock: manualClock(), logger: recordingLogger() };

it('what is forbidden while the connection is being made is not sent', async () => {
  let requests = 0;
  const listener = (_request: unknown, response: { end(text: string): void }): void => {
    requests += 1;
    response.end('{}');
  };
  await using server = await loopbackServer(listener, { cert, key });
  await using client = kubeClient({ connection: { server: server.url, ca: ca.cert }, ...common });
  let isPermitted = true;
  const asked = client.request({ ...put, mayBegin: () => isPermitted });
  isPermitted = false;
  await expect(asked).rejects.toMatchObject(forbidden);
  expect(server.connections.ever).toBe(1);
  expect(requests).toBe(0);

  isPermitted = true;
  await expect(client.request({ ...put, mayBegin: () => isPermitted })).resolves.toEqual({});
  expect(requests).toBe(1);
});

it('what is forbidden after a failure is not sent again', async () => {
  let requests = 0;
  await using server = await loopbackServer((_request, response) => {
    requests += 1;
    response.writeHead(503).end('{}');
  });
  const clock = manualClock();
  const options = { clock, logger: recordingLogger(), settings: settings({ networking: { errorBackoffs: [5, 5] } }) };
  await using client = kubeClient({ connection: { server: server.url }, ...options });
  let isPermitted = true;
  const asked = client.request({ ...put, mayBegin: () => isPermitted });
  const outcome = asked.catch((error: unknown) => error);
  await until(() => options.logger.find('will retry') !== undefined);
  isPermitted = false;
  await clock.advance(5);
  expect(await outcome).toMatchObject(forbidden);
  expect(requests).toBe(1);
});
