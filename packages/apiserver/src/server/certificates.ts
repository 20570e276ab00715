/** A certificate authority of one cluster, which lives as long as the cluster does. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { isIP } from 'node:net';
import * as der from './der.js';

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
  /** The key of the authority itself, for those who make the same one again. */
  exportKey(): string;
  /** For a server that is reached by these names and addresses. */
  issueServer(subject: Subject, hosts: readonly string[]): KeyAndCertificate;
  /** For a client. */
  issueClient(subject: Subject): KeyAndCertificate;
}

const DAY = 24 * 60 * 60 * 1000;
/** Longer than anybody keeps the data of a cluster for trying things out. */
const YEARS = 10;

const OIDS = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
} as const;

/** The numbers of their bits. */
const USAGES = { digitalSignature: 0, keyCertSign: 5, cRLSign: 6 } as const;

/**
 * Makes an authority of its own. All keys are on the curve P-256: they are made in a fraction of a millisecond, where a
 * search for RSA keys takes up to a second on a busy machine. With the key and the certificate of an earlier one, it is
 * that one again.
 */
export function createAuthority(name: string, earlier?: KeyAndCertificate): Authority {
  const issuer: Subject = { commonName: name };
  const { publicKey, privateKey } = earlier === undefined ? newKeys() : keysOf(earlier.key);
  const certify = (ownKey: KeyObject, subject: Subject, extensions: readonly Buffer[]): string => {
    const algorithm = der.sequence(der.oid(OIDS.ecdsaWithSha256));
    // The other side of a handshake looks at the real time, whatever clock the cluster has.
    const validity = [Date.now() - DAY, Date.now() + YEARS * 365 * DAY].map((time) => der.utcTime(new Date(time)));
    const content = der.sequence(
      der.tagged(0, der.integer(Buffer.of(2))),
      // Positive, and in the shortest form whatever follows: OpenSSL refuses needless zeros.
      der.integer(Buffer.concat([Buffer.of(1), randomBytes(15)])),
      algorithm,
      nameOf(issuer),
      der.sequence(...validity),
      nameOf(subject),
      ownKey.export({ type: 'spki', format: 'der' }),
      der.tagged(
        3,
        der.sequence(
          ...extensions,
          extension(OIDS.subjectKeyIdentifier, der.octets(identifierOf(ownKey))),
          extension(OIDS.authorityKeyIdentifier, der.sequence(der.taggedBytes(0, identifierOf(publicKey)))),
        ),
      ),
    );
    return pemOf(der.sequence(content, algorithm, der.bits(sign('sha256', content, privateKey))));
  };
  const issue = (subject: Subject, purpose: string, names: readonly Buffer[]): KeyAndCertificate => {
    const own = newKeys();
    const cert = certify(own.publicKey, subject, [
      extension(OIDS.basicConstraints, der.sequence(), true),
      extension(OIDS.keyUsage, der.flags(USAGES.digitalSignature), true),
      extension(OIDS.extKeyUsage, der.sequence(der.oid(purpose))),
      ...names,
    ]);
    return { key: pemOfKey(own.privateKey), cert };
  };
  return {
    cert:
      earlier?.cert ??
      certify(publicKey, issuer, [
        extension(OIDS.basicConstraints, der.sequence(der.yes(), der.integer(Buffer.of(0))), true),
        extension(OIDS.keyUsage, der.flags(USAGES.keyCertSign, USAGES.cRLSign), true),
      ]),
    exportKey: () => pemOfKey(privateKey),
    issueServer: (subject, hosts) =>
      issue(subject, OIDS.serverAuth, [extension(OIDS.subjectAltName, der.sequence(...hosts.map(altNameOf)))]),
    issueClient: (subject) => issue(subject, OIDS.clientAuth, []),
  };
}

const newKeys = (): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' });

const keysOf = (pem: string): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } => ({
  privateKey: createPrivateKey(pem),
  publicKey: createPublicKey(pem),
});

const pemOfKey = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

const nameOf = ({ commonName, organizations = [] }: Subject): Buffer =>
  der.sequence(
    ...organizations.map((value) => attribute(OIDS.organization, value)),
    attribute(OIDS.commonName, commonName),
  );

const attribute = (type: string, value: string): Buffer => der.set(der.sequence(der.oid(type), der.text(value)));

const extension = (type: string, value: Buffer, isCritical = false): Buffer =>
  der.sequence(der.oid(type), ...(isCritical ? [der.yes()] : []), der.octets(value));

const DNS_NAME = 2;
const IP_ADDRESS = 7;

const altNameOf = (host: string): Buffer =>
  isIP(host) === 0
    ? der.taggedBytes(DNS_NAME, Buffer.from(host, 'latin1'))
    : der.taggedBytes(IP_ADDRESS, der.addressBytes(host));

/** The bytes of a point on P-256: they end the description of the key. */
const POINT_LENGTH = 65;

/** As RFC 5280 advises: SHA-1 of the key itself. It is a name, and protects nothing. */
const identifierOf = (key: KeyObject): Buffer =>
  createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }).subarray(-POINT_LENGTH))
    .digest();

function pemOf(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
