/** A certificate authority of one cluster, which lives as long as the cluster does. */
import { generateKeyPair, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';

/** A private key and the certificate for it, in PEM. */
export interface KeyAndCertificate {
  readonly key: string;
  readonly cert: string;
}

export interface Subject {
  readonly commonName: string;
  /** In certificates of clients, Kubernetes takes organizations for groups. */
  readonly organizations?: readonly string[];
}

export interface Authority {
  /** The certificate that others should trust. */
  readonly cert: string;
  /** For a server that is reached by these names and addresses. */
  issueServer(subject: Subject, hosts: readonly string[]): Promise<KeyAndCertificate>;
  /** For a client. */
  issueClient(subject: Subject): Promise<KeyAndCertificate>;
}

const DAY = 24 * 60 * 60 * 1000;

/**
 * Makes an authority of its own. Keys are searched for by OpenSSL, off the main thread; node-forge, which has no rival
 * in making certificates on Node 20, is loaded only here, since most clusters speak plain HTTP.
 */
export async function createAuthority(name: string): Promise<Authority> {
  const [{ default: forge }, key] = await Promise.all([import('node-forge'), newKey()]);
  const issuer: Subject = { commonName: name };
  const sign = (ownKey: string, subject: Subject, extensions: object[]): string => {
    const certificate = forge.pki.createCertificate();
    const { n, e } = forge.pki.privateKeyFromPem(ownKey);
    certificate.publicKey = forge.pki.setRsaPublicKey(n, e);
    // Positive, and in the shortest form whatever follows: OpenSSL refuses needless zeros.
    certificate.serialNumber = `01${randomBytes(15).toString('hex')}`;
    // The other side of a handshake looks at the real time, whatever clock the cluster has.
    certificate.validity.notBefore = new Date(Date.now() - DAY);
    certificate.validity.notAfter = new Date(Date.now() + 365 * DAY);
    certificate.setSubject(attributesOf(subject));
    certificate.setIssuer(attributesOf(issuer));
    certificate.setExtensions(extensions);
    certificate.sign(forge.pki.privateKeyFromPem(key), forge.md.sha256.create());
    return forge.pki.certificateToPem(certificate);
  };
  const issue = async (subject: Subject, extensions: object[]): Promise<KeyAndCertificate> => {
    const ownKey = await newKey();
    return { key: ownKey, cert: sign(ownKey, subject, extensions) };
  };
  return {
    cert: sign(key, issuer, [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ]),
    issueServer: (subject, hosts) =>
      issue(subject, [
        { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, critical: true },
        { name: 'extKeyUsage', serverAuth: true },
        { name: 'subjectAltName', altNames: hosts.map(altNameOf) },
      ]),
    issueClient: (subject) =>
      issue(subject, [
        { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, critical: true },
        { name: 'extKeyUsage', clientAuth: true },
      ]),
  };
}

const attributesOf = ({ commonName, organizations = [] }: Subject): { name: string; value: string }[] => [
  ...organizations.map((value) => ({ name: 'organizationName', value })),
  { name: 'commonName', value: commonName },
];

const altNameOf = (host: string): object => (isIP(host) === 0 ? { type: 2, value: host } : { type: 7, ip: host });

async function newKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  return privateKey;
}
