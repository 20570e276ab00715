import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ApiConflictError, ApiForbiddenError, ApiUnauthorizedError, type ConnectionInfo } from '@kopf-ts/core';
import { createObject, makeResource } from '@kopf-ts/core/engine';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ControlPlane, findBinaries, runKubectl, startControlPlane } from '../controlplane/index.js';
import { clientOf } from '../support/client.js';
import { configMaps, getObject, newNamespace } from '../support/objects.js';
import { startOwner } from '../support/owners.js';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';
import { becomesTrue } from '../support/waiting.js';

const get = (path: string) => ({ method: 'GET', path, retries: 'none' }) as const;

describeOnRealCluster('the control plane of the suite', () => {
  it('is of the version that it says', async () => {
    await using client = clientOf(realCluster());
    const version = await client.request(get('/version'));
    expect(version).toMatchObject({ gitVersion: `v${realCluster().kubernetesVersion}`, major: '1' });
  });

  it('has all its parts in good health', async () => {
    const health = await runKubectl(realCluster(), ['get', '--raw', '/readyz?verbose']);
    expect(health).toContain('[+]etcd ok');
    expect(health).toContain('readyz check passed');
  });

  it.each<[string, (all: Certificate) => Partial<ConnectionInfo>]>([
    ['a token', ({ token }) => ({ token })],
    ['a client certificate', ({ cert, key }) => ({ cert, key })],
  ])('knows its administrator by %s', async (_, credentials) => {
    const { token, certFile, keyFile } = realCluster();
    const certificate = { token, cert: await readFile(certFile), key: await readFile(keyFile) };
    await using client = clientOf(realCluster(), credentials(certificate));
    const review = await client.request({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: {},
    });
    expect(review).toMatchObject({
      status: { userInfo: { username: 'admin', groups: expect.arrayContaining(['system:masters']) } },
    });
  });

  it.each<[string, Partial<ConnectionInfo>]>([
    ['without credentials', { token: '' }],
    ['with a wrong token', { token: 'wrong' }],
  ])('lets nobody in %s', async (_, connection) => {
    await using client = clientOf(realCluster(), connection);
    await expect(client.request(get('/api/v1/namespaces'))).rejects.toThrow(ApiUnauthorizedError);
  });

  it('is not trusted without its own authority', async () => {
    const { url, token } = realCluster();
    // The built-in `fetch` knows only the authorities of the world.
    await expect(fetch(`${url}/version`, { headers: { authorization: `Bearer ${token}` } })).rejects.toThrow();
  });

  it('permits a service account only what its roles do', async () => {
    await using admin = clientOf(realCluster());
    const namespace = await newNamespace(admin);
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    await createObject(admin, core('serviceaccounts'), { namespace, name: 'operator' });
    const token = await runKubectl(realCluster(), ['create', 'token', 'operator', '-n', namespace]);
    await using operator = clientOf(realCluster(), { token: token.trim() });
    await expect(operator.request(get(path))).rejects.toThrow(ApiForbiddenError);

    const role = {
      metadata: { name: 'reader' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }],
    };
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' };
    const subjects = [{ kind: 'ServiceAccount', name: 'operator', namespace }];
    await createObject(admin, rbac('roles'), { namespace, body: role });
    await createObject(admin, rbac('rolebindings'), {
      namespace,
      body: { metadata: { name: 'readers' }, roleRef, subjects },
    });
    // The roles are looked up in caches, which follow within moments.
    expect(
      await becomesTrue(() =>
        operator.request(get(path)).then(
          () => true,
          () => false,
        ),
      ),
    ).toBe(true);
    await expect(operator.request(get(`${path}/any`))).rejects.toThrow(ApiForbiddenError);
  });

  it('is seen by kubectl, in both contexts of the kubeconfig', async () => {
    for (const context of ['token', 'certificate']) {
      const names = await runKubectl(realCluster(), [`--context=${context}`, 'get', 'namespaces', '-o', 'name']);
      expect(names).toContain('namespace/kube-system');
    }
  });

  it('tells what kubectl complains about', async () => {
    await expect(runKubectl(realCluster(), ['get', 'configmap', 'nonexistent'])).rejects.toThrow(
      '"nonexistent" not found',
    );
  });

  it('keeps its secrets to the owner of the files', async () => {
    const { kubeconfig, keyFile } = realCluster();
    for (const file of [kubeconfig, keyFile]) expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('records requests in the audit log', async () => {
    await using client = clientOf(realCluster());
    const namespace = await newNamespace(client);
    const lines = (await readFile(realCluster().auditLog ?? '', 'utf8')).trimEnd().split('\n');
    const event = lines.map((line) => JSON.parse(line)).find(({ objectRef }) => objectRef?.name === namespace);
    expect(event).toMatchObject({ verb: 'create', user: { username: 'admin' }, responseStatus: { code: 201 } });
  });

  it('sends bookmarks of kinds in which nothing happens, as usual clusters do', async () => {
    await using client = clientOf(realCluster());
    // Something else does happen: so the cache of a quiet kind is behind the newest version, which a list has to tell.
    await newNamespace(client);
    const query =
      'watch=1&allowWatchBookmarks=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan&timeoutSeconds=15';
    const bookmarks: unknown[] = [];
    for await (const line of client.stream(get(`/api/v1/podtemplates?${query}`))) {
      const { type, object } = line as { type: string; object: { metadata: { annotations?: object } } };
      if (type === 'BOOKMARK') bookmarks.push(object.metadata.annotations);
    }
    // The list is over; and the server tells how far it is before it ends the stream, mostly once.
    const [end, ...later] = bookmarks;
    expect(end).toEqual({ 'k8s.io/initial-events-end': 'true' });
    expect(later).not.toEqual([]);
  });

  it('takes care of namespaces and of owned objects', async ({ skip }) => {
    if (!realCluster().hasControllerManager) skip('there is no kube-controller-manager');
    await using client = clientOf(realCluster());
    const namespace = await newNamespace(client);
    const owner = await createObject(client, configMaps, { namespace, name: 'owner' });
    const uid = (owner.metadata as { uid?: string }).uid;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
    await createObject(client, configMaps, { namespace, body: { metadata: { name: 'owned', ownerReferences } } });
    const path = `/api/v1/namespaces/${namespace}`;
    const isGone = (what: string) => () =>
      client.request(get(what)).then(
        () => false,
        () => true,
      );

    await client.request({ method: 'DELETE', path: `${path}/configmaps/owner` });
    expect(await becomesTrue(isGone(`${path}/configmaps/owned`))).toBe(true);
    await client.request({ method: 'DELETE', path });
    expect(await becomesTrue(isGone(path))).toBe(true);
  });
});

interface Certificate {
  readonly token: string;
  readonly cert: Uint8Array;
  readonly key: Uint8Array;
}

const core = (plural: string) => makeResource({ group: '', version: 'v1', plural, namespaced: true });
const rbac = (plural: string) =>
  makeResource({ group: 'rbac.authorization.k8s.io', version: 'v1', plural, namespaced: true });

describeOnRealCluster('a control plane of its own', () => {
  let controlPlane: ControlPlane;

  beforeAll(async () => {
    controlPlane = await startControlPlane();
  });

  afterAll(async () => {
    await controlPlane?.stop();
  });

  it.each([
    ['politely', false],
    ['abruptly', true],
  ])('keeps its data, address and credentials when the API server is restarted %s', async (name, abruptly) => {
    await using client = clientOf(controlPlane);
    await createObject(client, configMaps, { namespace: 'default', name, body: { data: { key: 'value' } } });
    const before = serverPid(controlPlane);
    await controlPlane.restartApiServer({ abruptly });
    expect(serverPid(controlPlane)).not.toBe(before);
    expect(await getObject(client, configMaps, 'default', name)).toMatchObject({ data: { key: 'value' } });
    expect(await controlPlane.kubectl(['get', 'configmap', name, '-o', 'name'])).toBe(`configmap/${name}\n`);
    controlPlane.check();
  });

  it('takes manifests from kubectl', async () => {
    const manifest = JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'applied' },
      data: { a: 'b' },
    });
    expect(await controlPlane.kubectl(['apply', '-f', '-'], { stdin: manifest })).toBe('configmap/applied created\n');
    await using client = clientOf(controlPlane);
    await expect(createObject(client, configMaps, { namespace: 'default', name: 'applied' })).rejects.toThrow(
      ApiConflictError,
    );
  });
});

describeOnRealCluster('a control plane that goes wrong', () => {
  it('tells the end of the log of the component that has died', async () => {
    const extraArgs = { apiServer: ['--no-such-flag'] };
    await expect(startControlPlane({ extraArgs })).rejects.toThrow(
      /^kube-apiserver has ended with 1; its log ends with:\n[\s\S]*unknown flag: --no-such-flag/,
    );
  });

  it('tells why there cannot be one', async () => {
    const found = await findBinaries();
    if (found.kind === 'unavailable') throw new Error(found.reason);
    const { controllerManager: _, ...binaries } = found.binaries;
    await expect(startControlPlane({ binaries, controllerManager: true })).rejects.toThrow(
      'There is no kube-controller-manager',
    );
  });

  it('leaves nothing behind when its owner is killed', async () => {
    const script = new URL('../controlplane/test/owner-of-a-control-plane.ts', import.meta.url);
    const { hasControllerManager } = realCluster();
    const wanted = hasControllerManager ? ['with-controller-manager'] : [];
    const { told, kill } = await startOwner<{ kubeconfig: string }>(script, ...wanted);
    const folder = dirname(told.kubeconfig);
    expect(processesOf(folder)).toHaveLength(hasControllerManager ? 3 : 2);
    kill('SIGKILL');
    expect(await becomesTrue(() => processesOf(folder).length === 0)).toBe(true);
    expect(await becomesTrue(() => !existsSync(folder))).toBe(true);
  });
});

/** Command lines that name the folder; the watchdog's is not one of them. */
function processesOf(folder: string): string[] {
  return execFileSync('ps', ['-e', '-ww', '-o', 'stat=', '-o', 'pid=', '-o', 'args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(folder) && !line.startsWith('Z') && !line.includes('watchdog.mjs'));
}

function serverPid({ logs }: ControlPlane): string | undefined {
  const [server] = processesOf(dirname(logs)).filter((line) => line.includes('kube-apiserver'));
  return server?.trim().split(/\s+/)[1];
}
