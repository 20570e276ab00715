import { type Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import type {
  AdmissionRequest,
  AdmissionResponse,
  KubeClient,
  ReviewFn,
  ReviewHints,
  WebhookClientConfig,
  WebhookServer,
} from '@kopf-ts/core';
import { type Container, container } from '@kopf-ts/core/engine';
import { type ManualClock, manualClock, type RecordingLogger, recordingLogger } from '@kopf-ts/testing';
import { buildCertificate } from '../../src/certificates/build-certificate.js';
import type { TlsMaterial, TlsSource } from '../../src/certificates/tls-source.js';

type Surroundings = Parameters<WebhookServer['serve']>[0];

export const REVIEW: AdmissionRequest = {
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: 'uid1',
    kind: { group: 'kopf.dev', version: 'v1', kind: 'KopfExample' },
    resource: { group: 'kopf.dev', version: 'v1', resource: 'kopfexamples' },
    operation: 'CREATE',
    userInfo: { username: 'somebody' },
    object: { metadata: { name: 'name1' } },
  },
};
export const ANSWER: AdmissionResponse = {
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  response: { uid: 'uid1', allowed: true },
};

export const NO_CLIENT: KubeClient = {
  request: () => Promise.reject(new Error('There is no cluster.')),
  // biome-ignore lint/correctness/useYield: it fails before there is anything to yield
  async *stream() {
    throw new Error('There is no cluster.');
  },
};

export interface Served extends AsyncDisposable {
  readonly logger: RecordingLogger;
  readonly clock: ManualClock;
  readonly calls: { readonly review: AdmissionRequest; readonly hints: ReviewHints }[];
  /** The first address. */
  readonly config: WebhookClientConfig;
  readonly url: string;
  /** The authority of the first address. */
  readonly ca: string;
  /** Asks for the next address. */
  next(): Promise<WebhookClientConfig | undefined>;
  abort(): void;
  /** Aborts, and waits for the end. */
  end(): Promise<void>;
}

/** Starts the server, and waits for its first address. */
export async function served(
  server: WebhookServer,
  { review = () => Promise.resolve(ANSWER), ...others }: { review?: ReviewFn } & Partial<Surroundings> = {},
): Promise<Served> {
  const aborting = new AbortController();
  const [clock, logger] = [manualClock(), recordingLogger()];
  const calls: Served['calls'] = [];
  const iterator = server
    .serve({
      signal: aborting.signal,
      clock,
      logger,
      client: NO_CLIENT,
      connection: () => Promise.reject(new Error('There is no cluster.')),
      ...others,
      review: (request, hints = {}) => {
        calls.push({ review: request, hints });
        return review(request, hints);
      },
    })
    [Symbol.asyncIterator]();
  const next = async (): Promise<WebhookClientConfig | undefined> => {
    const { done, value } = await iterator.next();
    return done ? undefined : value;
  };
  const config = await next();
  if (config === undefined) throw new Error('The server has ended.');
  const end = async (): Promise<void> => {
    aborting.abort(new Error('The test is over.'));
    while ((await next()) !== undefined);
  };
  return {
    logger,
    clock,
    calls,
    config,
    url: config.url ?? '',
    ca: Buffer.from(config.caBundle ?? '', 'base64').toString('utf8'),
    next,
    abort: () => aborting.abort(new Error('The test is over.')),
    end,
    async [Symbol.asyncDispose]() {
      const isOver = end();
      await clock.advance(1);
      await isOver;
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly message: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export interface Question {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string | string[]>;
  readonly agent?: Agent;
  /** The path as it is sent, however wrong. */
  readonly path?: string;
  readonly tls?: { ca?: string; servername?: string; cert?: string; key?: string };
}

const JSON_HEADERS = { 'content-type': 'application/json' };

/** One request by HTTP, or by HTTPS with nothing but the given authority trusted. */
export async function ask(url: string, question: Question = {}): Promise<Answer> {
  const { method = 'POST', body = REVIEW, headers = JSON_HEADERS, agent, path, tls = {} } = question;
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { method, headers, agent: agent ?? (false as const), ...(path === undefined ? {} : { path }) };
    const outgoing = url.startsWith('https:') ? httpsRequest(url, { ...options, ...tls }) : httpRequest(url, options);
    outgoing.on('response', resolve);
    outgoing.on('error', reject);
    outgoing.end(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body));
  });
  let text = '';
  incoming.setEncoding('utf8');
  for await (const chunk of incoming) text += chunk;
  return { status: incoming.statusCode ?? 0, message: incoming.statusMessage ?? '', headers: incoming.headers, text };
}

/** A plain connection, and all that comes by it until it is closed. */
export async function dial(url: string): Promise<{ readonly socket: Socket; readonly received: Promise<string> }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  const received = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  await new Promise((resolve) => socket.once('connect', resolve));
  return { socket, received };
}

const made = new Map<string, Promise<TlsMaterial>>();

/** A certificate for the local host, made once for each name: keys take their time. */
export function localMaterial(name = 'first', authorities?: string): Promise<TlsMaterial> {
  const known = made.get(name) ?? makeMaterial(name);
  made.set(name, known);
  return authorities === undefined ? known : known.then((material) => ({ ...material, authorities }));
}

async function makeMaterial(name: string): Promise<TlsMaterial> {
  const { certificate, privateKey } = await buildCertificate([name, 'localhost', '127.0.0.1']);
  return { secure: { cert: certificate, key: privateKey }, authorities: certificate };
}

/** Certificates that change when told. */
export function certificatesOnDemand(
  first: TlsMaterial,
): TlsSource & { readonly materialsNow: Container<TlsMaterial> } {
  const materialsNow = container(first);
  return { materialsNow, materials: ({ signal }) => materialsNow.values(signal) };
}

export function pem(secure: SecureContextOptions): { cert: string; key: string } {
  return { cert: String(secure.cert), key: String(secure.key) };
}
