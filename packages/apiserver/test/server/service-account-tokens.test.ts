import { createPublicKey, verify } from 'node:crypto';
import { manualClock } from '@kopf-ts/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalCluster, localCluster } from '../../src/index.js';

const clock = manualClock();
let cluster: LocalCluster;
beforeEach(async () => {
  cluster = await localCluster({ clock });
  await cluster.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'default' } });
});
afterEach(async () => {
  await cluster.stop();
});

const path = '/api/v1/namespaces/default/serviceaccounts/robot/token';
async function tokenWith(spec: object = {}): Promise<string> {
  const { status } = await cluster.client.request<{ status: { token: string } }>({
    method: 'POST',
    path,
    body: { spec },
  });
  return status.token;
}
async function whoComesWith(token: string): Promise<{ status: number; body: { status?: { userInfo?: object } } }> {
  const answer = await fetch(`${cluster.url}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{}',
  });
  return { status: answer.status, body: (await answer.json()) as { status?: { userInfo?: object } } };
}

describe('tokens of service accounts', () => {
  it('let the account in', async () => {
    const { uid } = cluster.get('serviceaccounts/default/robot')?.metadata ?? {};
    const { body } = await whoComesWith(await tokenWith());
    expect(body.status?.userInfo).toMatchObject({
      username: 'system:serviceaccount:default:robot',
      uid,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    });
  });

  it('expire by the clock of the cluster', async () => {
    const token = await tokenWith({ expirationSeconds: 600 });
    await clock.advance(600);
    expect((await whoComesWith(token)).status).toBe(201);
    await clock.advance(1);
    expect((await whoComesWith(token)).status).toBe(401);
    expect(cluster.security.reviewToken(token, []).error).toBe(
      '[invalid bearer token, service account token has expired]',
    );
  });

  it('end with the account, and are not of the next one with its name', async () => {
    const token = await tokenWith();
    await cluster.delete('serviceaccounts/default/robot');
    expect((await whoComesWith(token)).status).toBe(401);
    await cluster.create({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'robot', namespace: 'default' },
    });
    expect((await whoComesWith(token)).status).toBe(401);
  });

  it('end with the object that they are bound to', async () => {
    await cluster.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'one', namespace: 'default' } });
    const token = await tokenWith({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'one' } });
    expect((await whoComesWith(token)).status).toBe(201);
    await cluster.delete('secrets/default/one');
    expect((await whoComesWith(token)).status).toBe(401);
  });

  it('for others are of no use here', async () => {
    const token = await tokenWith({ audiences: ['vault'] });
    expect((await whoComesWith(token)).status).toBe(401);
    expect(cluster.security.reviewToken(token, ['vault', 'bank']).audiences).toEqual(['vault']);
  });

  it('are signed by a key that everybody can get, and by no other', async () => {
    const token = await tokenWith();
    const answer = await fetch(`${cluster.url}/openid/v1/jwks`, {
      headers: { authorization: `Bearer ${cluster.token}` },
    });
    const { keys } = (await answer.json()) as { keys: [{ kid: string }] };
    const [header = '', payload = '', signature = ''] = token.split('.');
    const { kid, alg } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string; alg: string };
    expect([kid, alg]).toEqual([keys[0].kid, 'ES256']);
    const key = createPublicKey({ key: keys[0] as never, format: 'jwk' });
    const data = Buffer.from(`${header}.${payload}`);
    const isSigned = (text: string): boolean =>
      verify('sha256', data, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(text, 'base64url'));
    expect(isSigned(signature)).toBe(true);
    const forged = `${header}.${payload}.${Buffer.alloc(64, 1).toString('base64url')}`;
    expect((await whoComesWith(forged)).status).toBe(401);
  });

  it.each([
    'a',
    'a.b.c',
    '..',
    `${Buffer.from('{}').toString('base64url')}.e30.e30`,
    `e30.${Buffer.from('[]').toString('base64url')}.x`,
  ])('that are none are refused: %s', (token) => {
    expect(cluster.security.reviewToken(token, []).error).toBe('invalid bearer token');
  });
});
