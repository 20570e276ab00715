/** From the options of a server to what it speaks TLS with, now and later. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SecureContext } from 'node:tls';
import type { Seconds } from '@kopf-ts/core';
import { describeError, isCancellation } from '@kopf-ts/core/engine';
import { certificateFiles } from '../certificates/certificate-files.js';
import { selfSignedCertificates } from '../certificates/self-signed-certificates.js';
import { sharedCertificates } from '../certificates/sharing/shared-certificates.js';
import type { TlsSource, TlsSurroundings } from '../certificates/tls-source.js';
import type { Credentials, Verification } from './http/listener.js';
import type { CertificateOptions, VerificationOptions } from './server-options.js';

/** What a server uses as of now. */
export interface Material {
  /** Plain HTTP if absent. */
  readonly credentials: Credentials | undefined;
  /** PEM of all the authorities that callers are to trust. */
  readonly authorities: string | undefined;
}

export type MaterialSource = (at: TlsSurroundings) => AsyncIterable<Material>;

const FILE_CHECK_INTERVAL: Seconds = 60;

/** Without TLS: a proxy in front of us may speak it, with an authority of its own. */
export function plainMaterials(options: CertificateOptions): MaterialSource {
  return (at) => givenAuthorities(options, undefined, at);
}

/** With TLS, for a server of these names. */
export function tlsMaterials(options: CertificateOptions, hosts: readonly string[]): MaterialSource {
  const { context } = options;
  if (context !== undefined) {
    const credentials: Credentials = 'context' in context ? { ready: context as SecureContext } : context;
    return (at) => givenAuthorities(options, credentials, at);
  }
  const source = sourceOf(options, hosts);
  return async function* materials(at) {
    for await (const { secure, authorities } of source.materials(at)) yield { credentials: secure, authorities };
  };
}

function sourceOf(options: CertificateOptions, hosts: readonly string[]): TlsSource {
  const { certificates, certfile, pkeyfile, cafile, cadata, password, secret, validity, authorityValidity } = options;
  if (certificates !== undefined) return certificates;
  if (certfile !== undefined && pkeyfile !== undefined) {
    return certificateFiles({
      certfile,
      pkeyfile,
      checkInterval: options.fileCheckInterval ?? FILE_CHECK_INTERVAL,
      ...(cafile === undefined ? {} : { cafile }),
      ...(cadata === undefined ? {} : { cadata: textOf(cadata) }),
      ...(password === undefined ? {} : { password }),
    });
  }
  const own = { hosts, validity, authorityValidity, password };
  return secret === undefined ? selfSignedCertificates(own) : sharedCertificates({ ...own, secret });
}

/** The credentials are what they are; but the file with the authorities can change. */
async function* givenAuthorities(
  { cadata, cafile, fileCheckInterval = FILE_CHECK_INTERVAL }: CertificateOptions,
  credentials: Credentials | undefined,
  { clock, signal, logger }: TlsSurroundings,
): AsyncGenerator<Material, void, void> {
  if (cadata !== undefined || cafile === undefined) {
    yield { credentials, authorities: cadata === undefined ? undefined : textOf(cadata) };
    return;
  }
  let previous: string | undefined;
  let trouble: string | undefined;
  for (;;) {
    try {
      const authorities = await readFile(cafile, 'utf8');
      trouble = undefined;
      if (authorities !== previous) yield { credentials, authorities };
      previous = authorities;
    } catch (error) {
      // At the start, it is a mistake; later, it may be just about to be replaced.
      if (previous === undefined) throw error;
      const why = describeError(error);
      if (why !== trouble)
        logger.error(`The CA file cannot be read, so the previous authorities stay announced: ${why}`);
      trouble = why;
    }
    try {
      await clock.sleep(fileCheckInterval, { signal });
    } catch (error) {
      if (isCancellation(error, signal)) return;
      throw error;
    }
  }
}

/** How callers are verified. If the authorities are given, certificates are looked at. */
export async function readVerification(options: VerificationOptions): Promise<Verification> {
  const { verifyCafile, verifyCapath, verifyCadata } = options;
  const authorities = [
    ...(verifyCadata === undefined ? [] : [textOf(verifyCadata)]),
    ...(verifyCafile === undefined ? [] : [await readFile(verifyCafile, 'utf8')]),
    ...(verifyCapath === undefined ? [] : await readDirectory(verifyCapath)),
  ];
  const { verifyMode = 'none' } = options;
  const isSaid = verifyCafile !== undefined || verifyCapath !== undefined || verifyCadata !== undefined;
  return {
    mode: isSaid && verifyMode === 'none' ? 'optional' : verifyMode,
    authorities: isSaid ? authorities : undefined,
  };
}

/** Only those that are certificates: there may be lists of revoked ones beside them, and notes. */
async function readDirectory(path: string): Promise<readonly string[]> {
  const names = (await readdir(path)).sort();
  const texts = await Promise.all(names.map((name) => readUnlessDirectory(join(path, name))));
  return texts.filter((text) => text.includes('-----BEGIN CERTIFICATE-----'));
}

/** Directories are also behind links: where Kubernetes mounts secrets and config maps, there is always one. */
async function readUnlessDirectory(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EISDIR') return '';
    throw error;
  }
}

function textOf(data: string | Uint8Array): string {
  return typeof data === 'string' ? data : Buffer.from(data).toString('utf8');
}
