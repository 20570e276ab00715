/** Webhook configurations, as administrators see them. */
import type { AnyObject, KubeClient, Mapping } from '@kopf-ts/core';
import { absentIfNotFound } from '../../support/operators/kinds.js';

export type Reason = 'validating' | 'mutating';

const pathOf = (reason: Reason, name: string): string =>
  `/apis/admissionregistration.k8s.io/v1/${reason}webhookconfigurations/${name}`;

export interface Configuration {
  get(): Promise<AnyObject | undefined>;
  /** All that there are, but those of the tests themselves; by the first parts of their names. */
  webhooks(): Promise<Readonly<Record<string, Mapping>>>;
  /** A merge-patch. */
  patch(patch: object): Promise<AnyObject>;
  delete(): Promise<void>;
}

/** One configuration of the cluster, be it there or not. */
export function configuration(client: KubeClient, reason: Reason, name: string): Configuration {
  const path = pathOf(reason, name);
  const get = (): Promise<AnyObject | undefined> =>
    absentIfNotFound(client.request<AnyObject>({ method: 'GET', path }));
  return {
    get,
    async webhooks() {
      const webhooks: readonly Mapping[] = (await get())?.['webhooks'] ?? [];
      const named = webhooks.map((webhook) => [String(webhook['name']).replace(`.${name}`, ''), webhook] as const);
      return Object.fromEntries(named.filter(([id]) => !id.startsWith('probe-')));
    },
    patch: (body) => client.request({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' }),
    async delete() {
      await absentIfNotFound(client.request({ method: 'DELETE', path }));
    },
  };
}
