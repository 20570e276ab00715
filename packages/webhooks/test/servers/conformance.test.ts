import { type ManualClock, manualClock, testWebhookServer, type WebhookServerUnderTest } from '@kopf-ts/testing';
import { describe, it } from 'vitest';
import { autoServer, k3dServer, serviceServer, webhookServer } from '../../src/index.js';
import { certificatesOnDemand, localMaterial } from './support.js';

const runner = { describe, it };
/** Certificates are looked at in real time. */
const clock = (): ManualClock => manualClock();
const ADDR = '127.0.0.1';

describe('the plain server', () => {
  testWebhookServer(() => ({ server: webhookServer({ insecure: true, addr: ADDR, path: '/p1/p2' }) }), runner);
});

describe('the secure server', () => {
  testWebhookServer(async () => {
    const certificates = certificatesOnDemand(await localMaterial());
    return { server: webhookServer({ addr: ADDR, certificates }), clock: clock() };
  }, runner);
});

describe('the automatic server', () => {
  testWebhookServer(() => ({ server: autoServer({ insecure: true, addr: ADDR }) }), runner);
});

describe('the server of k3d', () => {
  testWebhookServer(async (): Promise<WebhookServerUnderTest> => {
    const certificates = certificatesOnDemand(await localMaterial('host.k3d.internal'));
    return {
      server: k3dServer({ addr: ADDR, certificates }),
      clock: clock(),
      reach: ({ url = '' }) => ({ url: url.replace('host.k3d.internal', ADDR), servername: 'host.k3d.internal' }),
    };
  }, runner);
});

describe('the server behind a service', () => {
  testWebhookServer(async (): Promise<WebhookServerUnderTest> => {
    const certificates = certificatesOnDemand(await localMaterial('svc.ns.svc'));
    const port = await freePort();
    return {
      server: serviceServer({ addr: ADDR, port, service: { name: 'svc', namespace: 'ns' }, certificates }),
      clock: clock(),
      reach: () => ({ url: `https://${ADDR}:${port}`, servername: 'svc.ns.svc' }),
    };
  }, runner);
});

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, ADDR, resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
