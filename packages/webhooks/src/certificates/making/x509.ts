/**
 * Making certificates: node-forge writes the ASN.1, `node:crypto` signs it. forge's own certificates know RSA keys only,
 * and a search for RSA keys takes up to a second on a busy machine; keys on the curve P-256 take a fraction of a millisecond.
 */
import { createHash, createPublicKey, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';
import type { asn1 } from 'node-forge';
import type { CertificateNames } from './certificate-names.js';
import { type Forge, loadForge } from './forge.js';

/** Who signs. Without the certificate, it is the subject itself. */
interface Issuer {
  readonly certificate?: string;
  readonly privateKey: KeyObject;
}

export interface CertificateRequest {
  readonly commonName: string;
  readonly publicKey: KeyObject;
  readonly issuer: Issuer;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** An authority may sign certificates of servers, but no other authorities. */
  readonly isAuthority: boolean;
  readonly usages: readonly KeyUsage[];
  readonly extendedUsages?: readonly ExtendedKeyUsage[];
  readonly names?: CertificateNames;
}

type KeyUsage = keyof typeof KEY_USAGES;
type ExtendedKeyUsage = keyof typeof EXTENDED_KEY_USAGES;

/** The numbers of their bits. */
const KEY_USAGES = { digitalSignature: 0, keyCertSign: 5, cRLSign: 6 } as const;
const EXTENDED_KEY_USAGES = { serverAuth: '1.3.6.1.5.5.7.3.1', clientAuth: '1.3.6.1.5.5.7.3.2' } as const;

/** Secrets of earlier versions have authorities with RSA keys: what they sign is signed their way. */
const SIGNATURES: Readonly<Record<string, { readonly oid: string; readonly hasParameters: boolean }>> = {
  ec: { oid: '1.2.840.10045.4.3.2', hasParameters: false },
  rsa: { oid: '1.2.840.113549.1.1.11', hasParameters: true },
};

const OIDS = {
  commonName: '2.5.4.3',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extKeyUsage: '2.5.29.37',
} as const;

/** Signs a certificate; gives it in PEM. */
export async function signCertificate(request: CertificateRequest): Promise<string> {
  const forge = await loadForge();
  const write = writer(forge);
  const { privateKey } = request.issuer;
  const signature = SIGNATURES[privateKey.asymmetricKeyType ?? ''];
  if (signature === undefined)
    throw new TypeError(`Keys of the type ${privateKey.asymmetricKeyType} cannot sign here.`);
  const algorithm = write.sequence(write.oid(signature.oid), ...(signature.hasParameters ? [write.nothing()] : []));
  const content = contentOf(forge, write, request, algorithm);
  const signed = sign('sha256', bytesOf(forge, content), privateKey);
  return pemOf(bytesOf(forge, write.sequence(content, algorithm, write.bits(signed))));
}

/** What is signed: the `TBSCertificate` of RFC 5280. */
function contentOf(forge: Forge, write: Writer, request: CertificateRequest, algorithm: asn1.Asn1): asn1.Asn1 {
  const { commonName, publicKey, issuer, notBefore, notAfter } = request;
  const name = write.sequence(write.set(write.sequence(write.oid(OIDS.commonName), write.text(commonName))));
  const version = 2;
  return write.sequence(
    write.tagged(0, write.integer(version)),
    // Positive, and in the shortest form whatever follows: OpenSSL refuses needless zeros.
    write.integer(Buffer.concat([Buffer.of(1), randomBytes(15)])),
    algorithm,
    issuer.certificate === undefined ? name : subjectOf(forge, issuer.certificate),
    write.sequence(write.time(notBefore), write.time(notAfter)),
    name,
    parsed(forge, publicKey.export({ type: 'spki', format: 'der' })),
    write.tagged(3, write.sequence(...extensionsOf(forge, write, request))),
  );
}

function extensionsOf(forge: Forge, write: Writer, request: CertificateRequest): asn1.Asn1[] {
  const { isAuthority, usages, extendedUsages = [], names, publicKey, issuer } = request;
  const extension = (oid: string, value: asn1.Asn1, isCritical = false): asn1.Asn1 =>
    write.sequence(write.oid(oid), ...(isCritical ? [write.yes()] : []), write.octets(bytesOf(forge, value)));
  const pathLength = 0;
  const constraints = isAuthority ? [write.yes(), write.integer(pathLength)] : [];
  const issuerKey = issuer.certificate === undefined ? publicKey : createPublicKey(issuer.privateKey);
  const extended = extendedUsages.map((usage) => write.oid(EXTENDED_KEY_USAGES[usage]));
  return [
    extension(OIDS.basicConstraints, write.sequence(...constraints), true),
    extension(OIDS.keyUsage, write.flags(usages.map((usage) => KEY_USAGES[usage])), true),
    ...(extended.length === 0 ? [] : [extension(OIDS.extKeyUsage, write.sequence(...extended))]),
    ...(names === undefined ? [] : [extension(OIDS.subjectAltName, altNamesOf(forge, write, names))]),
    extension(OIDS.subjectKeyIdentifier, write.octets(keyIdentifier(forge, publicKey))),
    // Tells apart the authorities of the same name.
    extension(OIDS.authorityKeyIdentifier, write.sequence(write.taggedBytes(0, keyIdentifier(forge, issuerKey)))),
  ];
}

const DNS_NAME = 2;
const IP_ADDRESS = 7;

function altNamesOf(forge: Forge, write: Writer, { dns, ips }: CertificateNames): asn1.Asn1 {
  return write.sequence(
    ...dns.map((name) => write.taggedBytes(DNS_NAME, Buffer.from(name, 'latin1'))),
    ...ips.map((ip) =>
      write.taggedBytes(IP_ADDRESS, Buffer.from((forge.util as UntypedUtil).bytesFromIP(ip), 'latin1')),
    ),
  );
}

/** Absent from the types of node-forge. */
type UntypedUtil = Forge['util'] & { bytesFromIP(ip: string): string };

/** As RFC 5280 advises: SHA-1 of the key itself. It is a name, and protects nothing. */
function keyIdentifier(forge: Forge, key: KeyObject): Buffer {
  const [, bits] = parsed(forge, key.export({ type: 'spki', format: 'der' })).value as asn1.Asn1[];
  // The first byte tells how many bits of the last one are unused: none are.
  return createHash('sha1').update(String(bits?.value).slice(1), 'latin1').digest();
}

/** The name of the issuer is repeated exactly as it has it, byte by byte. */
function subjectOf(forge: Forge, certificate: string): asn1.Asn1 {
  const [content] = parsed(forge, new X509Certificate(certificate).raw).value as [asn1.Asn1];
  const [, , , , , subject] = content.value as asn1.Asn1[];
  return subject as asn1.Asn1;
}

function parsed(forge: Forge, der: Buffer): asn1.Asn1 {
  return forge.asn1.fromDer(der.toString('latin1'), { decodeBitStrings: false } as unknown as boolean);
}

function bytesOf(forge: Forge, value: asn1.Asn1): Buffer {
  return Buffer.from(forge.asn1.toDer(value).getBytes(), 'latin1');
}

function pemOf(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

type Writer = ReturnType<typeof writer>;

/** The few kinds of ASN.1 values that certificates are made of. */
function writer({ asn1, util }: Forge) {
  const { Class, Type } = asn1;
  const plain = (type: asn1.Type, isConstructed: boolean, value: asn1.Asn1[] | string): asn1.Asn1 =>
    asn1.create(Class.UNIVERSAL, type, isConstructed, value);
  const own = (tag: number, isConstructed: boolean, value: asn1.Asn1[] | string): asn1.Asn1 =>
    asn1.create(Class.CONTEXT_SPECIFIC, tag as asn1.Type, isConstructed, value);
  return {
    sequence: (...values: asn1.Asn1[]) => plain(Type.SEQUENCE, true, values),
    set: (...values: asn1.Asn1[]) => plain(Type.SET, true, values),
    oid: (dotted: string) => plain(Type.OID, false, asn1.oidToDer(dotted).getBytes()),
    integer: (value: number | Buffer) =>
      plain(Type.INTEGER, false, Buffer.from(typeof value === 'number' ? [value] : value).toString('latin1')),
    text: (value: string) => plain(Type.UTF8, false, util.encodeUtf8(value)),
    octets: (bytes: Buffer) => plain(Type.OCTETSTRING, false, bytes.toString('latin1')),
    bits: (bytes: Buffer) => plain(Type.BITSTRING, false, `\0${bytes.toString('latin1')}`),
    /** Up to eight named bits; those at the end that are not set are left out, as DER wants it. */
    flags: (places: readonly number[]) => {
      const byte = places.reduce((sum, place) => sum | (0x80 >> place), 0);
      return plain(Type.BITSTRING, false, String.fromCharCode(7 - Math.max(...places), byte));
    },
    yes: () => plain(Type.BOOLEAN, false, '\xff'),
    nothing: () => plain(Type.NULL, false, ''),
    /** Years of two digits end with 2049. */
    time: (date: Date) =>
      date.getUTCFullYear() < 2050
        ? plain(Type.UTCTIME, false, asn1.dateToUtcTime(date))
        : plain(Type.GENERALIZEDTIME, false, asn1.dateToGeneralizedTime(date)),
    tagged: (tag: number, value: asn1.Asn1) => own(tag, true, [value]),
    taggedBytes: (tag: number, bytes: Buffer) => own(tag, false, bytes.toString('latin1')),
  };
}
