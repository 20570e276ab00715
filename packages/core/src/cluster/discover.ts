/** Which kinds of objects the cluster serves. */
import { ApiNotFoundError, describeError } from '../errors.js';
import type { KubeClient, KubeRequest } from '../seams/client.js';
import type { Logger } from '../seams/logger.js';
import { makeResource, type Resource } from '../values/resource.js';

export interface DiscoverOptions {
  /** Only these groups, with an empty string for the core one; all of them unless given. */
  readonly groups?: ReadonlySet<string> | undefined;
  readonly logger?: Logger | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For callers with a retrying loop of their own; see the client. */
  readonly retries?: KubeRequest['retries'] | undefined;
}

export interface Discovery {
  readonly resources: readonly Resource[];
  /** The groups of which the cluster could not tell everything. Worth asking again later. */
  readonly failed: readonly string[];
  /** What is wrong with each of them, in words. */
  readonly problems: ReadonlyMap<string, string>;
}

/**
 * Asks the cluster for its resources: in one or two requests where it can answer so, else in one per version.
 *
 * A group that does not answer (usually, an aggregated API whose server is down) is reported as failed, and does
 * not hold up the others. If the cluster itself does not answer, the error is thrown.
 */
export async function discover(client: KubeClient, options: DiscoverOptions = {}): Promise<Discovery> {
  const { groups, logger, signal, retries } = options;
  const context: Context = { client, groups, signal, retries, problems: new Map() };
  const namedGroupsAreWanted = groups === undefined || [...groups].some((group) => group !== '');
  const [core, named] = await Promise.all([
    isWanted('', groups) ? discoverCore(context) : [],
    namedGroupsAreWanted ? discoverNamed(context) : [],
  ]);
  const failed = [...context.problems.keys()];
  if (failed.length > 0) {
    const problems = [...context.problems].map(([group, problem]) => `${group || 'core'} (${problem})`);
    logger?.warn(`Not all resources could be discovered; these groups do not answer: ${problems.join(', ')}.`, {
      failed,
    });
  }
  return { resources: [...core, ...named], failed, problems: context.problems };
}

interface Context {
  readonly client: KubeClient;
  readonly groups: ReadonlySet<string> | undefined;
  readonly signal: AbortSignal | undefined;
  readonly retries: KubeRequest['retries'] | undefined;
  /** What is wrong with which group. */
  readonly problems: Map<string, string>;
}

function isWanted(group: string, groups: ReadonlySet<string> | undefined): boolean {
  return groups === undefined || groups.has(group);
}

// ---------------------------------------------------------------------------------------------------- the entry points

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

interface VersionRef {
  readonly group: string;
  readonly version: string;
  readonly preferred: boolean;
}

async function discoverCore(context: Context): Promise<Resource[]> {
  const answer = await get<Partial<AggregatedGroups> & { versions?: string[] }>(context, '/api', {
    accept: AGGREGATED,
  });
  if (isAggregated(answer)) return fromAggregated(context, answer);
  const versions = (answer.versions ?? []).map((version): VersionRef => ({ group: '', version, preferred: true }));
  return await discoverVersions(context, versions);
}

async function discoverNamed(context: Context): Promise<Resource[]> {
  const answer = await get<Partial<AggregatedGroups> & { groups?: ApiGroup[] }>(context, '/apis', {
    accept: AGGREGATED,
  });
  if (isAggregated(answer)) return fromAggregated(context, answer);
  const versions = (answer.groups ?? [])
    .filter(({ name }) => isWanted(name, context.groups))
    .flatMap(({ name, versions, preferredVersion }) =>
      versions.map(
        ({ version }): VersionRef => ({ group: name, version, preferred: version === preferredVersion?.version }),
      ),
    );
  return await discoverVersions(context, versions);
}

async function get<T>(context: Context, path: string, extra: Partial<KubeRequest> = {}): Promise<T> {
  const { client, signal, retries } = context;
  return await client.request<T>({
    method: 'GET',
    path,
    ...(retries === undefined ? {} : { retries }),
    ...extra,
    ...(signal === undefined ? {} : { signal }),
  });
}

// ------------------------------------------------------------------------------------------------- everything in one go

interface AggregatedGroups {
  readonly kind: 'APIGroupDiscoveryList';
  readonly items: readonly {
    readonly metadata?: { readonly name?: string };
    /** The preferred one goes first. */
    readonly versions?: readonly AggregatedVersion[];
  }[];
}

interface AggregatedVersion {
  readonly version: string;
  readonly freshness?: 'Current' | 'Stale';
  readonly resources?: readonly AggregatedResource[];
}

interface AggregatedResource {
  readonly resource: string;
  readonly responseKind?: { readonly kind?: string } | null;
  readonly scope?: 'Namespaced' | 'Cluster';
  readonly singularResource?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly verbs?: readonly string[];
  readonly subresources?: readonly { readonly subresource: string }[];
}

function isAggregated(answer: object): answer is AggregatedGroups {
  return (answer as Partial<AggregatedGroups>).kind === 'APIGroupDiscoveryList';
}

function fromAggregated({ groups, problems }: Context, answer: AggregatedGroups): Resource[] {
  return answer.items.flatMap((item) => {
    const group = item.metadata?.name ?? '';
    if (!isWanted(group, groups)) return [];
    return (item.versions ?? []).flatMap((version, index) => {
      // The server of the group is down; what it has told before is still better than nothing.
      if (version.freshness === 'Stale') problems.set(group, `${version.version} is stale`);
      return (version.resources ?? [])
        .filter((resource) => resource.responseKind?.kind)
        .map((resource) =>
          fromAggregatedResource(resource, { group, version: version.version, preferred: group === '' || index === 0 }),
        );
    });
  });
}

function fromAggregatedResource(entry: AggregatedResource, ref: VersionRef): Resource {
  const kind = entry.responseKind?.kind;
  return makeResource({
    ...ref,
    plural: entry.resource,
    kind,
    singular: entry.singularResource || kind?.toLowerCase(),
    shortcuts: entry.shortNames,
    categories: entry.categories,
    subresources: entry.subresources?.map(({ subresource }) => subresource),
    namespaced: entry.scope === 'Namespaced',
    verbs: entry.verbs,
  });
}

// ------------------------------------------------------------------------------------------------- version by version

interface ApiGroup {
  readonly name: string;
  readonly versions: readonly { readonly version: string }[];
  readonly preferredVersion?: { readonly version: string };
}

interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly singularName?: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly verbs?: readonly string[];
}

async function discoverVersions(context: Context, refs: readonly VersionRef[]): Promise<Resource[]> {
  const all = await Promise.all(refs.map((ref) => discoverVersion(context, ref)));
  return all.flat();
}

async function discoverVersion(context: Context, ref: VersionRef): Promise<Resource[]> {
  const path = ref.group === '' ? `/api/${ref.version}` : `/apis/${ref.group}/${ref.version}`;
  let entries: readonly ApiResource[];
  try {
    // One attempt only: retrying a group that is down would hold up all the others.
    const answer = await get<{ resources?: ApiResource[] | null }>(context, path, { retries: 'none' });
    entries = answer.resources ?? [];
  } catch (error) {
    if (context.signal?.aborted) throw error;
    // It was there a moment ago: it must have been removed in between.
    if (!(error instanceof ApiNotFoundError)) context.problems.set(ref.group, describeError(error));
    return [];
  }
  const isSubresource = (entry: ApiResource) => entry.name.includes('/');
  return entries
    .filter((entry) => !isSubresource(entry))
    .map((entry) =>
      makeResource({
        ...ref,
        plural: entry.name,
        kind: entry.kind,
        singular: entry.singularName || entry.kind.toLowerCase(),
        shortcuts: entry.shortNames,
        categories: entry.categories,
        subresources: entries
          .filter(({ name }) => name.startsWith(`${entry.name}/`))
          .map(({ name }) => name.slice(entry.name.length + 1)),
        namespaced: entry.namespaced,
        verbs: entry.verbs,
      }),
    );
}
