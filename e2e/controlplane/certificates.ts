import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import forge from 'node-forge';

/** A private key and, where there is one, the certificate for it; both in PEM. */
interface KeyPair {
  readonly key: string;
  readonly cert: string;
}

export interface Certificates {
  readonly ca: KeyPair;
  readonly server: KeyPair;
  readonly admin: KeyPair;
  readonly controllerManager: KeyPair;
  /** Signs the tokens of service accounts; nobody needs a certificate for that. */
  readonly serviceAccountKey: string;
}

interface Subject {
  readonly commonName: string;
  /** In a client certificate, Kubernetes takes the organization for a group. */
  readonly organization?: string;
}

/** Everything that a control plane on the loopback interface needs, from its own authority, for one day. */
export async function makeCertificates(): Promise<Certificates> {
  const keys = await Promise.all([newKey(), newKey(), newKey(), newKey(), newKey()]);
  const [caKey, serverKey, adminKey, managerKey, serviceAccountKey] = keys;
  const authority = { commonName: 'kopf-ts control plane' };
  const issue = (key: string, subject: Subject, extensions: object[]): KeyPair => ({
    key,
    cert: sign({ key, subject, issuer: authority, signingKey: caKey, extensions }),
  });
  return {
    ca: issue(caKey, authority, [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ]),
    server: issue(serverKey, { commonName: 'kube-apiserver' }, serverExtensions()),
    admin: issue(adminKey, { commonName: 'admin', organization: 'system:masters' }, clientExtensions()),
    controllerManager: issue(managerKey, { commonName: 'system:kube-controller-manager' }, clientExtensions()),
    serviceAccountKey,
  };
}

/** By the system's own library and off the main thread: node-forge would take seconds for each. */
async function newKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  return privateKey;
}

function serverExtensions(): object[] {
  const dns = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
  const altNames = [...dns.map((value) => ({ type: 2, value })), { type: 7, ip: '127.0.0.1' }, { type: 7, ip: '::1' }];
  return [
    { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, critical: true },
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectAltName', altNames },
  ];
}

function clientExtensions(): object[] {
  return [
    { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, critical: true },
    { name: 'extKeyUsage', clientAuth: true },
  ];
}

interface SigningRequest {
  readonly key: string;
  readonly subject: Subject;
  readonly issuer: Subject;
  readonly signingKey: string;
  readonly extensions: object[];
}

function sign({ key, subject, issuer, signingKey, extensions }: SigningRequest): string {
  const { n, e } = forge.pki.privateKeyFromPem(key);
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.setRsaPublicKey(n, e);
  // Positive, and in the shortest form whatever follows: OpenSSL refuses needless zeros.
  certificate.serialNumber = `01${randomBytes(15).toString('hex')}`;
  const now = Date.now();
  // From an hour ago: clocks of containers and their hosts may disagree a little.
  certificate.validity.notBefore = new Date(now - 3_600_000);
  certificate.validity.notAfter = new Date(now + 86_400_000);
  certificate.setSubject(attributesOf(subject));
  certificate.setIssuer(attributesOf(issuer));
  certificate.setExtensions(extensions);
  certificate.sign(forge.pki.privateKeyFromPem(signingKey), forge.md.sha256.create());
  return forge.pki.certificateToPem(certificate);
}

function attributesOf({ commonName, organization }: Subject): forge.pki.CertificateField[] {
  const name = { name: 'commonName', value: commonName };
  return organization === undefined ? [name] : [{ name: 'organizationName', value: organization }, name];
}
