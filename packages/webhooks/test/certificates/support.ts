/** What tests of certificates have in common. */
import { X509Certificate } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { checkServerIdentity, connect, createServer, type SecureContextOptions } from 'node:tls';
import type { Clock, KubeClient, Seconds } from '@kopf-ts/core';
import { type ManualClock, type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import type { TlsMaterial, TlsSource } from '../../src/certificates/tls-source.js';

/** The first import of node-forge takes longer than the manual clock waits. */
export async function warmUp(): Promise<void> {
  await import('node-forge');
}

/** A client that nobody is supposed to use. */
const noClient: KubeClient = {
  request: () => Promise.reject(new Error('There is no cluster here.')),
  stream: () => {
    throw new Error('There is no cluster here.');
  },
};

export interface Follower extends AsyncDisposable {
  /** All that was given so far, with the time of it. */
  readonly materials: readonly { readonly time: Seconds; readonly material: TlsMaterial }[];
  /** What is in use now. */
  readonly current: TlsMaterial;
  /** What is announced now. */
  readonly announced: string;
  readonly logger: RecordingLogger;
  /** How it ended, if it did. */
  readonly outcome: Promise<unknown>;
  stop(): Promise<void>;
}

/** Uses what the source gives, as a server does: it takes the time to announce each of them. */
export function follow(
  source: TlsSource,
  at: {
    readonly clock: Clock;
    readonly client?: KubeClient;
    readonly announcingTakes?: Seconds | (() => Seconds);
  },
): Follower {
  const { clock, client = noClient, announcingTakes = 0 } = at;
  const stopping = new AbortController();
  const logger = recordingLogger();
  const materials: { time: Seconds; material: TlsMaterial }[] = [];
  let announced = '';
  const run = async (): Promise<unknown> => {
    try {
      for await (const material of source.materials({ clock, client, logger, signal: stopping.signal })) {
        materials.push({ time: clock.now(), material });
        const delay = typeof announcingTakes === 'function' ? announcingTakes() : announcingTakes;
        if (delay > 0) await clock.sleep(delay, { wakeup: stopping.signal });
        announced = material.authorities ?? '';
      }
      return 'ended';
    } catch (error) {
      return error;
    }
  };
  const outcome = run();
  const stop = async (): Promise<void> => {
    stopping.abort();
    await outcome;
  };
  return {
    materials,
    get current() {
      const last = materials.at(-1);
      if (last === undefined) throw new Error('Nothing was given yet.');
      return last.material;
    },
    get announced() {
      return announced;
    },
    logger,
    outcome,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const PARSED = new Map<string, X509Certificate>();

/** Tests look at the same certificates over and over again. */
function parsed(pem: string): X509Certificate {
  const certificate = PARSED.get(pem) ?? new X509Certificate(pem);
  PARSED.set(pem, certificate);
  return certificate;
}

/** The certificates in the text, in order. */
export function certificatesOf(pem: string | undefined): X509Certificate[] {
  return (pem?.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(parsed);
}

export function leafOf(material: TlsMaterial): X509Certificate {
  return parsed(String(material.secure.cert));
}

const ISSUED = new WeakMap<X509Certificate, Map<X509Certificate, boolean>>();

function isIssuedBy(leaf: X509Certificate, issuer: X509Certificate): boolean {
  const known = ISSUED.get(leaf) ?? new Map<X509Certificate, boolean>();
  ISSUED.set(leaf, known);
  const answer = known.get(issuer) ?? (leaf.checkIssued(issuer) && leaf.verify(issuer.publicKey));
  known.set(issuer, answer);
  return answer;
}

/** Whether a caller that trusts these authorities accepts this certificate at this time. */
export function isTrusted(leaf: X509Certificate, authorities: string, now: Date): boolean {
  const isValid = (each: X509Certificate): boolean => new Date(each.validFrom) <= now && now < new Date(each.validTo);
  return isValid(leaf) && certificatesOf(authorities).some((each) => isIssuedBy(leaf, each) && isValid(each));
}

/** Lets real threads do their work, which the clock knows nothing of, until the clock has as many sleepers. */
export async function untilSleeping(clock: ManualClock, sleepers = 1): Promise<void> {
  while (clock.sleepers < sleepers) await clock.settle();
}

/** Connects to a real server that uses this certificate; the reason of the failure, if it is refused. */
export async function handshake(secure: SecureContextOptions, ca: string, servername: string): Promise<string> {
  const server = createServer(secure, (socket) => socket.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await new Promise((resolve) => {
      // Addresses are never sent as names, but are compared with the certificate all the same.
      const socket = connect({ host: '127.0.0.1', port, ca, ...identity(servername) }, () => resolve('accepted'));
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      socket.on('data', () => {});
      socket.on('close', () => socket.destroy());
    });
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

function identity(servername: string): object {
  const isAddress = /^[\d.]+$|:/.test(servername);
  if (!isAddress) return { servername };
  return {
    servername: '',
    checkServerIdentity: (_host: string, certificate: never) => checkServerIdentity(servername, certificate),
  };
}
