/** Requests as plain as they can be: no client of ours stands between the table and the servers. */
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isMereBookmark } from './bookmarks.js';
import type { Answer } from './sequence.js';
import type { Target } from './targets.js';

export interface PlainRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
}

/** Those on which clients rely; the rest is between the server and its operators. */
const headersThatMatter = [
  'allow',
  'cache-control',
  'content-type',
  'location',
  'retry-after',
  'warning',
  'www-authenticate',
  'x-content-type-options',
];

const answersWithinMs = 60_000;

export async function send(target: Target, plain: PlainRequest): Promise<Answer> {
  const response = await open(target, plain);
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { ...headOf(response), body: parsed(Buffer.concat(chunks).toString('utf8')) };
}

/** A watch: events are kept as they come. */
export class Stream {
  readonly head: Omit<Answer, 'body'>;
  readonly events: unknown[] = [];
  #hasEnded = false;
  #changed: () => void = () => {};
  readonly #response: IncomingMessage;

  constructor(response: IncomingMessage) {
    this.#response = response;
    this.head = headOf(response);
    let rest = '';
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.events.push(parsed(line));
      this.#changed();
    });
    const end = () => {
      if (rest !== '') this.events.push(parsed(rest));
      rest = '';
      this.#hasEnded = true;
      this.#changed();
    };
    response.on('end', end);
    response.on('error', end);
    response.on('close', end);
  }

  /** Waits for so many events, mere bookmarks aside, or for the end of the stream, and closes it. */
  async collect(count: number | undefined): Promise<{ events: readonly unknown[]; closedBy: 'us' | 'server' }> {
    const counted = () => this.events.filter((event) => !isMereBookmark(event)).length;
    const isEnough = () => this.#hasEnded || (count !== undefined && counted() >= count);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, count === undefined ? 30_000 : 10_000);
      this.#changed = () => {
        if (!isEnough()) return;
        clearTimeout(timer);
        resolve();
      };
      this.#changed();
    });
    const closedBy = this.#hasEnded ? 'server' : 'us';
    this.close();
    return { events: [...this.events], closedBy };
  }

  close(): void {
    this.#response.destroy();
  }
}

export async function openStream(target: Target, plain: PlainRequest): Promise<Stream> {
  return new Stream(await open(target, plain));
}

function open(target: Target, { method, path, headers, body }: PlainRequest): Promise<IncomingMessage> {
  const { protocol, hostname, port } = new URL(target.url);
  const send = protocol === 'https:' ? httpsRequest : httpRequest;
  const options = {
    method,
    hostname,
    port,
    path,
    agent: target.agent,
    headers: {
      authorization: `Bearer ${target.token}`,
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      ...(headers as Record<string, string | string[]>),
    },
  };
  return new Promise((resolve, reject) => {
    const request = send(options, resolve);
    request.setTimeout(answersWithinMs, () => request.destroy(new Error(`${method} ${path}: no answer`)));
    // A refused body breaks the connection after the answer has come.
    request.on('error', (cause) => reject(new Error(`${target.name}: ${method} ${path}: ${cause.message}`, { cause })));
    request.end(body);
  });
}

function headOf({ statusCode = 0, headers }: IncomingMessage): Omit<Answer, 'body'> {
  const chosen = headersThatMatter.flatMap((name) => {
    const value = headerIn(headers, name);
    return value === undefined ? [] : [[name, value]];
  });
  return { status: statusCode, headers: Object.fromEntries(chosen) };
}

function headerIn(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Integers that would lose digits become texts. */
function parsed(text: string): unknown {
  const exact = text.replace(/"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g, (token) =>
    token.startsWith('"') ? token : `"<integer ${token}>"`,
  );
  try {
    return JSON.parse(exact);
  } catch {
    return text;
  }
}
