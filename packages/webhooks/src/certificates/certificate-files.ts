/** Certificates that others make and renew: cert-manager, an administrator, a mounted Secret. */
import { createHash, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { KopfError, type Seconds } from '@kopf-ts/core';
import { describeError, isCancellation } from '@kopf-ts/core/engine';
import type { TlsMaterial, TlsSource, TlsSurroundings } from './tls-source.js';

/**
 * Which files, and how often they are looked at.
 *
 * ```ts
 * const options: kopf.webhooks.CertificateFilesOptions = { certfile: '/tls/tls.crt', pkeyfile: '/tls/tls.key' };
 * ```
 */
export interface CertificateFilesOptions {
  /** PEM of the certificate, followed by those of intermediate authorities if there are any. */
  readonly certfile: string;
  /** PEM of its private key. */
  readonly pkeyfile: string;
  /** PEM of the authorities that callers are to trust. Default: the certificate itself. */
  readonly cafile?: string | undefined;
  /** The same, but the content and not the file; it is preferred to the file. */
  readonly cadata?: string | Buffer | undefined;
  /** Decrypts the private key. */
  readonly password?: string | undefined;
  /** How often to look whether the files have changed. Default: 60. */
  readonly checkInterval?: Seconds | undefined;
}

const DEFAULT_CHECK_INTERVAL: Seconds = 60;

const MISMATCH = 'KOPF_CERTIFICATE_MISMATCH';

/** How long it takes for the callers to learn of new authorities. */
const GRACE: Seconds = 5;

/**
 * The certificate of the files, and the next one when the content of the files changes. Files that cannot be read or
 * do not fit together are an error at the start only; later, the server goes on with what it has, and the files are
 * looked at again.
 *
 * If the authorities change too, the callers are told of the new ones in addition to the old ones first, and the new
 * certificate is used when they have had the time to learn. The old ones are forgotten at the next check.
 *
 * ```ts
 * const source = kopf.webhooks.certificateFiles({ certfile: '/tls/tls.crt', pkeyfile: '/tls/tls.key' });
 * ```
 */
export function certificateFiles(options: CertificateFilesOptions): TlsSource {
  const interval = options.checkInterval ?? DEFAULT_CHECK_INTERVAL;
  if (!(interval > 0)) {
    throw new KopfError(`Files cannot be checked every ${interval} seconds: the interval must be positive.`, {
      code: 'KOPF_BAD_INTERVAL',
    });
  }
  return {
    async *materials(at) {
      try {
        yield* followed(options, interval, at);
      } catch (error) {
        if (!isCancellation(error, at.signal)) throw error;
      }
    },
  };
}

async function* followed(
  options: CertificateFilesOptions,
  interval: Seconds,
  { clock, logger, signal }: TlsSurroundings,
): AsyncGenerator<TlsMaterial, void, void> {
  // Files are often replaced one by one: what does not fit together now, may do so when read once more.
  let current = await load(options).catch(() => load(options));
  warnOfExpiry(current, clock.utc(), options, logger);
  yield current.material;
  /** What was rejected: to tell of it only once. */
  let rejected = '';
  for (;;) {
    await clock.sleep(interval, { signal });
    let next: Loaded;
    try {
      next = await load(options);
    } catch (error) {
      const reason = describeError(error);
      // One of the files is there, and the other one is still to come: nothing to worry about, if it comes.
      const level = error instanceof KopfError && error.code === MISMATCH ? 'warn' : 'error';
      if (reason !== rejected) logger[level](`${reason} The server keeps using the previous certificate.`);
      rejected = reason;
      continue;
    }
    rejected = '';
    if (next.digest === current.digest) continue;
    logger.info('The files of the admission webhook certificate have changed. Using the new certificate.');
    warnOfExpiry(next, clock.utc(), options, logger);

    const [before, after] = [current, next].map(({ material }) => material.authorities ?? '') as [string, string];
    const isOverlapping = before !== after && clock.utc() < current.expires;
    if (isOverlapping) {
      const authorities = joined(after, before);
      yield { ...current.material, authorities };
      await clock.sleep(Math.min(GRACE, interval), { signal });
      yield { ...next.material, authorities };
      // Other replicas may see the files later than we do: up to then, callers trust both.
      await clock.sleep(interval, { signal });
    }
    yield next.material;
    current = next;
  }
}

interface Loaded {
  readonly material: TlsMaterial;
  /** Of the content of all the files. */
  readonly digest: string;
  readonly expires: Date;
}

async function load(options: CertificateFilesOptions): Promise<Loaded> {
  const { certfile, pkeyfile, cafile, cadata, password } = options;
  const [cert, key, ca] = await Promise.all([
    content('certificate', certfile),
    content('private key', pkeyfile),
    cafile === undefined ? undefined : content('authorities', cafile),
  ]);
  const secure = { cert, key, ...(password === undefined ? {} : { passphrase: password }) };
  try {
    // What the server does with them: so, what passes here, passes there.
    createSecureContext(secure);
  } catch (error) {
    throw new KopfError(
      `The certificate ${certfile} and the private key ${pkeyfile} cannot be used together: ${describeError(error)}.`,
      { code: MISMATCH, cause: error },
    );
  }
  const authorities = (cadata ?? ca ?? cert).toString();
  if (!authorities.includes('-----BEGIN ')) {
    throw new KopfError('The authorities of the admission webhook certificate are not in PEM.', {
      code: 'KOPF_CERTIFICATE_FILES',
    });
  }
  const hash = createHash('sha256');
  // With their lengths: so that nothing can move from one file to another unnoticed.
  for (const each of [cert, key, ca ?? '']) hash.update(`${each.length}:`).update(each);
  return {
    material: { secure, authorities },
    digest: hash.digest('hex'),
    expires: new Date(new X509Certificate(cert).validTo),
  };
}

async function content(title: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new KopfError(
      `The file ${path} with the ${title} of the admission webhook server cannot be read: ${describeError(error)}.`,
      { code: 'KOPF_CERTIFICATE_FILES', cause: error },
    );
  }
}

function joined(...texts: readonly string[]): string {
  return texts.map((text) => `${text.trimEnd()}\n`).join('');
}

function warnOfExpiry(
  { expires }: Loaded,
  now: Date,
  { certfile }: CertificateFilesOptions,
  logger: TlsSurroundings['logger'],
): void {
  if (now < expires) return;
  logger.warn(`The certificate ${certfile} has expired at ${expires.toISOString()}: callers will refuse it.`);
}
