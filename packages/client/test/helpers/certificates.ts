import { generateKeyPairSync } from 'node:crypto';
import forge from 'node-forge';

interface Identity {
  readonly cert: string;
  readonly key: string;
}

export interface Authority extends Identity {
  issue(name: string, alternatives?: readonly ({ dns: string } | { ip: string })[]): Identity;
}

/** A certificate authority for the length of a test run. */
export function authority(name = 'test-ca'): Authority {
  const keys = newKeys();
  // Making keys takes most of the time; whose certificates are for the same one is of no interest here.
  const leafKeys = newKeys();
  const root = newCertificate(name, keys.publicKey);
  root.setIssuer(root.subject.attributes);
  root.setExtensions([{ name: 'basicConstraints', cA: true, critical: true }]);
  root.sign(keys.privateKey, forge.md.sha256.create());
  return {
    cert: forge.pki.certificateToPem(root),
    key: keys.pem,
    issue(subject, alternatives = []) {
      const leaf = newCertificate(subject, leafKeys.publicKey);
      leaf.setIssuer(root.subject.attributes);
      const altNames = alternatives.map((alternative) =>
        'dns' in alternative ? { type: 2, value: alternative.dns } : { type: 7, ip: alternative.ip },
      );
      leaf.setExtensions([
        { name: 'basicConstraints', cA: false },
        ...(altNames.length === 0 ? [] : [{ name: 'subjectAltName', altNames }]),
      ]);
      leaf.sign(keys.privateKey, forge.md.sha256.create());
      return { cert: forge.pki.certificateToPem(leaf), key: leafKeys.pem };
    },
  };
}

function newCertificate(name: string, publicKey: forge.pki.PublicKey): forge.pki.Certificate {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = publicKey;
  certificate.serialNumber = `01${forge.util.bytesToHex(forge.random.getBytesSync(8))}`;
  certificate.validity.notBefore = new Date('2020-01-01T00:00:00Z');
  certificate.validity.notAfter = new Date('2049-12-31T00:00:00Z');
  certificate.setSubject([{ name: 'commonName', value: name }]);
  return certificate;
}

function newKeys() {
  // Node's own generator is much faster than that in JavaScript.
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const parsed = forge.pki.privateKeyFromPem(privateKey);
  return { privateKey: parsed, publicKey: forge.pki.setRsaPublicKey(parsed.n, parsed.e), pem: privateKey };
}
