/** Logs of containers and commands in them: the verbs that return text or messages rather than objects. */
import { ApiError, KopfError } from '../../errors.js';
import type { ApiExecOptions, ApiExecResult, ApiLogOptions, ApiLogText } from '../../seams/api.js';
import type { KubeClient, KubeConnection } from '../../seams/client.js';
import type { Seconds } from '../../seams/clock.js';
import { isMapping } from '../../values/json.js';
import { type Resource, resourceUrl } from '../../values/resources/resource.js';
import { titled, titleFor, type VerbRequests } from './verb-requests.js';

/** The address of the container, and its title for errors. */
interface Target {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly path: string;
  readonly title: string;
  readonly signal: AbortSignal | undefined;
}

type Query = [string, string][];

function targetOf(
  requests: VerbRequests,
  resource: Resource,
  name: string,
  verb: 'log' | 'exec',
  options: ApiLogOptions | ApiExecOptions,
  query: Query,
): Target {
  const namespace = requests.requiredNamespaceOf(resource, name, options);
  const path = resourceUrl(resource, { namespace, name, subresource: verb, query });
  const title = titleFor(resource, { method: 'GET', name, verb }, namespace);
  return { resource, namespace, path, title, signal: requests.signalOf(options) };
}

const LOG = { method: 'GET', subresource: 'log' } as const;
const EXEC = { method: 'GET', subresource: 'exec' } as const;

/** A quiet container may send no response headers until it prints something. */
const PATIENCE: Seconds = 7 * 24 * 3600;

/** A log as a whole text or as lines, whichever is requested. */
export function logOf(requests: VerbRequests, name: string, options: ApiLogOptions): ApiLogText {
  async function* lines(): AsyncGenerator<string, void, void> {
    const { resource, path, title, signal } = await requests.of('log', name, options, (kind, checked) =>
      targetOf(requests, kind, checked, 'log', options, logQuery(options)),
    );
    const text = methodOf(requests.client, 'text', title);
    try {
      const timeouts = options.follow ? { timeouts: { headers: PATIENCE } } : {};
      yield* text.call(requests.client, { method: 'GET', path, accept: 'application/json, */*', signal, ...timeouts });
    } catch (error) {
      throw error instanceof ApiError ? titled(error, title, { resource, request: LOG }) : error;
    }
  }
  const whole = async (): Promise<string> => {
    const all: string[] = [];
    for await (const line of lines()) all.push(line);
    return all.map((line) => `${line}\n`).join('');
  };
  return {
    [Symbol.asyncIterator]: lines,
    // biome-ignore lint/suspicious/noThenProperty: to be awaited is what it is for
    then: (onDone, onFailed) => whole().then(onDone, onFailed),
  };
}

function logQuery(options: ApiLogOptions): Query {
  const { container, follow, tailLines, sinceSeconds, sinceTime, limitBytes, previous, timestamps } = options;
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    throw new KopfError("A log is since 'sinceSeconds' or since 'sinceTime', and not both.", {
      code: 'KOPF_BAD_OPTION',
    });
  }
  const numbers = { tailLines, sinceSeconds, limitBytes };
  const said = { container, follow, ...numbers, sinceTime: sinceTime?.toISOString(), previous, timestamps };
  return Object.entries(said).flatMap(
    ([key, value]): Query => (value === undefined || value === false ? [] : [[key, String(value)]]),
  );
}

// The first byte of each message: its channel.
const [STDIN, STDOUT, STDERR, STATUS, CLOSE] = [0, 1, 2, 3, 255];
/** Only the first one can signal the end of the input. */
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

export async function exec(
  requests: VerbRequests,
  resource: Resource,
  name: string,
  command: readonly string[],
  options: ApiExecOptions,
): Promise<ApiExecResult> {
  const isCommand = Array.isArray(command) && command.length > 0 && command.every((word) => typeof word === 'string');
  if (!isCommand) {
    throw new KopfError("A command is a list of words, at least one: ['sh', '-c', 'date'].", {
      code: 'KOPF_BAD_COMMAND',
    });
  }
  const target = targetOf(requests, resource, name, 'exec', options, execQuery(command, options));
  const connect = methodOf(requests.client, 'connect', target.title);
  const { path, title, signal } = target;
  let connection: KubeConnection;
  try {
    connection = await connect.call(requests.client, { path, protocols: PROTOCOLS, signal });
  } catch (error) {
    throw error instanceof ApiError ? titled(error, title, { resource, request: EXEC }) : error;
  }
  try {
    return await converse(connection, options, title);
  } finally {
    connection.close();
  }
}

function execQuery(command: readonly string[], { container, stdin, tty = false }: ApiExecOptions): Query {
  return [
    ...(container === undefined ? [] : [['container', container] as [string, string]]),
    ...command.map((word): [string, string] => ['command', word]),
    ...(stdin === undefined ? [] : [['stdin', 'true'] as [string, string]]),
    ['stdout', 'true'],
    ...(tty ? [['tty', 'true'] as [string, string]] : [['stderr', 'true'] as [string, string]]),
  ];
}

async function converse(connection: KubeConnection, options: ApiExecOptions, title: string): Promise<ApiExecResult> {
  const { stdin, onStdout, onStderr } = options;
  if (stdin !== undefined && connection.protocol !== PROTOCOLS[0]) {
    const message = `${title}: the server cannot be told when the input ends, as it is older than Kubernetes 1.30.`;
    throw new KopfError(message, { code: 'KOPF_OLD_SERVER' });
  }
  const [out, err] = [new Texts(onStdout), new Texts(onStderr)];
  // A command that stops reading its input has not failed.
  const feeding = stdin === undefined ? undefined : feed(connection, stdin);
  feeding?.catch(() => {});
  for await (const message of connection) {
    const [channel] = message;
    const content = message.subarray(1);
    if (channel === STDOUT) out.add(content);
    else if (channel === STDERR) err.add(content);
    else if (channel === STATUS) {
      return { stdout: out.end(), stderr: err.end(), exitCode: exitCodeOf(content, title) };
    }
  }
  throw new KopfError(`${title}: the connection has ended before the command has.`, { code: 'KOPF_EXEC_BROKEN' });
}

async function feed(connection: KubeConnection, stdin: NonNullable<ApiExecOptions['stdin']>): Promise<void> {
  const pieces = typeof stdin === 'string' || stdin instanceof Uint8Array ? [stdin] : stdin;
  for await (const piece of pieces) {
    const bytes = typeof piece === 'string' ? new TextEncoder().encode(piece) : piece;
    for (let at = 0; at < bytes.length; at += MAX_MESSAGE) {
      await connection.send(onChannel(STDIN as number, bytes.subarray(at, at + MAX_MESSAGE)));
    }
  }
  await connection.send(new Uint8Array([CLOSE as number, STDIN as number]));
}

/** Servers limit the size of messages. */
const MAX_MESSAGE = 16 * 1024;

function onChannel(channel: number, content: Uint8Array): Uint8Array {
  const message = new Uint8Array(content.length + 1);
  message[0] = channel;
  message.set(content, 1);
  return message;
}

/** Chunks can end anywhere, even inside of a character. */
class Texts {
  readonly #decoder = new TextDecoder();
  readonly #onText: ((text: string) => void) | undefined;
  #all = '';

  constructor(onText: ((text: string) => void) | undefined) {
    this.#onText = onText;
  }

  add(bytes: Uint8Array): void {
    const text = this.#decoder.decode(bytes, { stream: true });
    this.#all += text;
    if (text !== '') this.#onText?.(text);
  }

  end(): string {
    return this.#all + this.#decoder.decode();
  }
}

function exitCodeOf(content: Uint8Array, title: string): number {
  const text = new TextDecoder().decode(content);
  let status: unknown;
  try {
    status = JSON.parse(text);
  } catch {
    status = undefined;
  }
  if (isMapping(status) && status['status'] === 'Success') return 0;
  const details = isMapping(status) && isMapping(status['details']) ? status['details'] : {};
  const causes: unknown[] = Array.isArray(details['causes']) ? details['causes'] : [];
  const cause = causes.find((one) => isMapping(one) && one['reason'] === 'ExitCode');
  const code = isMapping(cause) ? Number(cause['message']) : Number.NaN;
  if (isMapping(status) && status['reason'] === 'NonZeroExitCode' && Number.isInteger(code)) return code;
  const message = isMapping(status) && typeof status['message'] === 'string' ? status['message'] : text;
  throw new KopfError(`${title}: ${message}`, { code: 'KOPF_EXEC_FAILED' });
}

/** Clients need not implement all methods. */
function methodOf<M extends 'text' | 'connect'>(
  client: KubeClient,
  method: M,
  title: string,
): NonNullable<KubeClient[M]> {
  const found = client[method];
  if (found !== undefined) return found as NonNullable<KubeClient[M]>;
  throw new KopfError(`${title}: the client of this operator has no method ${method}(), which is needed for that.`, {
    code: 'KOPF_CLIENT_WITHOUT_METHOD',
  });
}
