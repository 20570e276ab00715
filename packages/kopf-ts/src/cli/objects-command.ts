/** Commands about single objects: with the user's credentials, and through the operator if it is reachable. */
import { readFile } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import type { Explained, ObjectChoice, OperatorWay } from '@kopf-ts/cli';
import {
  type AnyObject,
  ApiNotFoundError,
  type Clock,
  KopfError,
  type KubeClient,
  type Logger,
  type Resource,
} from '@kopf-ts/core';
import { discover, formatResource, parseSelector, resourceUrl } from '@kopf-ts/core/engine';
import {
  type ActionTarget,
  actions,
  askAction,
  askWhy,
  explain,
  marksOf,
  portForward,
  type WayToAdmin,
} from '@kopf-ts/insight';
import { defaultSettings, withStorages } from '../defaults.js';

export interface CommandParts {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of the kubeconfig. */
  readonly namespace: string | undefined;
}

const DEFAULT_PORT = 8083;

export async function explainForCli(choice: ObjectChoice & OperatorWay, parts: CommandParts): Promise<Explained> {
  const { client, clock } = parts;
  const { resource, namespace, name } = await targetOf(choice, parts);
  const body = await bodyOf(client, resource, namespace, name);
  const settings = withStorages(defaultSettings());
  const marks = body === undefined ? null : await marksOf({ body, resource, settings });
  const object = { resource: titleOf(resource), kind: resource.kind, namespace, name };
  const way = await wayTo(choice, client);
  const answer = way === undefined ? undefined : await askWhy(way, object);
  return explain({ object, ...answer, marks, utc: clock.utc() });
}

export async function retryForCli(choice: ObjectChoice & OperatorWay, parts: CommandParts): Promise<boolean> {
  const { resource, namespace, name } = await targetOf(choice, parts);
  const way = await wayTo(choice, parts.client);
  if (way === undefined) throw problem('The operator cannot be reached.', 'KOPF_ADMIN');
  const { isChanged } = await askAction(way, {
    action: 'retry',
    resource: titleOf(resource),
    namespace,
    name,
    by: person(),
  });
  return isChanged;
}

export async function pauseForCli(
  choice: ObjectChoice & { readonly seconds: number },
  parts: CommandParts,
): Promise<Date> {
  const target = await targetOf(choice, parts);
  return await actions({ ...parts, settings: defaultSettings() }).pause({ ...target, seconds: choice.seconds });
}

export async function resumeForCli(choice: ObjectChoice, parts: CommandParts): Promise<boolean> {
  const target = await targetOf(choice, parts);
  return await actions({ ...parts, settings: defaultSettings() }).resume(target);
}

async function targetOf({ kind, name, namespace }: ObjectChoice, parts: CommandParts): Promise<ActionTarget> {
  const { resources, failed } = await discover(parts.client);
  const found = [...parseSelector(kind).select(resources)];
  if (found.length === 0) {
    const why = failed.length > 0 ? ` But these groups do not answer: ${failed.join(', ')}.` : '';
    throw problem(`There is no kind "${kind}" in the cluster.${why}`, 'KOPF_NO_KIND');
  }
  const [resource] = found;
  if (resource === undefined || found.length > 1) {
    const kinds = found.map((one) => formatResource(one)).join(', ');
    throw problem(`Several kinds are named "${kind}": ${kinds}. Say which one.`, 'KOPF_AMBIGUOUS_KIND');
  }
  const place = resource.namespaced === false ? undefined : (namespace ?? parts.namespace ?? 'default');
  return { resource, namespace: place, name, by: person() };
}

async function bodyOf(
  client: KubeClient,
  resource: Resource,
  namespace: string | undefined,
  name: string,
): Promise<AnyObject | undefined> {
  try {
    return await client.request<AnyObject>({ method: 'GET', path: resourceUrl(resource, { namespace, name }) });
  } catch (error) {
    if (error instanceof ApiNotFoundError) return undefined;
    throw error;
  }
}

async function wayTo(
  { admin, pod, port = DEFAULT_PORT, tokenFile, tokenSecret }: OperatorWay,
  client: KubeClient,
): Promise<WayToAdmin | undefined> {
  if (admin === undefined && pod === undefined) return undefined;
  const token =
    tokenFile === undefined ? await secretToken(tokenSecret, client) : firstToken(await readFile(tokenFile, 'utf8'));
  if (pod === undefined) return { url: String(admin), token };
  const [namespace = '', name = ''] = pod.split('/');
  return { url: `http://127.0.0.1:${port}`, token, connect: () => portForward(client, { namespace, pod: name, port }) };
}

async function secretToken(secret: string | undefined, client: KubeClient): Promise<string | undefined> {
  if (secret === undefined) return undefined;
  const [namespace = '', name = ''] = secret.split('/').map(encodeURIComponent);
  const path = `/api/v1/namespaces/${namespace}/secrets/${name}`;
  const { data } = await client.request<{ data?: Record<string, string> }>({ method: 'GET', path });
  const text = data?.['token'];
  if (text === undefined) throw problem(`The Secret ${secret} has no field "token".`, 'KOPF_NO_TOKEN');
  return firstToken(Buffer.from(text, 'base64').toString());
}

/** The token file of the operator works as it is: the first token is taken, without its scope. */
function firstToken(text: string): string | undefined {
  return text.trim().split(/\s+/)[0];
}

function titleOf({ plural, group }: Resource): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/** Who acts, for the operator's records. */
function person(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return hostname();
  }
}

function problem(message: string, code: string): KopfError {
  return new KopfError(message, { code });
}
