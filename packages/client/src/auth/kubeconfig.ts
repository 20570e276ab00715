/** Finds, reads and merges kubeconfig files, and picks the cluster and the user of one context. */
import { access, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { LoginError } from '@kopf-ts/core';
import type { Environment } from '../connections/proxies.js';

type Fields = Readonly<Record<string, unknown>>;

/** A named part of a kubeconfig. The paths in it are relative to the folder of its file. */
export interface Entry {
  readonly name: string;
  readonly fields: Fields;
  readonly folder: string;
}

export interface Kubeconfig {
  readonly files: readonly string[];
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, Entry>;
  readonly clusters: ReadonlyMap<string, Entry>;
  readonly users: ReadonlyMap<string, Entry>;
}

export interface KubeconfigContext {
  readonly cluster: Entry;
  /** May be absent: then the server admits anonymous users, or a proxy authenticates them. */
  readonly user: Entry | undefined;
  readonly namespace: string | undefined;
}

/**
 * The files to read: the given ones, those of `$KUBECONFIG`, or `~/.kube/config`; `undefined` if none of these exists.
 */
export async function kubeconfigFiles(
  given: string | readonly string[] | undefined,
  env: Environment,
): Promise<readonly string[] | undefined> {
  if (given !== undefined) return [given].flat().map(expanded);
  const listed = (env['KUBECONFIG'] ?? '')
    .split(delimiter)
    .map((file) => file.trim())
    .filter((file) => file !== '');
  if (listed.length > 0) return listed.map(expanded);
  const usual = join(homeOf(env), '.kube', 'config');
  const exists = await access(usual).then(
    () => true,
    () => false,
  );
  return exists ? [usual] : undefined;

  function expanded(file: string): string {
    return resolve(file.replace(/^~(?=$|[/\\])/, homeOf(env)));
  }
}

function homeOf(env: Environment): string {
  return env['HOME'] || env['USERPROFILE'] || homedir();
}

/** Merges all files: for equal names, the first one wins. Each file must exist and be readable. */
export async function readKubeconfig(files: readonly string[]): Promise<Kubeconfig> {
  const contexts = new Map<string, Entry>();
  const clusters = new Map<string, Entry>();
  const users = new Map<string, Entry>();
  let currentContext: string | undefined;
  for (const file of files) {
    const content = await parsed(file);
    currentContext ??= textOf(content['current-context']);
    collect(contexts, content['contexts'], 'context', dirname(file));
    collect(clusters, content['clusters'], 'cluster', dirname(file));
    collect(users, content['users'], 'user', dirname(file));
  }
  return { files, currentContext, contexts, clusters, users };
}

/** The context with that name, or the current one. */
export function contextOf(config: Kubeconfig, name: string | undefined): KubeconfigContext {
  const where = config.files.join(', ');
  const wanted = name ?? config.currentContext;
  if (wanted === undefined) {
    throw new LoginError(
      `Current context is not set in ${where}. Set it with "kubectl config use-context", or choose a context for the login.`,
    );
  }
  const context = config.contexts.get(wanted);
  if (context === undefined) throw notFound('context', wanted, config.contexts, where);
  const clusterName = textOf(context.fields['cluster']) ?? '';
  const cluster = config.clusters.get(clusterName);
  if (cluster === undefined) throw notFound('cluster', clusterName, config.clusters, where);
  const userName = textOf(context.fields['user']);
  const user = userName === undefined ? undefined : config.users.get(userName);
  if (userName !== undefined && user === undefined) throw notFound('user', userName, config.users, where);
  return { cluster, user, namespace: textOf(context.fields['namespace']) };
}

/** A scalar as a text: YAML reads a token of digits as a number. Empty ones count as absent. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A nested mapping, if present. */
export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** The content: inline or from a file; inline wins, as in kubectl. */
export async function contentOf(entry: Entry, field: string): Promise<string | Uint8Array | undefined> {
  const inline = textOf(entry.fields[`${field}-data`]);
  if (inline !== undefined) return inline;
  const file = textOf(entry.fields[field]);
  return file === undefined ? undefined : await readListed(pathIn(entry, file), `"${field}" of "${entry.name}"`);
}

/** A path of the kubeconfig, relative to its folder. */
export function pathIn(entry: Entry, path: string): string {
  return isAbsolute(path) ? path : join(entry.folder, path);
}

export async function readListed(path: string, title: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : (error as Error).message;
    throw new LoginError(`${title} in the kubeconfig cannot be read from ${path}: ${why}.`, { cause: error });
  }
}

function collect(into: Map<string, Entry>, list: unknown, key: string, folder: string): void {
  if (!Array.isArray(list)) return;
  for (const item of list) {
    const name = textOf(fieldsOf(item)?.['name']);
    if (name === undefined || into.has(name)) continue;
    into.set(name, { name, fields: fieldsOf(item[key]) ?? {}, folder });
  }
}

async function parsed(file: string): Promise<Fields> {
  const text = (await readKubeconfigFile(file)).toString('utf8');
  // Loaded on demand: most operators run in a cluster, and never need YAML.
  const { parse } = await import('yaml');
  try {
    // The pretty errors quote the lines around, which may hold secrets.
    return fieldsOf(parse(text, { prettyErrors: false, logLevel: 'error' })) ?? {};
  } catch (error) {
    const { message, pos } = error as Error & { pos?: readonly [number, number] };
    const line = pos === undefined ? '' : `:${text.slice(0, pos[0]).split('\n').length}`;
    throw new LoginError(`The kubeconfig ${file}${line} is not valid YAML: ${message}`);
  }
}

async function readKubeconfigFile(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const text = isAbsent
      ? `There is no kubeconfig ${file}. Check the path and the variable KUBECONFIG.`
      : `The kubeconfig ${file} cannot be read: ${(error as Error).message}.`;
    throw new LoginError(text, { cause: error });
  }
}

function notFound(what: string, name: string, among: ReadonlyMap<string, Entry>, where: string): LoginError {
  const known = [...among.keys()].join(', ') || 'none';
  return new LoginError(`There is no ${what} "${name}" in the kubeconfig ${where}. Known: ${known}.`);
}
