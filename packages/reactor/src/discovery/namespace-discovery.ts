/** Service: finds the namespaces to serve, and notices as they come and go. */
import type { AnyObject, Logger, Seconds, Service } from '@kopf-ts/core';
import {
  didYouMean,
  exactNamespaces,
  matchesAnyNamespace,
  missingRule,
  type NamespacePattern,
  untilAborted,
  type WatchSignal,
  watchTarget,
} from '@kopf-ts/core/engine';
import type { DiscoveryParts } from './discovery-parts.js';
import { type Refusal, watchIfPermitted } from './permitted-watch.js';

/** Its name in the probes. */
const REQUIREMENT = 'namespaces known';
const NAMESPACES = { group: '', plural: 'namespaces' };

/** How often to check whether watching is permitted by now. */
const RECHECK: Seconds = 600;

/** Makes it known which namespaces to serve. */
type Serve = (namespaces: Iterable<string | null>) => void;

/** The namespaces to serve: by name, among those that the server selects. */
export interface WantedNamespaces {
  readonly patterns: readonly NamespacePattern[];
  /** As in the requests: `tenant,stage in (test,live)`. */
  readonly labelSelector?: string | undefined;
}

/** Without namespace patterns, the whole cluster is served, whatever namespaces exist. */
export function namespaceDiscovery(parts: DiscoveryParts, wanted: WantedNamespaces | undefined): Service {
  return {
    name: 'namespace discovery',
    async run(signal) {
      const requirement = parts.health.demand(REQUIREMENT);
      const serve: Serve = (namespaces) => {
        parts.insights.revise({ namespaces: new Set(namespaces) });
        requirement.turn(true);
      };
      try {
        if (wanted === undefined) serve([null]);
        else if (parts.settings.scanning.disabled) serveExactNames(parts.logger, wanted, serve);
        else await discover(parts, wanted, serve, signal);
        await untilAborted(signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        requirement.drop();
      }
    },
  };
}

async function discover(
  parts: DiscoveryParts,
  wanted: WantedNamespaces,
  serve: Serve,
  signal: AbortSignal,
): Promise<void> {
  const { insights, client, clock, logger } = parts;
  const { patterns, labelSelector } = wanted;
  const resource = await insights.whenFound(NAMESPACES, signal);
  for (let reported: Refusal | undefined; !signal.aborted; ) {
    const accept = namespacesAcceptor(patterns, logger, serve);
    const refusal = await watchIfPermitted(client, watchTarget(resource, { labelSelector }), {
      ...parts,
      signal,
      accept,
    });
    if (refusal === undefined) return;
    if (refusal !== reported) reportRefusal(logger, refusal);
    if (refusal === 'list' && reported === undefined) serveExactNames(logger, wanted, serve);
    reported = refusal;
    await clock.sleep(RECHECK, { signal });
  }
}

function reportRefusal(logger: Logger, refusal: Refusal): void {
  const what = refusal === 'list' ? 'list namespaces' : 'watch for namespaces';
  const effect =
    refusal === 'list'
      ? 'only those given by their exact names are served'
      : 'those created or deleted from now on will not be noticed';
  logger.warn(
    `Not enough permissions to ${what}: ${effect}, until it is permitted or the operator is restarted. ` +
      missingRule({ group: '', resource: 'namespaces', verbs: ['list', 'watch'] }),
  );
}

function serveExactNames(logger: Logger, { patterns, labelSelector }: WantedNamespaces, serve: Serve): void {
  if (labelSelector !== undefined) {
    logger.warn(`Namespaces with the labels ${labelSelector} cannot be served without the list of namespaces.`);
    serve([]);
    return;
  }
  const names = exactNamespaces(patterns);
  const others = patterns.filter((pattern) => exactNamespaces([pattern]).length === 0);
  if (others.length > 0) {
    logger.warn(
      `These patterns of namespaces cannot be served without the list of namespaces: ${others.join('; ')}. ` +
        `Only these are served: ${names.join(', ') || 'none'}.`,
    );
  }
  serve(names);
}

/** All at once when the first listing is complete; then, one by one. */
function namespacesAcceptor(
  patterns: readonly NamespacePattern[],
  logger: Logger,
  serve: Serve,
): (signal: WatchSignal) => void {
  const served = new Set<string>();
  // Until missing namespaces are reported.
  const existing = new Set<string>();
  let isListed = false;
  return (event) => {
    if (event.type === 'REWOUND') return;
    if (event.type === 'LISTED') {
      if (!isListed) warnOfMissing(logger, patterns, existing);
      isListed = true;
    } else {
      const name = event.object.metadata?.name ?? '';
      if (!isListed) existing.add(name);
      const isServed = matchesAnyNamespace(name, patterns) && isStillInUse(event, logger);
      if (isServed === served.has(name)) return;
      if (isServed) served.add(name);
      else served.delete(name);
    }
    if (isListed) serve(served);
  };
}

/** They may appear later; but more often, the names are misspelt, and nothing would ever happen. */
function warnOfMissing(logger: Logger, patterns: readonly NamespacePattern[], existing: Set<string>): void {
  for (const name of exactNamespaces(patterns)) {
    if (existing.has(name)) continue;
    logger.warn(
      `There is no namespace ${JSON.stringify(name)} in the cluster; it is served as soon as there is one.` +
        didYouMean(name, existing),
    );
  }
  existing.clear();
}

interface NamespaceCondition {
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** A terminating namespace is served until it is empty: it may be waiting for us. */
function isStillInUse(
  { type, object }: { readonly type: string | null; readonly object: AnyObject },
  logger: Logger,
): boolean {
  if (type === 'DELETED') return false;
  const conditions: readonly NamespaceCondition[] = object['status']?.conditions ?? [];
  if (!object.metadata?.deletionTimestamp || conditions.length === 0) return true;
  const blockers = conditions.filter(({ status }) => status === 'True');
  if (blockers.length === 0) return false;
  const reasons = blockers.map(({ reason, message }) => `${reason}: ${message}`).join('; ');
  logger.debug(`Namespace ${object.metadata.name} termination pending: ${reasons}`);
  return true;
}
