/** Making certificates: node-forge puts them together, OpenSSL signs them. */
import { type KeyObject, randomBytes } from 'node:crypto';
import type { asn1, pki } from 'node-forge';
import type { CertificateNames } from './certificate-names.js';
import { type Forge, loadForge } from './forge.js';
import { type Workshop, workshop } from './keys.js';

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
  /** May it sign others? */
  readonly isAuthority: boolean;
  readonly usages: readonly KeyUsage[];
  readonly extendedUsages?: readonly ExtendedKeyUsage[];
  readonly names?: CertificateNames;
}

type KeyUsage = 'digitalSignature' | 'keyEncipherment' | 'keyCertSign' | 'cRLSign';
type ExtendedKeyUsage = 'serverAuth' | 'clientAuth';

/** Signs a certificate; gives it in PEM. */
export async function signCertificate(request: CertificateRequest, { sign }: Workshop = workshop): Promise<string> {
  const forge = await loadForge();
  const certificate = drafted(forge, request);
  // By forge's own means it would be the same, but with the event loop blocked for tens of milliseconds.
  const algorithm = forge.pki.oids.sha256WithRSAEncryption as string;
  certificate.signatureOid = algorithm;
  certificate.siginfo.algorithmOid = algorithm;
  const content = (forge.pki as unknown as UntypedPki).getTBSCertificate(certificate);
  const signature = await sign(Buffer.from(forge.asn1.toDer(content).getBytes(), 'latin1'), request.issuer.privateKey);
  certificate.tbsCertificate = content;
  certificate.signature = signature.toString('latin1');
  return forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n');
}

/** Absent from the types of node-forge. */
interface UntypedPki {
  getTBSCertificate(certificate: pki.Certificate): asn1.Asn1;
}

function drafted(forge: Forge, request: CertificateRequest): pki.Certificate {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(
    request.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  );
  // Positive, and in the shortest form whatever follows: OpenSSL refuses needless zeros.
  certificate.serialNumber = `01${randomBytes(15).toString('hex')}`;
  certificate.validity.notBefore = request.notBefore;
  certificate.validity.notAfter = request.notAfter;
  const valueTagClass = forge.asn1.Type.UTF8 as unknown as asn1.Class;
  certificate.setSubject([{ name: 'commonName', value: request.commonName, valueTagClass }]);
  const issuer =
    request.issuer.certificate === undefined ? certificate : forge.pki.certificateFromPem(request.issuer.certificate);
  certificate.setIssuer(issuer.subject.attributes);
  certificate.setExtensions(extensionsOf(request, issuer));
  return certificate;
}

function extensionsOf(request: CertificateRequest, issuer: pki.Certificate): object[] {
  const { isAuthority, usages, extendedUsages = [], names } = request;
  const flags = (all: readonly string[]): object => Object.fromEntries(all.map((name) => [name, true]));
  return [
    { name: 'basicConstraints', critical: true, ...(isAuthority ? { cA: true } : {}) },
    { name: 'keyUsage', critical: true, ...flags(usages) },
    ...(extendedUsages.length === 0 ? [] : [{ name: 'extKeyUsage', ...flags(extendedUsages) }]),
    ...(names === undefined ? [] : [{ name: 'subjectAltName', altNames: altNamesOf(names) }]),
    { name: 'subjectKeyIdentifier' },
    // Tells apart the authorities of the same name.
    { name: 'authorityKeyIdentifier', keyIdentifier: issuer.generateSubjectKeyIdentifier().getBytes() },
  ];
}

const DNS_NAME = 2;
const IP_ADDRESS = 7;

function altNamesOf({ dns, ips }: CertificateNames): object[] {
  return [...dns.map((value) => ({ type: DNS_NAME, value })), ...ips.map((ip) => ({ type: IP_ADDRESS, ip }))];
}
