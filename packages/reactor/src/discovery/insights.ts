/** What the operator knows of the cluster: the results of discovery so far. */
import type { Insights, Resource, SelectorSpec } from '@kopf-ts/core';
import { condition, container, type Facts, NO_FACTS, parseSelector, uniqueResources } from '@kopf-ts/core/engine';

/** Which kinds are served, and for which handlers. */
export interface ServedResources {
  /** By all handlers except for webhooks. */
  readonly watched: ReadonlySet<Resource>;
  readonly indexed: ReadonlySet<Resource>;
  readonly webhook: ReadonlySet<Resource>;
}

interface Knowledge extends ServedResources {
  /** All requested kinds, served or not; this includes the kinds that the framework itself needs. */
  readonly all: readonly Resource[];
  /** `null` stands for the whole cluster. */
  readonly namespaces: ReadonlySet<string | null>;
}

/**
 * The insights with the other end: discovery writes here, everybody else reads.
 *
 * ```ts
 * const insights: kopf.reactor.LiveInsights = kopf.reactor.liveInsights();
 * insights.revise({ namespaces: new Set(['shop']) });
 * ```
 */
export interface LiveInsights extends Insights, Knowledge {
  /** Whether both the kinds and the namespaces to serve are known, even if there are none at the moment. */
  readonly isReady: boolean;
  /** Waits for the kind without a time limit. */
  whenFound(selector: SelectorSpec, signal?: AbortSignal): Promise<Resource>;
  /** Applies all changes at once. Notifies the followers of the revisions unless nothing has changed. */
  revise(news: Partial<Knowledge>): void;
}

/**
 * Insights that know nothing yet.
 *
 * ```ts
 * const insights = kopf.reactor.liveInsights();
 * await insights.whenFound('kopfexamples', signal);
 * ```
 */
export function liveInsights(facts: Facts = NO_FACTS): LiveInsights {
  const revision = container<void>(undefined);
  const changed = condition();
  let knowledge: Knowledge = {
    all: [],
    watched: new Set(),
    indexed: new Set(),
    webhook: new Set(),
    namespaces: new Set(),
  };
  let areResourcesKnown = false;
  let areNamespacesKnown = false;
  const isReady = (): boolean => areResourcesKnown && areNamespacesKnown;
  const find = (selector: SelectorSpec): Resource | undefined => {
    const [first] = parseSelector(selector).select(knowledge.all);
    return first;
  };

  return {
    get all() {
      return knowledge.all;
    },
    get watched() {
      return knowledge.watched;
    },
    get indexed() {
      return knowledge.indexed;
    },
    get webhook() {
      return knowledge.webhook;
    },
    get namespaces() {
      return knowledge.namespaces;
    },
    get isReady() {
      return isReady();
    },
    whenReady: (signal) => changed.until(isReady, signal),
    find,
    async whenFound(selector, signal) {
      let found: Resource | undefined;
      await changed.until(() => {
        found = find(selector);
        return found !== undefined;
      }, signal);
      return found as Resource;
    },
    revisions: (signal) => revision.values(signal),
    revise(news) {
      const wasReady = isReady();
      const before = knowledge;
      areResourcesKnown ||= news.watched !== undefined;
      areNamespacesKnown ||= news.namespaces !== undefined;
      knowledge = { ...knowledge, ...news };
      const isFirst = wasReady !== isReady();
      const isServedAsBefore = !isFirst && servesTheSame(before, knowledge);
      if (isServedAsBefore && haveSameMembers(new Set(before.all), new Set(knowledge.all))) return;
      if (facts.wants['discovery.revised'] && isReady() && !isServedAsBefore) {
        const { watched, indexed, webhook, namespaces } = knowledge;
        const resources = [...uniqueResources([...watched, ...indexed, ...webhook])];
        facts.tell({ kind: 'discovery.revised', resources, namespaces: [...namespaces] });
      }
      changed.notify();
      revision.put(undefined);
    },
  };
}

/** Descriptions of kinds are replaced only if they have changed: so comparing them by identity is enough. */
function servesTheSame(before: Knowledge, after: Knowledge): boolean {
  return (
    haveSameMembers(before.watched, after.watched) &&
    haveSameMembers(before.indexed, after.indexed) &&
    haveSameMembers(before.webhook, after.webhook) &&
    haveSameMembers(before.namespaces, after.namespaces)
  );
}

function haveSameMembers<T>(one: ReadonlySet<T>, two: ReadonlySet<T>): boolean {
  return one.size === two.size && [...one].every((member) => two.has(member));
}
