/** A webhook configuration in the cluster: one object of one of the two kinds, whether it exists or not. */
import {
  type AnyObject,
  ApiConflictError,
  ApiNotFoundError,
  getOwn,
  type KubeClient,
  type Mapping,
  type ObjectMeta,
  Patch,
  type Resource,
} from '@kopf-ts/core';
import { createObject, makeResource, patchObject, resourceUrl } from '@kopf-ts/core/engine';
import type { AdmissionReason } from './webhook-entries.js';

const GROUP = 'admissionregistration.k8s.io';
const PLURALS: Readonly<Record<AdmissionReason, string>> = {
  validating: 'validatingwebhookconfigurations',
  mutating: 'mutatingwebhookconfigurations',
};

/** By this, configurations that we keep are told from all others. */
export const MARK: Readonly<Record<string, string>> = { 'app.kubernetes.io/managed-by': 'kopf-ts' };

/** How to find the kind among those of the cluster. */
export function configurationSelector(reason: AdmissionReason): { readonly group: string; readonly plural: string } {
  return { group: GROUP, plural: PLURALS[reason] };
}

/** The kind, without looking what there is in the cluster. */
export function configurationResource(reason: AdmissionReason): Resource {
  return makeResource({ group: GROUP, version: 'v1', plural: PLURALS[reason], namespaced: false });
}

/** Is it one of those that we keep? */
export function isMarked({ metadata }: AnyObject): boolean {
  return Object.entries(MARK).every(([key, value]) => getOwn(metadata?.labels ?? {}, key) === value);
}

/** The webhooks of a configuration, as they are there. */
export function webhooksOf(body: AnyObject): readonly Mapping[] {
  const webhooks = getOwn(body, 'webhooks');
  return Array.isArray(webhooks) ? webhooks : [];
}

export interface ConfigurationAddress {
  readonly client: KubeClient;
  readonly resource: Resource;
  readonly name: string;
}

/** What to send. The labels are added to those that are there; the webhooks replace all that are there. */
export interface ConfigurationContent {
  readonly labels?: ObjectMeta['labels'] | undefined;
  readonly webhooks: readonly Mapping[];
  /** If the object is of another version by now, it is a conflict, and nothing is changed. */
  readonly resourceVersion?: string | undefined;
}

/** Creates it with no webhooks in it. Returns nothing if it is there already; fails if it cannot be. */
export async function createConfiguration(
  { client, resource, name }: ConfigurationAddress,
  { labels, signal }: { readonly labels?: ObjectMeta['labels'] | undefined; readonly signal?: AbortSignal | undefined },
): Promise<AnyObject | undefined> {
  const body: AnyObject = { metadata: { name, ...(labels === undefined ? {} : { labels: { ...labels } }) } };
  try {
    return await createObject<AnyObject>(client, resource, { body, signal });
  } catch (error) {
    if (error instanceof ApiConflictError) return undefined;
    throw error;
  }
}

/** Returns the configuration as it is after that, or nothing if there is none. */
export async function patchConfiguration(
  { client, resource, name }: ConfigurationAddress,
  { labels, webhooks, resourceVersion }: ConfigurationContent,
  signal?: AbortSignal,
): Promise<AnyObject | undefined> {
  const metadata = {
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(labels === undefined ? {} : { labels: { ...labels } }),
  };
  const merge = { ...(Object.keys(metadata).length === 0 ? {} : { metadata }), webhooks: [...webhooks] };
  // No logger: the server adds its defaults, so that what comes back is never literally what was sent.
  const { missing, body } = await patchObject(client, resource, { name, patch: new Patch(merge), signal });
  return missing ? undefined : (body ?? {});
}

/** Deletes exactly this one. False if it is not there. */
export async function deleteConfiguration(
  { client, resource, name }: ConfigurationAddress,
  uid: string | undefined,
): Promise<boolean> {
  try {
    await client.request({
      method: 'DELETE',
      path: resourceUrl(resource, { name }),
      contentType: 'application/json',
      ...(uid === undefined ? {} : { body: { preconditions: { uid } } }),
    });
    return true;
  } catch (error) {
    if (error instanceof ApiNotFoundError) return false;
    throw error;
  }
}
