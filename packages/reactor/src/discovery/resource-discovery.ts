/** Service: finds the kinds to serve, and notices as they come, change, and go. */
import { ApiForbiddenError, LoginError, type Resource, type Seconds, type Service } from '@kopf-ts/core';
import { backoffDelay, describeError, NO_FACTS, stackOf, toError } from '@kopf-ts/core/engine';
import type { Requirement } from '../probing/health.js';
import { taskGroup } from '../task-group.js';
import { isKept } from './definitions.js';
import { followDefinitions } from './definitions-watch.js';
import type { DiscoveryParts } from './discovery-parts.js';
import { rescans } from './rescans.js';
import { groupsOfInterest, revise } from './revision.js';
import { type Scanner, scanner } from './scanner.js';

/** Its name in the probes. */
const REQUIREMENT = 'resources discovered';
/** How long the start may wait for the schemas: they are useful, but not required. */
const SCHEMAS_PATIENCE: Seconds = 5;
const FIRST_SCAN = { base: 1, cap: 30 };

export function resourceDiscovery(parts: DiscoveryParts): Service {
  return {
    name: 'resource discovery',
    async run(signal) {
      const requirement = parts.health.demand(REQUIREMENT);
      try {
        await discover(parts, requirement, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        requirement.drop();
      }
    },
  };
}

async function discover(parts: DiscoveryParts, requirement: Requirement, signal: AbortSignal): Promise<void> {
  const { registry, insights, clock, logger, random = Math.random, facts = NO_FACTS } = parts;
  const groups = groupsOfInterest(registry.handlers);
  const scanning = scanner(parts);
  const publish = publisher(parts, scanning);
  const pending = rescans({
    clock,
    logger,
    random,
    requirement,
    facts,
    isKept: (promised) => isKept(promised, scanning.resources),
    async scan(some, ofRun) {
      const silent = await scanning.scan(some, ofRun);
      publish();
      return silent;
    },
  });

  const silent = await scanPersistently(parts, requirement, () => scanning.scan(groups, signal), signal);
  for (const group of silent) pending.suspect(group);
  // The kinds that the framework needs can be found from now on; the others wait for their schemas.
  insights.revise({ all: scanning.resources });

  const areKnown = new AbortController();
  await taskGroup(
    signal,
    (ofTask) => pending.run(ofTask),
    (ofTask) =>
      followDefinitions({
        ...parts,
        signal: ofTask,
        rescans: pending,
        isOfInterest: (group) => groups === undefined || groups.has(group),
        custom: () => customOf(revise(registry.handlers, insights.all).watched),
        onKnown: () => areKnown.abort(),
      }),
    async (ofTask) => {
      const isWorthWaiting = customOf(revise(registry.handlers, scanning.resources).watched).length > 0;
      if (isWorthWaiting) await clock.sleep(SCHEMAS_PATIENCE, { wakeup: areKnown.signal, signal: ofTask });
      publish.begin();
    },
  );
}

/** Publishes what is served, and warns of what is not: once, for as long as that lasts. */
function publisher({ registry, insights, logger }: DiscoveryParts, scanning: Scanner): { (): void; begin(): void } {
  let hasBegun = false;
  let reported: readonly string[] = [];
  const publish = (): void => {
    const all = scanning.resources;
    if (!hasBegun) {
      insights.revise({ all });
      return;
    }
    const { warnings, ...served } = revise(registry.handlers, all);
    for (const warning of warnings) if (!reported.includes(warning)) logger.warn(warning);
    reported = warnings;
    insights.revise({ all, ...served });
  };
  return Object.assign(publish, {
    begin() {
      hasBegun = true;
      publish();
    },
  });
}

/** The kinds that may come from definitions: their groups are domains, unlike those of most built-in kinds. */
function customOf(resources: Iterable<Resource>): Resource[] {
  return [...resources].filter(({ group }) => group.includes('.'));
}

/** Nothing works before the first scan succeeds: so it is repeated as long as there is hope. */
async function scanPersistently<T>(
  { clock, logger, random = Math.random, facts = NO_FACTS }: DiscoveryParts,
  requirement: Requirement,
  scan: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  for (let failures = 1, reported = ''; ; failures += 1) {
    try {
      const result = await scan();
      if (reported !== '') logger.info('Discovered the resources of the cluster.');
      requirement.turn(true);
      return result;
    } catch (error) {
      if (signal.aborted || error instanceof LoginError) throw error;
      const message = describeRefusal(error);
      if (message === reported) logger.debug(message);
      else logger.warn(message, stackOf(error));
      reported = message;
      if (facts.wants['discovery.failed']) facts.tell({ kind: 'discovery.failed', error: toError(error), failures });
      requirement.turn(false, message);
      await clock.sleep(backoffDelay(failures, { ...FIRST_SCAN, random }), { signal });
    }
  }
}

/** Permissions may arrive later than the operator, e.g. when both are applied at once: so wait for them, too. */
function describeRefusal(error: unknown): string {
  if (!(error instanceof ApiForbiddenError)) {
    return `Discovery failed; retrying: ${describeError(error)}`;
  }
  return (
    'The operator is not permitted to discover the resources of the cluster, and waits until it is. The answer to ' +
    `GET /api or GET /apis: ${describeError(error)}. The verb "get" is needed for the non-resource URLs /api, /api/*, ` +
    '/apis, /apis/*: bind the cluster role "system:discovery", which all valid credentials usually have.'
  );
}
