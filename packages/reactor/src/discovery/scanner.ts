/** The kinds of the cluster as found by the last scans. */
import type { KubeClient, Logger, Resource } from '@kopf-ts/core';
import { deepEqual } from '@kopf-ts/core';
import { type Discovery, discover, makeResource, resourceKey } from '@kopf-ts/core/engine';

export interface Scanner {
  readonly resources: readonly Resource[];
  /**
   * Scans these groups, or all. Returns the groups with incomplete answers: earlier knowledge of them is kept. Throws
   * if the cluster does not respond at all. There are no retries.
   */
  scan(groups: ReadonlySet<string> | undefined, signal: AbortSignal): Promise<ReadonlySet<string>>;
}

export function scanner({ client, logger }: { readonly client: KubeClient; readonly logger: Logger }): Scanner {
  let resources: readonly Resource[] = [];
  /** The failing groups: reported when they begin to fail and when they recover. */
  const silent = new Set<string>();
  return {
    get resources() {
      return resources;
    },
    async scan(groups, signal) {
      const discovery = await discover(client, { groups, signal, retries: 'none' });
      signal.throwIfAborted();
      resources = mergeDiscovery(resources, discovery, groups);
      const { problems } = discovery;
      const news = [...problems].filter(([group]) => !silent.has(group));
      if (news.length > 0) {
        const described = news.map(([group, problem]) => `${group || 'core'} (${problem})`).join(', ');
        logger.warn(
          `Not all resources could be discovered; these groups do not answer, or answer incorrectly: ${described}. ` +
            'They are asked again later; what is already known of them is served.',
        );
      }
      for (const group of silent) {
        if (problems.has(group) || (groups !== undefined && !groups.has(group))) continue;
        silent.delete(group);
        logger.info(`The resources of the group ${group || 'core'} can be discovered again.`);
      }
      for (const [group] of news) silent.add(group);
      return new Set(problems.keys());
    },
  };
}

/**
 * The knowledge after a scan of these groups, or of all. Unchanged descriptions keep their identity, so that streams
 * and caches that refer to them are not disturbed.
 */
export function mergeDiscovery(
  known: readonly Resource[],
  { resources: found, failed }: Pick<Discovery, 'resources' | 'failed'>,
  groups: ReadonlySet<string> | undefined,
): readonly Resource[] {
  const knownByKey = new Map(known.map((resource) => [resourceKey(resource), resource]));
  const foundKeys = new Set(found.map((resource) => resourceKey(resource)));
  const isUndisputed = (resource: Resource): boolean =>
    (groups !== undefined && !groups.has(resource.group)) ||
    (failed.includes(resource.group) && !foundKeys.has(resourceKey(resource)));
  return [
    ...known.filter(isUndisputed),
    ...found.map(unlessTerminating).map((resource) => {
      const before = knownByKey.get(resourceKey(resource));
      return before !== undefined && isTheSame(before, resource) ? before : resource;
    }),
  ];
}

const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const TERMINATING_VERBS: ReadonlySet<string> = new Set(['delete', 'deletecollection', 'get', 'list', 'watch']);

/**
 * While a definition with remaining objects is being deleted, the server does not list the verb "patch" for them. Yet
 * patching works, and is needed if the objects wait for our finalizer: otherwise, the definition is never deleted.
 */
function unlessTerminating(resource: Resource): Resource {
  const { verbs } = resource;
  const isTerminating =
    verbs.size === TERMINATING_VERBS.size && [...verbs].every((verb) => TERMINATING_VERBS.has(verb));
  return isTerminating ? makeResource({ ...resource, verbs: ALL_VERBS }) : resource;
}

function isTheSame(one: Resource, two: Resource): boolean {
  return deepEqual(comparable(one), comparable(two));
}

function comparable(resource: Resource): unknown {
  const fields = Object.entries(resource).map(([name, value]: [string, unknown]) => [
    name,
    value instanceof Set ? [...value].sort() : value,
  ]);
  return Object.fromEntries(fields);
}
