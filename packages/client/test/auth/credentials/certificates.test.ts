import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { settings } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { kubeClient, loginWithKubeconfig, loginWithServiceAccount, reloadingCredentials } from '../../../src/index.js';
import { type Authority, authority } from '../../helpers/certificates.js';
import { kubeconfig, temporaryFolder } from '../../helpers/folders.js';
import { until } from '../../helpers/servers.js';

const authorities = [authority('first-ca'), authority('second-ca'), authority('third-ca')] as const;
const [first, second, third] = authorities;
const get = { method: 'GET', path: '/api' } as const;

/** A server whose certificates can be replaced, all its connections broken thereby; and which wants ours, maybe. */
async function secureServer(initial: Authority, options: { wantsCertificates?: boolean } = {}) {
  const { wantsCertificates: requestCert = false } = options;
  const identityOf = (ca: Authority) => ({ ...ca.issue('server', [{ ip: '127.0.0.1' }]), ca: ca.cert });
  const tls = { requestCert, rejectUnauthorized: requestCert };
  const server = createServer({ ...identityOf(initial), ...tls }, (request, response) => {
    const user = (request.socket as TLSSocket).getPeerCertificate().subject?.CN;
    response.end(JSON.stringify({ user: user ?? 'nobody' }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    rotate(ca: Authority) {
      server.setSecureContext({ ...identityOf(ca), ...tls });
      server.closeAllConnections();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

function clientBy(load: Parameters<typeof reloadingCredentials>[0]) {
  const clock = manualClock();
  const logger = recordingLogger();
  let loads = 0;
  const counted = () => {
    loads += 1;
    return load();
  };
  const credentials = reloadingCredentials(counted, { clock, logger });
  // Without limits of time, the only ones who sleep are those who pause between attempts.
  const limits = { connectTimeout: undefined, headersTimeout: undefined, requestTimeout: undefined };
  const config = settings({ networking: { errorBackoffs: [1, 2], ...limits } });
  const client = kubeClient({ credentials, clock, logger, settings: config });
  const request = async (): Promise<unknown> => {
    let isOver = false;
    const requested = client.request(get).finally(() => {
      isOver = true;
    });
    requested.catch(() => {});
    while (!isOver) {
      await until(() => isOver || clock.nextWakeup !== undefined, 'an answer or a pause');
      if (clock.nextWakeup !== undefined) await clock.advance(clock.nextWakeup);
    }
    return await requested;
  };
  return {
    /** Logins that do not help are paced. */
    pause: () => clock.advance(60),
    get loads() {
      return loads;
    },
    request,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

describe('certificates that are replaced in their files are read again', () => {
  it('the CA of a kubeconfig, each time', async () => {
    using folder = temporaryFolder();
    await using server = await secureServer(first);
    folder.write('ca.crt', first.cert);
    const cluster = { server: `https://127.0.0.1:${server.port}`, 'certificate-authority': 'ca.crt' };
    const path = folder.write('config', kubeconfig({ token: 't' }, cluster));
    await using operator = clientBy(() => loginWithKubeconfig({ path }));
    await expect(operator.request()).resolves.toEqual({ user: 'nobody' });
    for (const ca of [second, third]) {
      folder.write('ca.crt', ca.cert);
      server.rotate(ca);
      await expect(operator.request()).resolves.toEqual({ user: 'nobody' });
    }
  });

  it('the CA of a service account', async () => {
    using folder = temporaryFolder();
    await using server = await secureServer(first);
    folder.write('token', 'tkn');
    folder.write('ca.crt', first.cert);
    const env = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(server.port) };
    await using operator = clientBy(() => loginWithServiceAccount({ dir: folder.path, env }));
    await operator.request();
    folder.write('ca.crt', second.cert);
    server.rotate(second);
    await expect(operator.request()).resolves.toEqual({ user: 'nobody' });
  });

  it('the certificate and the key of a user', async () => {
    using folder = temporaryFolder();
    await using server = await secureServer(first, { wantsCertificates: true });
    const write = (ca: Authority, name: string): void => {
      const { cert, key } = ca.issue(name);
      folder.write('ca.crt', ca.cert);
      folder.write('user.crt', cert);
      folder.write('user.key', key);
    };
    write(first, 'jane');
    const cluster = { server: `https://127.0.0.1:${server.port}`, 'certificate-authority': 'ca.crt' };
    const user = { 'client-certificate': 'user.crt', 'client-key': 'user.key' };
    const path = folder.write('config', kubeconfig(user, cluster));
    await using operator = clientBy(() => loginWithKubeconfig({ path }));
    await expect(operator.request()).resolves.toEqual({ user: 'jane' });
    write(second, 'jane-renewed');
    server.rotate(second);
    await expect(operator.request()).resolves.toEqual({ user: 'jane-renewed' });
  });
});

it('a CA that stays wrong is an error, and is read again as often as there are attempts, not more', async () => {
  using folder = temporaryFolder();
  await using server = await secureServer(first);
  folder.write('ca.crt', second.cert);
  const cluster = { server: `https://127.0.0.1:${server.port}`, 'certificate-authority': 'ca.crt' };
  const path = folder.write('config', kubeconfig({ token: 't' }, cluster));
  await using operator = clientBy(() => loginWithKubeconfig({ path }));
  await expect(operator.request()).rejects.toMatchObject({ code: 'KOPF_CONNECTION' });
  expect(operator.loads).toBeLessThanOrEqual(4);
  folder.write('ca.crt', first.cert);
  await operator.pause();
  await expect(operator.request()).resolves.toEqual({ user: 'nobody' });
});

it('a CA that was read half-written is read again', async () => {
  using folder = temporaryFolder();
  await using server = await secureServer(first);
  folder.write('ca.crt', '   ');
  const cluster = { server: `https://127.0.0.1:${server.port}`, 'certificate-authority': 'ca.crt' };
  const path = folder.write('config', kubeconfig({ token: 't' }, cluster));
  await using operator = clientBy(() => loginWithKubeconfig({ path }));
  await expect(operator.request()).rejects.toMatchObject({ code: 'KOPF_BAD_PEM' });
  folder.write('ca.crt', first.cert);
  await operator.pause();
  await expect(operator.request()).resolves.toEqual({ user: 'nobody' });
});

it('certificates and refusals of strangers say nothing about our credentials', async () => {
  await using stranger = await secureServer(second);
  let loads = 0;
  const refused: unknown[] = [];
  const clock = manualClock();
  const credentials = {
    current: async () => {
      loads += 1;
      return { server: 'https://cluster.example', token: 't', ca: first.cert };
    },
    invalidate: (info: unknown) => void refused.push(info),
  };
  const config = settings({ networking: { errorBackoffs: [] } });
  await using client = kubeClient({ credentials, clock, logger: recordingLogger(), settings: config });
  const request = client.request({ ...get, path: `https://127.0.0.1:${stranger.port}/x` });
  await expect(request).rejects.toMatchObject({ code: 'KOPF_CONNECTION' });
  expect(loads).toBe(1);
  expect(refused).toEqual([]);
});
