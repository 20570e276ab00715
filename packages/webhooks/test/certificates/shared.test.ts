import { generateKeyPairSync, type X509Certificate } from 'node:crypto';
import { inspect } from 'node:util';
import { type LocalCluster, localCluster } from '@kopf-ts/apiserver';
import type { AnyObject } from '@kopf-ts/core';
import { type ManualClock, manualClock } from '@kopf-ts/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type SharedCertificatesOptions,
  shared,
  sharedCertificates,
} from '../../src/certificates/sharing/shared-certificates.js';
import { certificatesOf, type Follower, follow, handshake, isTrusted, leafOf, warmUp } from './support.js';

const secret = { namespace: 'default', name: 'webhook-authorities' };
const REFERENCE = 'secret/default/webhook-authorities';

beforeAll(warmUp);

async function starting(start?: Date): Promise<{ clock: ManualClock; cluster: LocalCluster } & AsyncDisposable> {
  const clock = manualClock(start && { start });
  const cluster = await localCluster({ clock, listen: false });
  return { clock, cluster, [Symbol.asyncDispose]: () => cluster.stop() };
}

type Place = Awaited<ReturnType<typeof starting>>;

function replica({ clock, cluster }: Place, options: Partial<SharedCertificatesOptions> = {}): Follower {
  const source = shared({ hosts: ['service.default.svc'], secret, ...options }, () => 1);
  return follow(source, { clock, client: cluster.client });
}

type SecretObject = AnyObject & { readonly data?: Record<string, string>; readonly type?: string };
const stored = (cluster: LocalCluster): SecretObject => cluster.get(REFERENCE) as SecretObject;
const text = (data: string | undefined): string => Buffer.from(data ?? '', 'base64').toString();

/** By forge's own means, as it was done before. Valid now in real time, too: it is used in a handshake. */
async function rsaAuthority(now: Date): Promise<{ certificate: string; key: string }> {
  const { default: forge } = await import('node-forge');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const made = forge.pki.createCertificate();
  const own = forge.pki.privateKeyFromPem(privateKey.export({ type: 'pkcs1', format: 'pem' }).toString());
  made.publicKey = forge.pki.setRsaPublicKey(own.n, own.e);
  made.serialNumber = '0142';
  made.validity.notBefore = new Date(now.getTime() - 86_400_000);
  made.validity.notAfter = new Date(now.getTime() + 365 * 86_400_000);
  made.setSubject([{ name: 'commonName', value: 'kopf-ts webhooks 1234' }]);
  made.setIssuer(made.subject.attributes);
  made.setExtensions([
    { name: 'basicConstraints', critical: true, cA: true },
    { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
    { name: 'subjectKeyIdentifier' },
  ]);
  made.sign(own, forge.md.sha256.create());
  return { certificate: forge.pki.certificateToPem(made).replaceAll('\r\n', '\n'), key };
}

describe('shared certificates', { timeout: 60_000 }, () => {
  it('are made by an authority that is put into the secret', async () => {
    await using place = await starting();
    await using one = replica(place);
    await place.clock.settle();
    const object = stored(place.cluster);
    expect(object.type).toBe('Opaque');
    expect(object.metadata?.labels).toEqual({ 'app.kubernetes.io/managed-by': 'kopf-ts' });
    expect(text(object.data?.['ca.crt'])).toBe(one.current.authorities);
    expect(isTrusted(leafOf(one.current), one.announced, place.clock.utc())).toBe(true);
    expect(JSON.stringify(one.logger.lines)).not.toContain('PRIVATE KEY');
  });

  it('are issued by the same authority for all replicas, with keys of their own', async () => {
    await using place = await starting();
    await using one = replica(place);
    await place.clock.advance(5);
    await using two = replica(place);
    await place.clock.settle();
    expect(two.announced).toBe(one.announced);
    expect(two.current.secure.cert).not.toBe(one.current.secure.cert);
    expect(isTrusted(leafOf(two.current), one.announced, place.clock.utc())).toBe(true);
  });

  it('have one authority even if all replicas start at the same moment', async () => {
    await using place = await starting();
    const replicas = [replica(place), replica(place), replica(place)];
    await place.clock.settle();
    expect(new Set(replicas.map(({ announced }) => announced)).size).toBe(1);
    expect(certificatesOf(replicas[0]?.announced)).toHaveLength(1);
    for (const each of replicas) await each.stop();
  });

  it('survive the restart of all replicas', async () => {
    await using place = await starting();
    const before = replica(place);
    await place.clock.advance(5);
    await before.stop();
    await using after = replica(place);
    await place.clock.settle();
    expect(after.announced).toBe(before.announced);
  });

  it('go on with an authority of an RSA key, as earlier versions made them', async () => {
    await using place = await starting(new Date());
    const { certificate, key } = await rsaAuthority(place.clock.utc());
    const from = place.clock.utc().toISOString();
    const records = [{ certificate, privateKey: key, from, publishedFrom: from, usedFrom: from }];
    const data = { 'authorities.json': Buffer.from(JSON.stringify(records)).toString('base64') };
    await place.cluster.create({
      ...{ apiVersion: 'v1', kind: 'Secret', type: 'Opaque', data },
      metadata: { namespace: secret.namespace, name: secret.name },
    });
    await using one = replica(place);
    await place.clock.settle();
    expect(one.announced).toBe(certificate);
    const leaf = leafOf(one.current);
    expect(leaf.publicKey.asymmetricKeyType).toBe('ec');
    expect(isTrusted(leaf, certificate, place.clock.utc())).toBe(true);
    const secure = one.current.secure;
    expect(await handshake(secure, certificate, 'service.default.svc')).toBe('accepted');
  });

  it('begin with the older of two authorities: the cluster may have missed the newer one', async () => {
    await using place = await starting();
    const before = replica(place, { authorityValidity: 3600 });
    await place.clock.advance(3600 * 0.55);
    expect(JSON.parse(text(stored(place.cluster).data?.['authorities.json']))).toHaveLength(2);
    expect(certificatesOf(before.announced)).toHaveLength(1);
    await before.stop();
    await place.clock.advance(3600 * 0.3);

    await using after = replica(place, { authorityValidity: 3600 });
    await place.clock.settle();
    expect(certificatesOf(after.announced)).toHaveLength(2);
    expect(isTrusted(leafOf(after.current), before.announced, place.clock.utc())).toBe(true);
    await place.clock.advance(5.1);
    expect(isTrusted(leafOf(after.current), before.announced, place.clock.utc())).toBe(false);
    expect(isTrusted(leafOf(after.current), after.announced, place.clock.utc())).toBe(true);
  });

  it('begin anew if everything in the secret has expired', async () => {
    await using place = await starting();
    const before = replica(place, { authorityValidity: 60 });
    await place.clock.advance(5);
    await before.stop();
    await place.clock.advance(3600);
    await using after = replica(place, { authorityValidity: 60 });
    await place.clock.settle();
    expect(certificatesOf(after.announced)).toHaveLength(1);
    expect(after.announced).not.toBe(before.announced);
    expect(text(stored(place.cluster).data?.['ca.crt'])).toBe(after.announced);
  });

  it('are written to the secret only when there is something new', async () => {
    await using place = await starting();
    await using _one = replica(place);
    await place.clock.settle();
    const version = stored(place.cluster).metadata?.resourceVersion;
    await using _two = replica(place);
    await place.clock.advance(3600);
    expect(stored(place.cluster).metadata?.resourceVersion).toBe(version);
  });

  it('adopt an empty secret, and keep what others have put on it', async () => {
    await using place = await starting();
    const labels = { app: 'mine' };
    await place.cluster.create({ apiVersion: 'v1', kind: 'Secret', metadata: { ...secret, labels } });
    await using one = replica(place);
    await place.clock.settle();
    expect(text(stored(place.cluster).data?.['ca.crt'])).toBe(one.announced);
    expect(stored(place.cluster).metadata?.labels).toEqual(labels);
  });

  it('refuse a secret with something else in it, and leave it alone', async () => {
    await using place = await starting();
    const data = { password: 'aGVsbG8=' };
    await place.cluster.create({ apiVersion: 'v1', kind: 'Secret', metadata: secret, data });
    await using one = replica(place);
    expect(await one.outcome).toMatchObject({
      code: 'KOPF_SECRET_FOREIGN',
      message: expect.stringContaining('default/webhook-authorities is not for the authorities'),
    });
    expect(stored(place.cluster).data).toEqual(data);
  });

  it.each([
    ['not JSON', 'hello'],
    ['not a list', '{}'],
    ['no certificate in it', '[{}]'],
    ['garbage in it', '[{"certificate":"x","privateKey":"y"}]'],
  ])('refuse a damaged secret at the start: %s', async (_title, content) => {
    await using place = await starting();
    const data = { 'authorities.json': Buffer.from(content).toString('base64') };
    await place.cluster.create({ apiVersion: 'v1', kind: 'Secret', metadata: secret, data });
    await using one = replica(place);
    const error = await one.outcome;
    expect(error).toMatchObject({
      code: 'KOPF_AUTHORITIES_DAMAGED',
      message: expect.stringMatching(/damaged.*delete it/),
    });
    // There are private keys in it.
    expect(inspect(error, { depth: null })).not.toContain('hello');
  });

  it('restore a secret that is deleted or damaged while they are in use', async () => {
    await using place = await starting();
    await using one = replica(place);
    await using two = replica(place);
    await place.clock.settle();
    await place.cluster.delete(REFERENCE);
    await place.clock.advance(60);
    expect(text(stored(place.cluster).data?.['ca.crt'])).toBe(one.announced);

    await place.cluster.patch(REFERENCE, { data: { 'authorities.json': 'aGVsbG8=' } });
    await place.clock.advance(60);
    expect(text(stored(place.cluster).data?.['authorities.json'])).toContain('BEGIN CERTIFICATE');
    expect([one.materials.length, two.materials.length]).toEqual([1, 1]);
    expect([...one.logger.messages('warn'), ...two.logger.messages('warn')]).toEqual([
      expect.stringMatching(/putting them back/i),
      expect.stringMatching(/putting them back/i),
    ]);
  });

  it('agree again if a new replica has made another authority while the secret was deleted', async () => {
    await using place = await starting();
    await using one = replica(place);
    await place.clock.advance(30);
    await place.cluster.delete(REFERENCE);
    await using two = replica(place);
    await place.clock.settle();
    expect(two.announced).not.toBe(one.announced);
    await place.clock.advance(120);
    expect(two.announced).toBe(one.announced);
    expect(certificatesOf(one.announced)).toHaveLength(2);
    for (const each of [one, two]) expect(isTrusted(leafOf(each.current), one.announced, place.clock.utc())).toBe(true);
  });

  it('leave alone a secret that somebody has made instead of theirs, and go on', async () => {
    await using place = await starting();
    await using one = replica(place);
    await place.clock.settle();
    await place.cluster.delete(REFERENCE);
    const data = { password: 'aGVsbG8=' };
    await place.cluster.create({ apiVersion: 'v1', kind: 'Secret', metadata: secret, data });
    await place.clock.advance(600);
    expect(stored(place.cluster).data).toEqual(data);
    expect(one.logger.messages('warn')).toEqual([expect.stringContaining('keeps using the authorities it knows')]);
  });

  it.each([
    { method: 'GET', status: 403, message: /cannot be read: .*permissions to get, create and update/ },
    { method: 'POST', status: 403, message: /cannot be created: .*permissions to get, create and update/ },
    { method: 'GET', status: 500, message: /cannot be read: / },
  ])('are an error at the start if $method is answered with $status', async ({ method, status, message }) => {
    await using place = await starting();
    place.cluster.faults.add({ match: { method, path: /secrets/ }, answer: { status } });
    await using one = replica(place);
    expect(await one.outcome).toMatchObject({ message: expect.stringMatching(message) });
  });

  it('are an error at the start if there is no such namespace', async () => {
    await using place = await starting();
    await using one = replica(place, { secret: { namespace: 'nowhere', name: 'any' } });
    expect(await one.outcome).toMatchObject({
      message: expect.stringMatching(/nowhere\/any .* namespace must exist first/),
    });
  });

  it('go on, warn once and try again when the secret cannot be read', async () => {
    await using place = await starting();
    await using one = replica(place, { validity: 600 });
    await place.clock.settle();
    const fault = place.cluster.faults.add({ match: { path: /secrets/ }, answer: { status: 503 } });
    await place.clock.advance(900);
    expect(one.logger.messages('warn')).toEqual([expect.stringMatching(/cannot be read: .* keeps using/)]);
    // Certificates need the authority only, and that is known.
    expect(one.materials.map(({ time }) => time)).toEqual([0, 400, 800]);
    fault.remove();
    await place.clock.advance(120);
    expect(one.logger.find('in sync with the secret again')).toBeDefined();
  });

  it('go on, warn and try again when the next authority cannot be written', async () => {
    await using place = await starting();
    await using one = replica(place, { authorityValidity: 3600 });
    await place.clock.advance(60);
    const fault = place.cluster.faults.add({ match: { method: 'PUT' }, answer: { status: 403 } });
    await place.clock.advance(2700);
    expect(one.materials).toHaveLength(1);
    expect(one.logger.messages('warn')).toEqual([expect.stringMatching(/cannot be updated: .*permissions/)]);
    fault.remove();
    await place.clock.advance(3600 - 2760);
    expect(isTrusted(leafOf(one.current), one.announced, place.clock.utc())).toBe(true);
    expect(leafOf(one.current).checkIssued(certificatesOf(one.announced).at(-1) as X509Certificate)).toBe(true);
  });

  it('refuse mistakes at once', () => {
    expect(() => sharedCertificates({ hosts: [], secret })).toThrow(/needs a hostname/);
    expect(() => sharedCertificates({ hosts: ['a'], secret, authorityValidity: 0 })).toThrow(/"authorityValidity"/);
  });
});
