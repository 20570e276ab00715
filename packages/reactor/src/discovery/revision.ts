/** Which of the cluster's kinds the handlers are for, and what is wrong with those that cannot be served. Pure. */
import type { Resource } from '@kopf-ts/core';
import {
  formatResource,
  type Handlers,
  type ResourceHandler,
  type Selector,
  uniqueResources,
} from '@kopf-ts/core/engine';
import type { ServedResources } from './insights.js';

export interface Revision extends ServedResources {
  /** What the user should know of, in whole sentences. */
  readonly warnings: readonly string[];
}

/** The groups of the kinds that the framework itself may need. */
const BACKBONE_GROUPS = ['', 'apiextensions.k8s.io', 'admissionregistration.k8s.io', 'kopf.dev', 'zalando.org'];

/** The groups to ask the cluster about; `undefined` is for all: a handler without a group can be for any of them. */
export function groupsOfInterest(handlers: Handlers): ReadonlySet<string> | undefined {
  const { indexing, watching, spawning, changing, webhooks } = handlers;
  const groups = new Set(BACKBONE_GROUPS);
  for (const { group } of selectorsOf(indexing, watching, spawning, changing, webhooks)) {
    if (group === undefined) return undefined;
    groups.add(group);
  }
  return groups;
}

export function revise(handlers: Handlers, resources: readonly Resource[]): Revision {
  const { indexing, watching, spawning, changing, webhooks } = handlers;
  const selectors = selectorsOf(indexing, watching, spawning, changing);
  const warnings: string[] = [];
  let watched = selected(selectors, resources);
  const exclude = (excluded: ReadonlySet<Resource>): void => {
    watched = new Set([...watched].filter((resource) => !excluded.has(resource)));
  };

  for (const selector of selectors) {
    const found = selector.select(watched);
    if (!selector.isSpecific || found.size < 2) continue;
    warnings.push(
      `Ambiguous resources will not be served (try specifying API groups): ${selector} => ${formatAll(found)}`,
    );
    exclude(found);
  }

  const unresolved = selectors.filter((selector) => selector.select(watched).size === 0);
  if (unresolved.length > 0) {
    warnings.push(`Unresolved resources cannot be served (try creating their CRDs): ${unresolved.join(', ')}`);
  }

  const nonWatchable = lacking(['list', 'watch'], watched);
  if (nonWatchable.size > 0) {
    warnings.push(`Non-watchable resources will not be served: ${formatAll(nonWatchable)}`);
    exclude(nonWatchable);
  }

  // Handlers that only look at objects do not need to patch them.
  const nonPatchable = lacking(['patch'], selected(selectorsOf(spawning, changing), watched));
  if (nonPatchable.size > 0) {
    warnings.push(`Non-patchable resources will not be served: ${formatAll(nonPatchable)}`);
    exclude(nonPatchable);
  }

  return {
    watched,
    indexed: selected(selectorsOf(indexing), resources),
    webhook: selected(selectorsOf(webhooks), resources),
    warnings,
  };
}

/** Each meaning once: usually, many handlers are for the same kind. */
function selectorsOf(...families: readonly Iterable<ResourceHandler>[]): Selector[] {
  const selectors = families
    .flatMap((family) => [...family])
    .flatMap(({ selector }) => (selector === undefined ? [] : [selector]));
  // Functions cannot be told apart by their texts, but by themselves.
  const meanings = new Map(selectors.map((selector) => [selector.fn ?? selector.toString(), selector]));
  return [...meanings.values()];
}

function selected(selectors: readonly Selector[], resources: Iterable<Resource>): ReadonlySet<Resource> {
  const all = [...resources];
  return uniqueResources(selectors.flatMap((selector) => [...selector.select(all)]));
}

function lacking(verbs: readonly string[], resources: Iterable<Resource>): ReadonlySet<Resource> {
  return new Set([...resources].filter((resource) => !verbs.every((verb) => resource.verbs.has(verb))));
}

function formatAll(resources: Iterable<Resource>): string {
  return `{${[...resources]
    .map((resource) => formatResource(resource))
    .sort()
    .join(', ')}}`;
}
