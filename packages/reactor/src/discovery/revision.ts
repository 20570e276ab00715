/** Matches the handlers with the cluster's kinds, and finds the kinds that cannot be served. Pure. */
import type { Resource } from '@kopf-ts/core';
import {
  formatResource,
  type Handlers,
  nearNames,
  placedTitleOf,
  type ResourceHandler,
  relationsOf,
  type Selector,
  scopeMistake,
  uniqueResources,
} from '@kopf-ts/core/engine';
import type { ServedResources } from './insights.js';

export interface Revision extends ServedResources {
  /** Messages for the user, in whole sentences. */
  readonly warnings: readonly string[];
}

/** The groups of the kinds that the framework itself may need. */
const BACKBONE_GROUPS = ['', 'apiextensions.k8s.io', 'admissionregistration.k8s.io', 'kopf.dev', 'zalando.org'];

/** The groups to scan; `undefined` for all: a handler without a group can match any of them. */
export function groupsOfInterest(handlers: Handlers): ReadonlySet<string> | undefined {
  const { indexing, watching, spawning, changing, related, webhooks } = handlers;
  const groups = new Set(BACKBONE_GROUPS);
  for (const { group } of selectorsOf(indexing, watching, spawning, changing, related, children(handlers), webhooks)) {
    if (group === undefined) return undefined;
    groups.add(group);
  }
  return groups;
}

export function revise(handlers: Handlers, resources: readonly Resource[]): Revision {
  const { indexing, watching, spawning, changing, related, webhooks } = handlers;
  const selectors = selectorsOf(indexing, watching, spawning, changing, related, children(handlers));
  const handlersOfKinds = [
    ...[...indexing, ...watching, ...spawning, ...changing, ...related],
    ...[...children(handlers), ...webhooks],
  ];
  const warnings: string[] = [];
  let watched = selected(selectors, resources);
  const exclude = (excluded: Pick<ReadonlySet<Resource>, 'has'>): void => {
    watched = without(excluded, watched);
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
    const all = [indexing, watching, spawning, changing, related].flatMap((family) => [
      ...(family as Iterable<ResourceHandler>),
    ]);
    warnings.push(
      `Unresolved resources cannot be served (try creating their CRDs): ${unresolved.join(', ')}.` +
        unresolved.map((selector) => explained(selector, all, resources)).join(''),
    );
  }

  const mistakes = scopeMistakes(handlersOfKinds, resources);
  warnings.push(...[...mistakes.values()].map((mistake) => `${mistake} Until then, they are not served.`));
  exclude(mistakes);

  const nonWatchable = lacking(['list', 'watch'], watched);
  if (nonWatchable.size > 0) {
    warnings.push(`Non-watchable resources will not be served: ${formatAll(nonWatchable)}`);
    exclude(nonWatchable);
  }

  // Handlers that only look at objects do not need to patch them.
  const nonPatchable = lacking(['patch'], selected(selectorsOf(spawning, changing, related), watched));
  if (nonPatchable.size > 0) {
    warnings.push(`Non-patchable resources will not be served: ${formatAll(nonPatchable)}`);
    exclude(nonPatchable);
  }

  return {
    watched,
    indexed: without(mistakes, selected(selectorsOf(indexing), resources)),
    webhook: without(mistakes, selected(selectorsOf(webhooks), resources)),
    warnings,
  };
}

/** Which handlers want the kind, and what to do about it: a sentence or two, with a leading space. */
function explained(selector: Selector, handlers: readonly ResourceHandler[], resources: readonly Resource[]): string {
  const meaning = meaningOf(selector);
  const waiting = handlers.filter((handler) => {
    const children = relationsOf(handler).map(({ child }) => child);
    return [handler.selector, ...children].some((one) => one && meaningOf(one) === meaning);
  });
  const who = [...new Set(waiting.map((handler) => placedTitleOf(handler)))];
  const shown = who.slice(0, MAX_SHOWN).join(', ') + (who.length > MAX_SHOWN ? ' and others' : '');
  // It may be declared only as a child, and then no handler waits for it.
  const waits = who.length === 0 ? '' : ` ${shown} ${who.length === 1 ? 'waits' : 'wait'} for it.`;
  // Ambiguous kinds are reported separately.
  if (selector.select(resources).size > 0) return waits;
  const { anyName, plural, kind, singular } = selector;
  const name = String(anyName ?? plural ?? kind ?? singular ?? '');
  const names = resources.flatMap((resource) => [resource.plural, resource.kind ?? '', resource.singular ?? '']);
  // Plural names are what is usually written; otherwise, one resource would be named three times.
  const near = nearNames(name, names.filter(Boolean));
  const meant = new Set(
    resources.filter((one) => near.some((word) => [one.plural, one.kind, one.singular].includes(word))).map(pluralOf),
  );
  const advice =
    meant.size > 0
      ? `Did you mean ${[...meant].map((word) => `'${word}'`).join(' or ')}?`
      : 'Create the CRD by "kubectl apply -f crd.yaml", or by "kopf dev --apply=crd.yaml"; it is noticed at once.';
  return `${waits} ${advice}`;
}

/** More handlers than that add nothing to the message. */
const MAX_SHOWN = 3;

function pluralOf({ plural }: Resource): string {
  return plural;
}

/** Functions are compared by identity, not by their texts. */
function meaningOf(selector: Selector): unknown {
  return selector.fn ?? selector.toString();
}

/** The kinds of children. */
function children({ relations }: Handlers): readonly { readonly selector: Selector }[] {
  return [...relations].map(({ child }) => ({ selector: child }));
}

/** Each meaning once: usually, many handlers are for the same kind. */
function selectorsOf(...families: readonly Iterable<Pick<ResourceHandler, 'selector'>>[]): Selector[] {
  const selectors = families
    .flatMap((family) => [...family])
    .flatMap(({ selector }) => (selector === undefined ? [] : [selector]));
  const meanings = new Map(selectors.map((selector) => [meaningOf(selector), selector]));
  return [...meanings.values()];
}

/** Resources that contradict their tokens: their handlers would be called with unexpected objects. */
function scopeMistakes(
  handlers: readonly Pick<ResourceHandler, 'selector'>[],
  resources: readonly Resource[],
): ReadonlyMap<Resource, string> {
  const mistakes = new Map<Resource, string>();
  // Tokens of the same name may differ: each of them counts.
  for (const selector of new Set(handlers.map((handler) => handler.selector))) {
    if (selector?.namespaced === undefined) continue;
    for (const resource of selector.select(resources)) {
      const mistake = scopeMistake(selector, resource);
      if (mistake !== undefined) mistakes.set(resource, mistake);
    }
  }
  return mistakes;
}

function selected(selectors: readonly Selector[], resources: Iterable<Resource>): ReadonlySet<Resource> {
  const all = [...resources];
  return uniqueResources(selectors.flatMap((selector) => [...selector.select(all)]));
}

function without(
  excluded: Pick<ReadonlySet<Resource>, 'has'>,
  resources: ReadonlySet<Resource>,
): ReadonlySet<Resource> {
  return new Set([...resources].filter((resource) => !excluded.has(resource)));
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
