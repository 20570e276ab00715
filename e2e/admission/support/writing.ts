/** Constant writes, each of which is to be reviewed; and a look at the certificates that are used meanwhile. */
import { X509Certificate } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from 'node:tls';
import type { Configuration } from './configurations.js';
import type { Usage } from './requests.js';

export interface Writing {
  /** Those accepted, and those denied as they should be. */
  readonly accepted: number;
  readonly denied: number;
  /** All others: what was answered instead, and when. */
  readonly failures: readonly string[];
  /** Of one write, in milliseconds. */
  readonly slowest: number;
  /** Nothing is under way while this is called. */
  pausedFor(action: () => void | Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

const WRITERS = 4;
/** Between the writes of one writer, so that they are not all that the machine does. */
const PAUSE = 25;
/** One of so many writes is invalid, to see that the webhook is really asked. */
const DENIED_EACH = 5;

/** Begins to write; the objects must be there: `w0`, `w1`… */
export async function startWriting(usage: Usage): Promise<Writing> {
  const failures: string[] = [];
  const counts = { accepted: 0, denied: 0, slowest: 0 };
  let isStopping = false;
  const gate = newGate();
  const beganAt = performance.now();

  const write = async (name: string, ordinal: number): Promise<void> => {
    const isBad = ordinal % DENIED_EACH === 0;
    const at = performance.now();
    const { status, body } = await usage.patch(name, { spec: { size: isBad ? -1 : 1, ordinal } });
    counts.slowest = Math.max(counts.slowest, performance.now() - at);
    if (status === (isBad ? 422 : 200)) counts[isBad ? 'denied' : 'accepted'] += 1;
    else failures.push(`${secondsSince(beganAt)}: ${status} ${body['message'] ?? ''}`);
  };
  const keepWriting = async (name: string): Promise<void> => {
    for (let ordinal = 1; !isStopping; ordinal++) {
      await gate.pass(() =>
        write(name, ordinal).catch((error: unknown) => {
          failures.push(`${secondsSince(beganAt)}: ${String(error)}`);
        }),
      );
      await pause(PAUSE);
    }
  };
  const names = Array.from({ length: WRITERS }, (_, index) => `w${index}`);
  for (const name of names) {
    const { status, body } = await usage.create(name, { spec: { size: 0 } });
    if (status !== 201) throw new Error(`${name} is not created: ${JSON.stringify(body)}`);
  }
  const writers = names.map(keepWriting);
  return {
    get accepted() {
      return counts.accepted;
    },
    get denied() {
      return counts.denied;
    },
    get slowest() {
      return counts.slowest;
    },
    failures,
    pausedFor: gate.closedFor,
    async stop() {
      isStopping = true;
      await Promise.all(writers);
    },
  };
}

export interface CertificateWatch {
  /** By their serial numbers: all authorities that API servers were told to trust, and all certificates of servers. */
  readonly authorities: ReadonlySet<string>;
  readonly leaves: ReadonlySet<string>;
  readonly handshakes: number;
  readonly failures: readonly string[];
  /** The longest time that anything seen was to be valid for, in seconds. */
  readonly longestLife: number;
  /** Nothing is under way while this is called. */
  pausedFor(action: () => void | Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** Shakes hands again and again, trusting exactly those whom the configuration says to trust at that moment. */
export function watchCertificates(configuration: Configuration): CertificateWatch {
  const [authorities, leaves] = [new Set<string>(), new Set<string>()];
  const failures: string[] = [];
  const counts = { handshakes: 0, longestLife: 0 };
  let isStopping = false;
  const gate = newGate();
  const beganAt = performance.now();
  const look = (set: Set<string>, certificate: X509Certificate): void => {
    if (set.has(certificate.serialNumber)) return;
    set.add(certificate.serialNumber);
    counts.longestLife = Math.max(counts.longestLife, (Date.parse(certificate.validTo) - Date.now()) / 1000);
  };
  const trusted = async (): Promise<{ readonly url: string; readonly ca: string }> => {
    const [webhook] = Object.values(await configuration.webhooks());
    const { url = '', caBundle = '' } = (webhook?.['clientConfig'] ?? {}) as { url?: string; caBundle?: string };
    return { url, ca: Buffer.from(caBundle, 'base64').toString() };
  };
  const shakeHands = async (): Promise<void> => {
    const { url, ca } = await trusted();
    for (const [pem] of ca.matchAll(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)) {
      look(authorities, new X509Certificate(pem));
    }
    try {
      look(leaves, await leafAt(url, ca));
      counts.handshakes += 1;
    } catch (error) {
      // If others are to be trusted by now, then the handshake was late, and not the certificate wrong.
      if ((await trusted()).ca === ca) failures.push(`${secondsSince(beganAt)}: ${String(error)}`);
    }
  };
  const running = (async () => {
    while (!isStopping) {
      await gate.pass(shakeHands);
      await pause(50);
    }
  })();
  return {
    authorities,
    leaves,
    failures,
    get handshakes() {
      return counts.handshakes;
    },
    get longestLife() {
      return counts.longestLife;
    },
    pausedFor: gate.closedFor,
    async stop() {
      isStopping = true;
      await running;
    },
  };
}

/** Where everybody can be held up for a while. */
function newGate() {
  let closed: Promise<void> | undefined;
  const inside = new Set<Promise<unknown>>();
  return {
    async pass(action: () => Promise<void>): Promise<void> {
      await closed;
      const done = action();
      inside.add(done);
      await done.finally(() => inside.delete(done));
    },
    async closedFor(action: () => void | Promise<void>): Promise<void> {
      let open = (): void => {};
      closed = new Promise<void>((resolve) => {
        open = resolve;
      });
      try {
        await Promise.all(inside);
        await action();
      } finally {
        closed = undefined;
        open();
      }
    },
  };
}

function leafAt(url: string, ca: string): Promise<X509Certificate> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), ca });
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerX509Certificate();
      socket.end();
      if (certificate === undefined) reject(new Error('There is no certificate.'));
      else resolve(certificate);
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('The connection is closed.')));
    socket.setTimeout(10_000, () => socket.destroy(new Error('There is no handshake in 10 seconds.')));
  });
}

const secondsSince = (beganAt: number): string => `at ${((performance.now() - beganAt) / 1000).toFixed(1)} s`;
