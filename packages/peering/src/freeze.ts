/** Pausing operators by hand, and letting them go on: the records of a person among those of operators. */
import { type Clock, KopfError, type KubeClient, type Resource, type Seconds } from '@kopf-ts/core';
import {
  describeError,
  discover,
  exactNamespaces,
  list,
  makeResource,
  matchesAnyNamespace,
  type NamespacePattern,
} from '@kopf-ts/core/engine';
import { detectIdentity } from './identity/identity.js';
import { type PeeringSelector, peeringSelectors } from './kopf/kopf-peering.js';
import { describePeering, type PeeringAddress, removeRecords, touch, type Written } from './kopf/peering-records.js';
import type { Peer } from './kopf/peers.js';

/**
 * Which operators go on, and on whose behalf.
 *
 * ```ts
 * const options: kopf.peering.ResumeOptions = { client, name: 'default', identity: 'alice@laptop' };
 * ```
 */
export interface ResumeOptions {
  readonly client: KubeClient;
  /** The name of the peering objects. */
  readonly name: string;
  /** Peerings of these namespaces; of the whole cluster unless given. */
  readonly namespaces?: readonly NamespacePattern[] | undefined;
  /** Whose record it is: to be told for both freezing and resuming. Default: `user@host`. */
  readonly identity?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * For how long, how firmly and why operators pause.
 *
 * ```ts
 * const options: kopf.peering.FreezeOptions = { client, clock, name: 'default', lifetime: 600, priority: 1000 };
 * ```
 */
export interface FreezeOptions extends ResumeOptions {
  readonly clock: Pick<Clock, 'utc'>;
  /** For how long the operators stay paused unless resumed. */
  readonly lifetime: Seconds;
  /** Operators of lower priorities pause; those of the same one, too. Default: 100. */
  readonly priority?: number | undefined;
  /** Why: paused operators have it in their logs. */
  readonly message?: string | undefined;
}

/**
 * What was done: the identity that was used, and the peering objects that were changed.
 *
 * ```ts
 * const { identity, peerings }: kopf.peering.Announcement = await kopf.peering.resume({ client, name: 'default' });
 * logger.info(`${identity}: ${peerings.join(', ')}`);
 * ```
 */
export interface Announcement {
  readonly identity: string;
  /** In words: `'default' in 'ns1'`. */
  readonly peerings: readonly string[];
}

const FREEZING_PRIORITY = 100;
const NAMESPACES = makeResource({ group: '', version: 'v1', plural: 'namespaces', namespaced: false });

/**
 * Makes the operators pause until {@link resume} or the end of the lifetime. Fails if the operators of any of the
 * namespaces cannot be told: there is no such kind, no such object, or an error. The others are told all the same.
 *
 * ```ts
 * await kopf.peering.freeze({ client, clock, name: 'default', lifetime: 3600, message: 'Maintenance until noon.' });
 * ```
 */
export async function freeze(options: FreezeOptions): Promise<Announcement> {
  const { lifetime, priority = FREEZING_PRIORITY, message, clock } = options;
  if (!Number.isInteger(lifetime) || lifetime <= 0)
    throw new KopfError(`The lifetime must be a whole number of seconds, not ${lifetime}.`, {
      code: 'KOPF_BAD_LIFETIME',
    });
  return await announce(options, (at, identity) => {
    const peer: Peer = { identity, priority, lifetime, lastseen: clock.utc(), message };
    return touch(at, peer, options.signal);
  });
}

/**
 * Takes the record of {@link freeze} back, if there is any. Fails as freezing does.
 *
 * ```ts
 * await kopf.peering.resume({ client, name: 'default', namespaces: ['shop', 'billing'] });
 * ```
 */
export async function resume(options: ResumeOptions): Promise<Announcement> {
  return await announce(options, (at, identity) => removeRecords(at, [identity], { signal: options.signal }));
}

async function announce(
  options: ResumeOptions,
  write: (at: PeeringAddress, identity: string) => Promise<Written>,
): Promise<Announcement> {
  const { client, name } = options;
  const identity = options.identity ?? (await detectIdentity({ manual: true }));
  const resources = await findResources(options);
  const namespaces = await findNamespaces(options);
  const peerings: string[] = [];
  const problems: string[] = [];
  for (const namespace of namespaces) {
    const title = describePeering({ name, namespace });
    const writes = resources.map((resource) => write({ client, resource, namespace, name }, identity));
    const outcomes = await Promise.allSettled(writes);
    const errors = outcomes.flatMap((one) => (one.status === 'rejected' ? [describeError(one.reason)] : []));
    const isWritten = outcomes.some((one) => one.status === 'fulfilled' && one.value !== undefined);
    if (errors.length > 0) problems.push(`${title}: ${errors.join('; ')}`);
    // With both groups in the cluster, it is enough to have the object in one of them: operators look there, too.
    else if (!isWritten) problems.push(`${title}: there is no such object`);
    if (isWritten) peerings.push(title);
  }
  if (problems.length > 0)
    throw new KopfError(`Cannot change the peering ${problems.join('; ')}.`, { code: 'KOPF_PEERING_NOT_CHANGED' });
  return { identity, peerings };
}

async function findResources({ client, namespaces, signal }: ResumeOptions): Promise<readonly Resource[]> {
  const selectors = peeringSelectors({ clusterwide: namespaces === undefined });
  const groups = new Set(selectors.map(({ group }) => group));
  const { resources } = await discover(client, { groups, signal });
  const found = resources.filter((resource) => selectors.some((selector) => isMeant(resource, selector)));
  if (found.length > 0) return found;
  const kinds = selectors.map(({ plural, version, group }) => `${plural}.${version}.${group}`).join(' or ');
  throw new KopfError(`Cannot find the peering resource: the cluster has no ${kinds}.`, {
    code: 'KOPF_NO_PEERING_RESOURCE',
  });
}

function isMeant(resource: Resource, { group, version, plural }: PeeringSelector): boolean {
  return resource.group === group && resource.version === version && resource.plural === plural;
}

async function findNamespaces(options: ResumeOptions): Promise<readonly (string | undefined)[]> {
  const { client, namespaces: patterns, signal } = options;
  if (patterns === undefined) return [undefined];
  const exact = exactNamespaces(patterns);
  if (exact.length > 0 && exact.length === patterns.length) return exact;
  const { items } = await list(client, NAMESPACES, { signal });
  const names = items.map(({ metadata }) => metadata?.name ?? '');
  const found = names.filter((name) => matchesAnyNamespace(name, patterns));
  if (found.length > 0) return found;
  throw new KopfError(`No namespace matches ${patterns.join(', ')}.`, { code: 'KOPF_NO_NAMESPACES' });
}
