/** Removing webhook configurations that nobody serves any more: for when there is no operator to do it. */
import {
  type AnyObject,
  ApiConflictError,
  ApiForbiddenError,
  ApiNotFoundError,
  type KubeClient,
  type Logger,
} from '@kopf-ts/core';
import { list } from '@kopf-ts/core/engine';
import {
  type ConfigurationAddress,
  configurationResource,
  deleteConfiguration,
  isMarked,
  patchConfiguration,
  webhooksOf,
} from './configuration-object.js';
import { titleOf } from './observation.js';
import type { AdmissionReason } from './webhook-entries.js';

/**
 * Which configurations are removed.
 *
 * ```ts
 * const options: kopf.webhooks.ReleaseWebhooksOptions = { client, name: 'kopfexamples.example.com', dryRun: true };
 * ```
 */
export interface ReleaseWebhooksOptions {
  readonly client: KubeClient;
  /** The name of the configurations, of both kinds and of any origin; by default, all that kopf-ts keeps. */
  readonly name?: string | undefined;
  /** Only look what there is. */
  readonly dryRun?: boolean | undefined;
  readonly logger?: Logger | undefined;
}

/**
 * One configuration that was there, and what was done to it.
 *
 * ```ts
 * const shown = ({ name, action }: kopf.webhooks.ReleasedWebhooks): string => `${name} is ${action}.`;
 * ```
 */
export interface ReleasedWebhooks {
  readonly reason: AdmissionReason;
  readonly name: string;
  /** The names of the webhooks in it. */
  readonly webhooks: readonly string[];
  /**
   * `'deleted'`; `'emptied'` if it is not permitted to delete it, but to change it: without webhooks, it blocks
   * nothing; `'found'` if it was only looked for.
   */
  readonly action: 'deleted' | 'emptied' | 'found';
}

/**
 * Removes the webhook configurations: by name, or all those that carry our mark. They can be left by operators that
 * were killed, and block the objects that they are for; running operators restore theirs at once, if they can watch
 * them. Persistent webhooks go as well. It is fine if there are none, or if the cluster knows no such things at all.
 *
 * ```ts
 * for (const { name, action } of await kopf.webhooks.releaseWebhooks({ client })) logger.info(`${name}: ${action}`);
 * ```
 */
export async function releaseWebhooks(options: ReleaseWebhooksOptions): Promise<readonly ReleasedWebhooks[]> {
  const released: ReleasedWebhooks[] = [];
  for (const reason of ['validating', 'mutating'] as const) {
    for (const body of await findConfigurations(options, reason)) {
      const done = await release(options, reason, body);
      if (done !== undefined) released.push(done);
    }
  }
  return released;
}

async function findConfigurations(
  { client, name, dryRun = false }: ReleaseWebhooksOptions,
  reason: AdmissionReason,
): Promise<readonly AnyObject[]> {
  const fieldSelector = name === undefined ? undefined : `metadata.name=${name}`;
  try {
    const { items } = await list(client, configurationResource(reason), { fieldSelector });
    return items.filter((body) => (name === undefined ? isMarked(body) : body.metadata?.name === name));
  } catch (error) {
    if (error instanceof ApiNotFoundError) return [];
    // If we may not look, but know the name, then there is still a chance.
    if (error instanceof ApiForbiddenError && name !== undefined && !dryRun) return [{ metadata: { name } }];
    throw error;
  }
}

async function release(
  { client, dryRun = false, logger }: ReleaseWebhooksOptions,
  reason: AdmissionReason,
  body: AnyObject,
): Promise<ReleasedWebhooks | undefined> {
  const name = body.metadata?.name ?? '';
  const at = { client, resource: configurationResource(reason), name };
  const action = dryRun ? 'found' : await remove(at, body.metadata?.uid);
  if (action === undefined) return undefined;
  const webhooks = webhooksOf(body).map((webhook) => String(webhook['name']));
  logger?.info(`The ${titleOf(at.resource, name)} is ${action}; its webhooks: ${webhooks.join(', ') || 'none'}.`);
  return { reason, name, webhooks, action };
}

async function remove(at: ConfigurationAddress, uid: string | undefined): Promise<'deleted' | 'emptied' | undefined> {
  try {
    return (await deleteConfiguration(at, uid)) ? 'deleted' : undefined;
  } catch (error) {
    // Somebody has created another one meanwhile: that is a living one.
    if (error instanceof ApiConflictError) return undefined;
    if (!(error instanceof ApiForbiddenError)) throw error;
  }
  return (await patchConfiguration(at, { webhooks: [] })) === undefined ? undefined : 'emptied';
}
