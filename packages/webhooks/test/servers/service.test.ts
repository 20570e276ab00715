import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { serviceServer } from '../../src/index.js';
import { ownNamespace } from '../../src/servers/service-server.js';
import { ask, certificatesOnDemand, localMaterial, served } from './support.js';

afterEach(() => {
  vi.unstubAllEnvs();
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe('the server behind a service', () => {
  it.each([
    [
      { name: 'svc', namespace: 'ns' },
      { namespace: 'ns', name: 'svc' },
    ],
    [
      { name: 'svc', namespace: 'ns', port: 8443 },
      { namespace: 'ns', name: 'svc', port: 8443 },
    ],
    [
      { name: 'svc', namespace: 'ns', path: '/p1/p2' },
      { namespace: 'ns', name: 'svc', path: '/p1/p2' },
    ],
    [
      { name: 'svc', namespace: 'ns', path: '/p1//' },
      { namespace: 'ns', name: 'svc', path: '/p1' },
    ],
  ])('for %j is announced as %j, with the authority', async (service, expected) => {
    const certificates = certificatesOnDemand(await localMaterial());
    await using server = await served(serviceServer({ service, addr: '127.0.0.1', port: 0, certificates }));
    expect(server.config).toEqual({ service: expected, caBundle: expect.any(String) });
  });

  it('has certificates for all names of the service, and for more on demand', async () => {
    const port = await freePort();
    const service = { name: 'svc', namespace: 'ns', path: '/p1' };
    const options = { service, addr: '127.0.0.1', port, extraSans: ['elsewhere'] };
    await using server = await served(serviceServer(options));
    for (const servername of ['svc', 'svc.ns', 'svc.ns.svc', 'svc.ns.svc.cluster.local', 'elsewhere']) {
      const tls = { ca: server.ca, servername };
      expect((await ask(`https://127.0.0.1:${port}/p1/fn`, { tls })).status).toBe(200);
    }
    await expect(
      ask(`https://127.0.0.1:${port}/p1/fn`, { tls: { ca: server.ca, servername: 'svc.other.svc' } }),
    ).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });

  it('is in the namespace of the pod, if no other is given', async () => {
    vi.stubEnv('POD_NAMESPACE', 'pods-own');
    const certificates = certificatesOnDemand(await localMaterial());
    await using server = await served(
      serviceServer({ service: { name: 'svc' }, addr: '127.0.0.1', port: 0, certificates }),
    );
    expect(server.config.service?.namespace).toBe('pods-own');
  });

  it('fails with a hint if the namespace is not known', async () => {
    vi.stubEnv('POD_NAMESPACE', '');
    const certificates = certificatesOnDemand(await localMaterial());
    const starting = served(serviceServer({ service: { name: 'svc' }, port: 0, certificates }));
    await expect(starting).rejects.toThrow(/namespace of the service is not known.*name: "svc", namespace/);
  });
});

describe('the namespace of the pod', () => {
  it('is that of the variable, of the file, or is not known', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kopf-pod-'));
    const file = join(folder, 'namespace');
    try {
      expect(await ownNamespace({}, file)).toBeUndefined();
      await writeFile(file, 'of-the-file\n');
      expect(await ownNamespace({}, file)).toBe('of-the-file');
      expect(await ownNamespace({ POD_NAMESPACE: 'of-the-variable' }, file)).toBe('of-the-variable');
      await writeFile(file, '\n');
      expect(await ownNamespace({}, file)).toBeUndefined();
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
