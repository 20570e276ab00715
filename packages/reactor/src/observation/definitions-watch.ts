/** Definitions of custom resources, as they come, change, and go: each of them may change what can be discovered. */
import type { AnyObject, Resource, Seconds } from '@kopf-ts/core';
import { ApiError } from '@kopf-ts/core';
import { describeError, resourceUrl, untilAborted, type WatchSignal } from '@kopf-ts/core/engine';
import { groupOf, isKept, nothingOf, promisedBy } from './definitions.js';
import type { ObserverParts } from './observer-parts.js';
import { watchIfPermitted } from './permitted-watch.js';
import type { Rescans } from './rescans.js';

const DEFINITIONS = { group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions' };

/** How often to look whether it is permitted by now. */
const RECHECK: Seconds = 600;

export interface DefinitionsWatch extends ObserverParts {
  readonly signal: AbortSignal;
  readonly rescans: Pick<Rescans, 'request'>;
  readonly isOfInterest: (group: string) => boolean;
  /** Those of the served kinds that may have definitions. */
  readonly custom: () => readonly Resource[];
  /** Called when there is nothing more to wait for: all definitions are known, or will never be. */
  readonly onDigested: () => void;
}

export async function followDefinitions(parts: DefinitionsWatch): Promise<void> {
  const { insights, settings, client, clock, logger, signal, onDigested } = parts;
  // Without them, nothing is known of the schemas; but maybe they only do not answer at the moment.
  if (insights.find(DEFINITIONS) === undefined) onDigested();
  const definitions = await insights.whenFound(DEFINITIONS, signal);
  if (settings.scanning.disabled) {
    await readDefinitions(parts, definitions);
    onDigested();
    return await untilAborted(signal);
  }
  const digest = definitionsDigest(parts);
  for (let isTold = false; !signal.aborted; isTold = true) {
    await watchIfPermitted(client, definitions, { ...parts, digest });
    onDigested();
    if (signal.aborted) return;
    if (!isTold) {
      logger.warn(
        'Not enough permissions to watch for resources: the operator may not list and watch ' +
          `${DEFINITIONS.plural}.${DEFINITIONS.group}, so new, changed and deleted kinds will not be noticed until that ` +
          'is permitted or the operator is restarted.',
      );
    }
    await clock.sleep(RECHECK, { signal });
  }
}

/** What each of the definitions means for what is known so far. */
function definitionsDigest(parts: DefinitionsWatch): (signal: WatchSignal) => void {
  const { insights, statusSchemas, rescans, isOfInterest, onDigested } = parts;
  const versions = new Map<string, string | undefined>();
  let isListed = false;

  const defined = (type: string | null, definition: AnyObject): void => {
    const { name = '', resourceVersion } = definition.metadata ?? {};
    const promised = promisedBy(definition);
    // In a later listing, there can be what has happened while the connection was lost. In the first one, only what
    // has happened since the scan: usually nothing.
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
      onDigested();
    } else if (isOfInterest(groupOf(event.object))) {
      if (event.type === 'DELETED') undefine(event.object);
      else defined(event.type, event.object);
    }
  };
}

/** Without watching: each definition once, if it is permitted, and only for the sake of its schema. */
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
        // It may be not permitted, or not defined by a definition at all.
        const isExpected = error instanceof ApiError && (error.status === 403 || error.status === 404);
        if (!isExpected) logger.debug(`The definition of ${name} cannot be read: ${describeError(error)}`);
      }
    }),
  );
}
