/** Which kinds of objects the cluster serves. */
import { ApiNotFoundError, describeError, KopfError } from '../errors.js';
import type { KubeClient, KubeRequest } from '../seams/client.js';
import type { Logger } from '../seams/logger.js';
import { isMapping, type Mapping } from '../values/json.js';
import { makeResource, type Resource } from '../values/resources/resource.js';

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
 * A group that does not answer (usually, an aggregated API whose server is down), or of which something is malformed, is
 * reported as failed, and does not hold up the others; what is well-formed of it is served. If the cluster itself does not answer, the error is thrown.
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
    logger?.warn(
      `Not all resources could be discovered; these groups do not answer, or answer incorrectly: ${problems.join(', ')}.`,
      {
        failed,
      },
    );
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
  const answer = await get(context, '/api', { accept: AGGREGATED });
  if (isAggregated(answer)) return fromAggregated(context, answer.items, '');
  const versions = checkedArray(answer, 'versions', '/api').filter(
    (version) => isText(version) || malformed(context, '', 'a version without a name'),
  );
  return await discoverVersions(
    context,
    versions.map((version): VersionRef => ({ group: '', version: version as string, preferred: true })),
  );
}

async function discoverNamed(context: Context): Promise<Resource[]> {
  const answer = await get(context, '/apis', { accept: AGGREGATED });
  if (isAggregated(answer)) return fromAggregated(context, answer.items, undefined);
  const refs = checkedArray(answer, 'groups', '/apis').flatMap((item) => {
    const { name, versions, preferredVersion } = isMapping(item) ? item : ({} as Mapping);
    if (!isText(name)) return nothing(context, UNNAMED, 'a group without a name');
    if (!isWanted(name, context.groups)) return [];
    if (!Array.isArray(versions)) return nothing(context, name, 'it has no versions');
    const preferred = isMapping(preferredVersion) ? preferredVersion['version'] : undefined;
    return versions.flatMap((one): VersionRef[] => {
      const version = isMapping(one) ? one['version'] : undefined;
      if (!isText(version)) return nothing(context, name, 'a version without a name');
      return [{ group: name, version, preferred: version === preferred }];
    });
  });
  return await discoverVersions(context, refs);
}

/** What is malformed, belongs to its group only: all others are served. It can be mended, so it is asked for again. */
function malformed({ problems }: Context, group: string, what: string): false {
  problems.set(group, `malformed: ${what}`);
  return false;
}

function nothing(context: Context, group: string, what: string): [] {
  malformed(context, group, what);
  return [];
}

/** How to call a group in logs that has no name. */
const UNNAMED = '(unnamed)';

/** An answer of something else is not an absence of groups: nothing of the cluster is known then. */
function checkedArray(answer: unknown, field: string, path: string): readonly unknown[] {
  const array = isMapping(answer) ? answer[field] : undefined;
  if (Array.isArray(array)) return array;
  throw new KopfError(`The server answered GET ${path} with something other than the API ${field}.`, {
    code: 'KOPF_BAD_DISCOVERY',
  });
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Absent, or a list of texts. */
function isOptionalTexts(value: unknown): value is readonly string[] | null | undefined {
  return value === undefined || value === null || (Array.isArray(value) && value.every((item) => isText(item)));
}

async function get(context: Context, path: string, extra: Partial<KubeRequest> = {}): Promise<unknown> {
  const { client, signal, retries } = context;
  return await client.request({
    method: 'GET',
    path,
    ...(retries === undefined ? {} : { retries }),
    ...extra,
    ...(signal === undefined ? {} : { signal }),
  });
}

// ------------------------------------------------------------------------------------------------- everything in one go

interface AggregatedGroups {
  readonly items: readonly unknown[];
}

function isAggregated(answer: unknown): answer is AggregatedGroups {
  return isMapping(answer) && answer['kind'] === 'APIGroupDiscoveryList' && Array.isArray(answer['items']);
}

/** The core group has no name; all others must have one. */
function fromAggregated(context: Context, items: readonly unknown[], defaultName: '' | undefined): Resource[] {
  return items.flatMap((item) => {
    const { metadata, versions } = isMapping(item) ? item : ({} as Mapping);
    const group = (isMapping(metadata) ? metadata['name'] : undefined) ?? defaultName;
    if (typeof group !== 'string' || (group === '' && defaultName !== '')) {
      return nothing(context, UNNAMED, 'a group without a name');
    }
    if (!isWanted(group, context.groups)) return [];
    if (versions !== undefined && !Array.isArray(versions))
      return nothing(context, group, 'its versions are not a list');
    // The preferred one goes first.
    return (versions ?? []).flatMap((version, index) =>
      fromAggregatedVersion(context, version, { group, preferred: group === '' || index === 0 }),
    );
  });
}

function fromAggregatedVersion(context: Context, item: unknown, of: Omit<VersionRef, 'version'>): Resource[] {
  const { version, freshness, resources } = isMapping(item) ? item : ({} as Mapping);
  if (!isText(version)) return nothing(context, of.group, 'a version without a name');
  // The server of the group is down; what it has told before is still better than nothing.
  if (freshness === 'Stale') context.problems.set(of.group, `${version} is stale`);
  if (resources !== undefined && resources !== null && !Array.isArray(resources)) {
    return nothing(context, of.group, `resources of ${version} are not a list`);
  }
  return (resources ?? []).flatMap((entry) => fromAggregatedResource(context, entry, { ...of, version }));
}

function fromAggregatedResource(context: Context, item: unknown, ref: VersionRef): Resource[] {
  const entry = isMapping(item) ? item : ({} as Mapping);
  const kind = isMapping(entry['responseKind']) ? entry['responseKind']['kind'] : undefined;
  const { verbs, subresources } = entry;
  // Some are only there to hold their subresources. They have no kind, and nothing can be done to them.
  const isHolder = !kind && isOptionalTexts(verbs) && !verbs?.length && isText(entry['resource']);
  if (isHolder) return [];
  const names = isListOrAbsent(subresources)
    ? (subresources ?? []).map((one) => (isMapping(one) ? one['subresource'] : undefined))
    : undefined;
  return resourceOf(context, ref, {
    plural: entry['resource'],
    kind,
    singular: entry['singularResource'],
    shortNames: entry['shortNames'],
    categories: entry['categories'],
    verbs,
    subresources: names,
    namespaced: entry['scope'] === 'Namespaced',
  });
}

// ------------------------------------------------------------------------------------------------- version by version

/** A resource as the cluster has described it, in either form; not believed yet. */
interface Described {
  readonly plural: unknown;
  readonly kind: unknown;
  readonly singular: unknown;
  readonly shortNames: unknown;
  readonly categories: unknown;
  readonly verbs: unknown;
  readonly subresources: unknown;
  readonly namespaced: unknown;
}

/** None if it is malformed: then it is reported, and all others are served. */
function resourceOf(context: Context, ref: VersionRef, described: Described): Resource[] {
  const { plural, kind, singular, shortNames, categories, verbs, subresources, namespaced } = described;
  if (!isText(plural)) return nothing(context, ref.group, `an entry of ${ref.version} without a name`);
  if (!isText(kind)) return nothing(context, ref.group, `${plural} of ${ref.version} without a kind`);
  const areListsFine =
    isOptionalTexts(shortNames) &&
    isOptionalTexts(categories) &&
    isOptionalTexts(verbs) &&
    isOptionalTexts(subresources);
  if (!areListsFine || typeof namespaced !== 'boolean') {
    return nothing(context, ref.group, `${plural} of ${ref.version} with fields of wrong types`);
  }
  return [
    makeResource({
      ...ref,
      plural,
      kind,
      singular: isText(singular) ? singular : kind.toLowerCase(),
      shortcuts: shortNames ?? undefined,
      categories: categories ?? undefined,
      subresources: subresources ?? undefined,
      namespaced,
      verbs: verbs ?? undefined,
    }),
  ];
}

function isListOrAbsent(value: unknown): value is readonly unknown[] | null | undefined {
  return value === undefined || value === null || Array.isArray(value);
}

async function discoverVersions(context: Context, refs: readonly VersionRef[]): Promise<Resource[]> {
  const all = await Promise.all(refs.map((ref) => discoverVersion(context, ref)));
  return all.flat();
}

async function discoverVersion(context: Context, ref: VersionRef): Promise<Resource[]> {
  const path = ref.group === '' ? `/api/${ref.version}` : `/apis/${ref.group}/${ref.version}`;
  let entries: readonly Mapping[];
  try {
    // One request only: retrying a group that is down would hold up all the others.
    const answer = await get(context, path, { retries: 'none' });
    const resources = isMapping(answer) ? answer['resources'] : undefined;
    // Empty lists of servers in Go may be `null`.
    const listed = resources === null ? [] : checkedArray(answer, 'resources', path);
    entries = listed.map((entry) => (isMapping(entry) ? entry : {}));
  } catch (error) {
    if (context.signal?.aborted) throw error;
    // It was there a moment ago: it must have been removed in between.
    if (!(error instanceof ApiNotFoundError)) context.problems.set(ref.group, describeError(error));
    return [];
  }
  const names = entries.map(({ name }) => name).filter(isText);
  const isSubresource = ({ name }: Mapping): boolean => isText(name) && name.includes('/');
  return entries
    .filter((entry) => !isSubresource(entry))
    .flatMap((entry) =>
      resourceOf(context, ref, {
        plural: entry['name'],
        kind: entry['kind'],
        singular: entry['singularName'],
        shortNames: entry['shortNames'],
        categories: entry['categories'],
        verbs: entry['verbs'],
        subresources: names
          .filter((name) => name.startsWith(`${String(entry['name'])}/`))
          .map((name) => name.slice(String(entry['name']).length + 1)),
        namespaced: entry['namespaced'],
      }),
    );
}
