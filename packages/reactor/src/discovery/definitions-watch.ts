/** Watches definitions of custom resources: each of them may change what can be discovered. */
import type { AnyObject, Resource, Seconds } from '@kopf-ts/core';
import { ApiError } from '@kopf-ts/core';
import {
  describeError,
  missingRule,
  resourceUrl,
  untilAborted,
  type WatchSignal,
  watchTarget,
} from '@kopf-ts/core/engine';
import { groupOf, isKept, nothingOf, promisedBy } from './definitions.js';
import type { DiscoveryParts } from './discovery-parts.js';
import { watchIfPermitted } from './permitted-watch.js';
import type { Rescans } from './rescans.js';

const DEFINITIONS = { group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions' };
const NEEDED = { group: DEFINITIONS.group, resource: DEFINITIONS.plural, verbs: ['list', 'watch'] };

/** How often to check whether watching is permitted by now. */
const RECHECK: Seconds = 600;

export interface DefinitionsWatch extends DiscoveryParts {
  readonly signal: AbortSignal;
  readonly rescans: Pick<Rescans, 'request'>;
  readonly isOfInterest: (group: string) => boolean;
  /** The served kinds that may have definitions. */
  readonly custom: () => readonly Resource[];
  /** Called when there is nothing more to wait for: all definitions are known, or will never be. */
  readonly onKnown: () => void;
}

export async function followDefinitions(parts: DefinitionsWatch): Promise<void> {
  const { insights, settings, client, clock, logger, signal, onKnown } = parts;
  // Without definitions, the schemas are unknown; but the server may only be unavailable at the moment.
  if (insights.find(DEFINITIONS) === undefined) onKnown();
  const definitions = await insights.whenFound(DEFINITIONS, signal);
  if (settings.scanning.disabled) {
    await readDefinitions(parts, definitions);
    onKnown();
    return await untilAborted(signal);
  }
  const accept = definitionsAcceptor(parts);
  for (let isReported = false; !signal.aborted; isReported = true) {
    await watchIfPermitted(client, watchTarget(definitions), { ...parts, accept });
    onKnown();
    if (signal.aborted) return;
    if (!isReported) {
      logger.warn(
        'Not enough permissions to watch for resources: the operator may not list and watch ' +
          `${DEFINITIONS.plural}.${DEFINITIONS.group}, so new, changed and deleted kinds will not be noticed until that ` +
          `is permitted or the operator is restarted. ${missingRule(NEEDED)}`,
      );
    }
    await clock.sleep(RECHECK, { signal });
  }
}

/** Applies the definitions to what is known so far. */
function definitionsAcceptor(parts: DefinitionsWatch): (signal: WatchSignal) => void {
  const { insights, statusSchemas, rescans, isOfInterest, onKnown } = parts;
  const versions = new Map<string, string | undefined>();
  let isListed = false;

  const defined = (type: string | null, definition: AnyObject): void => {
    const { name = '', resourceVersion } = definition.metadata ?? {};
    const promised = promisedBy(definition);
    // A later listing can contain changes made while the connection was lost; the first one, only those since the scan:
    // usually none.
    const isChanged = type !== null || (isListed && versions.get(name) !== resourceVersion);
    const isNews = isChanged || (promised !== undefined && !isKept(promised, insights.all));
    versions.set(name, resourceVersion);
    statusSchemas.learn(definition);
    if (isNews) rescans.request(groupOf(definition), promised);
  };
  const undefine = (definition: AnyObject): void => {
    versions.delete(definition.metadata?.name ?? '');
    statusSchemas.forget(definition);
    rescans.request(groupOf(definition), nothingOf(definition));
  };
  /** The kinds whose definitions were removed between the scan and the listing; aggregated APIs look the same. */
  const looksOrphaned = ({ group, plural }: Resource): boolean =>
    group.includes('.') && !group.endsWith('.k8s.io') && isOfInterest(group) && !versions.has(`${plural}.${group}`);

  return (event) => {
    if (event.type === 'REWOUND') return;
    if (event.type === 'LISTED') {
      if (!isListed) for (const { group } of insights.all.filter(looksOrphaned)) rescans.request(group);
      isListed = true;
      onKnown();
    } else if (isOfInterest(groupOf(event.object))) {
      if (event.type === 'DELETED') undefine(event.object);
      else defined(event.type, event.object);
    }
  };
}

/** Without watching: reads each definition once, if permitted, only for its schema. */
async function readDefinitions(parts: DefinitionsWatch, definitions: Resource): Promise<void> {
  const { client, custom, statusSchemas, logger, signal } = parts;
  const names = new Set(custom().map(({ plural, group }) => `${plural}.${group}`));
  await Promise.all(
    [...names].map(async (name) => {
      try {
        const path = resourceUrl(definitions, { name });
        statusSchemas.learn(await client.request<AnyObject>({ method: 'GET', path, retries: 'none', signal }));
      } catch (error) {
        signal.throwIfAborted();
        // It may not be permitted, or the kind may not come from a definition at all.
        const isExpected = error instanceof ApiError && (error.status === 403 || error.status === 404);
        if (!isExpected) logger.debug(`The definition of ${name} cannot be read: ${describeError(error)}`);
      }
    }),
  );
}
