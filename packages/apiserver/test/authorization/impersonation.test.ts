import { manualClock } from '@kopf-ts/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalCluster, type LocalClusterOptions, localCluster } from '../../src/index.js';

let cluster: LocalCluster;
const start = async (options: LocalClusterOptions = {}): Promise<void> => {
  cluster = await localCluster({ clock: manualClock(), controllers: false, ...options });
};
afterEach(async () => {
  await cluster.stop();
});

interface Outcome {
  readonly status: number;
  readonly body: { readonly message?: string; readonly status?: { readonly userInfo?: object } };
}

async function whoAmI(headers: readonly (readonly [string, string])[], token = cluster.token): Promise<Outcome> {
  const all = new Headers([['authorization', `Bearer ${token}`], ['content-type', 'application/json'], ...headers] as [
    string,
    string,
  ][]);
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const answer = await fetch(`${cluster.url}${path}`, { method: 'POST', headers: all, body: '{}' });
  return { status: answer.status, body: (await answer.json()) as Outcome['body'] };
}

describe('where everything is allowed', () => {
  beforeEach(() => start());

  it('everybody may become anybody', async () => {
    const { body } = await whoAmI([
      ['Impersonate-User', 'joe'],
      ['Impersonate-Uid', '7'],
      ['Impersonate-Extra-Acme.com%2FProject', 'x'],
    ]);
    expect(body.status?.userInfo).toEqual({
      username: 'joe',
      uid: '7',
      groups: ['system:authenticated'],
      extra: { 'acme.com/project': ['x'] },
    });
  });

  it('accounts have their groups', async () => {
    const { body } = await whoAmI([['Impersonate-User', 'system:serviceaccount:shop:robot']]);
    expect(body.status?.userInfo).toMatchObject({
      groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'],
    });
  });

  it('groups without a user are nobody', async () => {
    const { status, body } = await whoAmI([['Impersonate-Group', 'devs']]);
    expect(status).toBe(400);
    expect(body.message).toContain('without impersonating a user name');
  });

  it('strangers become nobody', async () => {
    expect((await whoAmI([['Impersonate-User', 'joe']], 'wrong')).status).toBe(401);
    const answer = await fetch(`${cluster.url}/version`, { headers: { 'Impersonate-User': 'joe' } });
    expect(answer.status).toBe(403);
  });
});

describe('where roles are enforced', () => {
  beforeEach(() => start({ authorize: 'rbac' }));

  it('one needs the right to become somebody', async () => {
    const token = cluster.security.addUser({ username: 'jim' });
    const headers = [['Impersonate-User', 'joe']] as const;
    expect((await whoAmI(headers, token)).body.message).toContain('User "jim" cannot impersonate-on:user-info:create');
    const RBAC = 'rbac.authorization.k8s.io';
    await cluster.apply([
      {
        apiVersion: `${RBAC}/v1`,
        kind: 'ClusterRole',
        metadata: { name: 'actors' },
        rules: [{ apiGroups: [''], resources: ['users'], verbs: ['impersonate'], resourceNames: ['joe'] }],
      },
      {
        apiVersion: `${RBAC}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name: 'actors' },
        subjects: [{ kind: 'User', name: 'jim' }],
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'actors' },
      },
    ]);
    expect((await whoAmI(headers, token)).status).toBe(201);
    expect((await whoAmI([...headers, ['Impersonate-Group', 'system:masters']], token)).body.message).toContain(
      'groups "system:masters" is forbidden: User "jim" cannot impersonate resource "groups"',
    );
  });

  it('strangers are told what they may not do', async () => {
    const answer = await fetch(`${cluster.url}/api/v1/pods`);
    expect(answer.status).toBe(403);
    expect(((await answer.json()) as { message: string }).message).toContain('User "system:anonymous" cannot list');
    expect((await fetch(`${cluster.url}/livez`)).status).toBe(200);
  });
});
