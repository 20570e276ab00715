/**
 * Logins that run a program or call an identity provider: exec plugins, OIDC, and other auth providers.
 *
 * They are delegated to `@kubernetes/client-node`, which is large and slow to load, and is loaded only here. Only its
 * authentication is used: requests and streams are our own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { sep } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Clock, type ConnectionInfo, LoginError, type Seconds } from '@kopf-ts/core';
import type { Environment } from '../connections/proxies.js';
import { failureText } from '../errors.js';
import { endOfToken } from './jwt.js';
import { type Entry, fieldsOf, pathIn, textOf } from './kubeconfig.js';
import { maskSecrets } from './secret-masking.js';

/** The used part of the library. Its own types are as large as its code. */
interface ClientNode {
  readonly KubeConfig: new () => {
    loadFromClusterAndUser(cluster: object, user: object): void;
    applyToHTTPSOptions(options: HttpsOptions): Promise<void>;
    readonly authenticators?: readonly {
      readonly tokenCache?: Readonly<Record<string, ExecCredential | null>>;
      /** How it runs programs. */
      execFn?: typeof spawn;
    }[];
  };
}

interface HttpsOptions {
  headers?: Record<string, unknown>;
  cert?: string | Buffer;
  key?: string | Buffer;
}

interface ExecCredential {
  readonly status?: { readonly expirationTimestamp?: string };
}

interface PluginUser {
  readonly name: string;
  readonly exec?: object;
  readonly authProvider?: { readonly name: string | undefined; readonly config: Record<string, unknown> };
}

/** Without `sleep`, system timers are used. */
export type LoginClock = Pick<Clock, 'utc'> & Partial<Pick<Clock, 'sleep'>>;

/** Plugins are told that no user is present, so they must finish within that time, slow identity providers included. */
export const PLUGIN_TIMEOUT: Seconds = 60;

export interface PluginOptions {
  readonly env: Environment;
  readonly clock: LoginClock;
  /** How long it may take. Default: {@link PLUGIN_TIMEOUT}. */
  readonly timeout?: Seconds;
  /** Replaceable for tests without the library. */
  readonly importLibrary?: () => Promise<unknown>;
}

const LIBRARY: string = '@kubernetes/client-node';
/** A variable, not a literal in the import: so bundlers leave it out, and compilers do not read its types. */
const importClientNode = (): Promise<unknown> => import(LIBRARY);

/** The auth providers that the library supports. */
const PROVIDERS = new Set(['oidc', 'gcp', 'azure', 'exec']);

type Identity = Pick<ConnectionInfo, 'token' | 'scheme' | 'cert' | 'key' | 'expiration'>;

/** Whether this user needs a program or a provider to log in. A plain token takes precedence. */
export function isPluginUser({ fields }: Entry): boolean {
  const provider = fieldsOf(fields['auth-provider']);
  if (textOf(fields['token']) !== undefined || textOf(fields['tokenFile']) !== undefined) return false;
  return fieldsOf(fields['exec']) !== undefined || PROVIDERS.has(textOf(provider?.['name']) ?? '');
}

/** Logs in, and returns the expiration, if known. */
export async function loginByPlugin(user: Entry, cluster: Entry, options: PluginOptions): Promise<Identity> {
  const { KubeConfig } = await imported(user, options);
  const pluginUser = pluginUserOf(user, cluster, options.env);
  const config = new KubeConfig();
  // The cluster does not matter here, but the library insists on a valid one.
  config.loadFromClusterAndUser(
    { name: 'cluster', server: 'https://kubernetes.invalid', skipTLSVerify: false },
    pluginUser,
  );
  const https: HttpsOptions = { headers: {} };
  const programs: ChildProcess[] = [];
  for (const authenticator of config.authenticators ?? []) {
    if (authenticator.execFn !== undefined) authenticator.execFn = spawnInto(programs);
  }
  try {
    await within(config.applyToHTTPSOptions(https), options);
  } catch (error) {
    for (const program of programs) end(program);
    throw loginFailure(user, error, options);
  }
  const cached = config.authenticators?.map(({ tokenCache }) => tokenCache?.[user.name]).find(Boolean);
  const identity = identityOf(
    https,
    expirationOf(cached?.status?.expirationTimestamp ?? expiryIn(pluginUser)),
    options,
  );
  if (identity.token === undefined && identity.cert === undefined) {
    throw new LoginError(`${titleOf(user)} gave neither a token nor a certificate. ${adviceOf(user)}`);
  }
  return identity;
}

/** Waits for it with a time limit. */
async function within(login: Promise<void>, { clock, timeout = PLUGIN_TIMEOUT }: PluginOptions): Promise<void> {
  const over = new AbortController();
  const pause = clock.sleep?.(timeout, { wakeup: over.signal }) ?? setTimeout(timeout * 1000, undefined, over);
  const expiry = pause.then(
    () => {
      if (!over.signal.aborted) throw new TooSlow();
    },
    () => {}, // It ended before that.
  );
  try {
    await Promise.race([login, expiry.then(() => login)]);
  } finally {
    over.abort();
  }
}

class TooSlow extends Error {}

function spawnInto(programs: ChildProcess[]): typeof spawn {
  const run = (...args: Parameters<typeof spawn>): ChildProcess => {
    const program = spawn(...args);
    programs.push(program);
    return program;
  };
  return run as typeof spawn;
}

/** Destroys its pipes, too: child processes may keep them open for longer. */
function end(program: ChildProcess): void {
  program.kill('SIGKILL');
  for (const pipe of [program.stdin, program.stdout, program.stderr]) pipe?.destroy();
}

/** A program's output may contain the secrets it produces, and the JSON parser's errors quote it. */
function loginFailure(user: Entry, error: unknown, { timeout = PLUGIN_TIMEOUT }: PluginOptions): LoginError {
  const title = titleOf(user);
  if (error instanceof TooSlow) {
    return new LoginError(`${title} did not finish within ${timeout}s and was killed. ${adviceOf(user)}`);
  }
  if (error instanceof SyntaxError) {
    return new LoginError(`${title} failed: its output is not JSON. ${adviceOf(user)}`);
  }
  const text = maskSecrets(failureText(error).trim());
  return new LoginError(`${title} failed: ${text}${hintOf(user, error)}`, { cause: new Error(text) });
}

/**
 * Providers may replace the refresh token at every use; the new one exists only in memory, and the kubeconfig's is void
 * from then on. So their changes are kept for the next login with the same kubeconfig content.
 */
const providerConfigs = new Map<string, Record<string, unknown>>();

function pluginUserOf(user: Entry, cluster: Entry, env: Environment): PluginUser {
  const exec = fieldsOf(user.fields['exec']);
  if (exec !== undefined) return { name: user.name, exec: execOf(user, exec, cluster, env) };
  const provider = fieldsOf(user.fields['auth-provider']);
  const original = { ...fieldsOf(provider?.['config']) };
  const key = JSON.stringify([provider?.['name'], original]);
  const config = providerConfigs.get(key) ?? original;
  providerConfigs.set(key, config);
  const issuer = textOf(config['idp-issuer-url']);
  // The library hands it over to another one, which wants an object, and not a text.
  if (issuer !== undefined && URL.canParse(issuer)) config['idp-issuer-url'] = new URL(issuer);
  return { name: user.name, authProvider: { name: textOf(provider?.['name']), config } };
}

function execOf(user: Entry, exec: Readonly<Record<string, unknown>>, cluster: Entry, env: Environment): object {
  const command = textOf(exec['command']) ?? '';
  const isPath = command.includes('/') || command.includes(sep);
  const variables = Array.isArray(exec['env']) ? exec['env'] : [];
  return {
    ...exec,
    command: isPath ? pathIn(user, command) : command,
    args: Array.isArray(exec['args']) ? exec['args'].map(String) : [],
    env: [
      ...Object.entries(env).map(([name, value]) => ({ name, value })),
      ...variables,
      { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(execInfoOf(exec, cluster)) },
    ],
  };
}

/** The environment of plugins: the protocol version, the absence of a user, and the cluster. */
function execInfoOf(exec: Readonly<Record<string, unknown>>, { fields }: Entry): object {
  const cluster = {
    server: fields['server'],
    'tls-server-name': fields['tls-server-name'],
    'insecure-skip-tls-verify': fields['insecure-skip-tls-verify'],
    'certificate-authority-data': fields['certificate-authority-data'],
    'proxy-url': fields['proxy-url'],
  };
  return {
    apiVersion: textOf(exec['apiVersion']) ?? 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: { interactive: false, ...(exec['provideClusterInfo'] === true ? { cluster } : {}) },
  };
}

function identityOf(https: HttpsOptions, expiration: Date | undefined, { clock }: PluginOptions): Identity {
  const header = textOf(https.headers?.['Authorization']);
  const [, scheme, token] = /^(\S+)\s+(.+)$/.exec(header ?? '') ?? [undefined, undefined, header];
  const end = expiration ?? (token === undefined ? undefined : endOfToken(token, clock));
  return {
    ...(token === undefined ? {} : { token }),
    ...(scheme === undefined || scheme === 'Bearer' ? {} : { scheme }),
    ...(https.cert ? { cert: https.cert } : {}),
    ...(https.key ? { key: https.key } : {}),
    ...(end === undefined ? {} : { expiration: end }),
  };
}

function expiryIn({ authProvider }: PluginUser): string | undefined {
  return textOf(authProvider?.config['expiry']);
}

function expirationOf(timestamp: string | undefined): Date | undefined {
  const time = timestamp === undefined ? Number.NaN : Date.parse(timestamp);
  return Number.isNaN(time) ? undefined : new Date(time);
}

async function imported(user: Entry, { importLibrary = importClientNode }: PluginOptions): Promise<ClientNode> {
  try {
    return (await importLibrary()) as ClientNode;
  } catch (error) {
    throw new LoginError(
      `${titleOf(user)} needs the package ${LIBRARY}, which cannot be loaded here. ` +
        `Install it beside kopf-ts (npm install ${LIBRARY}@1), or log in with a token or a certificate.`,
      { cause: error, code: 'KOPF_NO_CLIENT_NODE' },
    );
  }
}

function titleOf({ name, fields }: Entry): string {
  const exec = fieldsOf(fields['exec']);
  if (exec !== undefined) return `The login of "${name}" by the plugin "${textOf(exec['command']) ?? '?'}"`;
  return `The login of "${name}" by the auth provider "${textOf(fieldsOf(fields['auth-provider'])?.['name']) ?? '?'}"`;
}

function hintOf({ fields }: Entry, error: unknown): string {
  const hint = textOf(fieldsOf(fields['exec'])?.['installHint']);
  const isAbsent = (error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
  if (!isAbsent) return '';
  return `. The program is not installed, or not on the PATH.${hint === undefined ? '' : ` ${hint.trim()}`}`;
}

function adviceOf({ fields }: Entry): string {
  return fieldsOf(fields['exec']) === undefined
    ? 'The token may have expired without a way to refresh it: log in with the tool that wrote the kubeconfig.'
    : 'Run it by hand to see what it prints.';
}
