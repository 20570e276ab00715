import type { Resource } from '../../values/resources/resource.js';
import type { SelectorSpec } from '../../values/resources/selector.js';

/**
 * What the operator knows of the cluster: the served kinds and namespaces, as they come and go.
 *
 * ```ts
 * async function isServed(insights: kopf.Insights): Promise<boolean> {
 *   await insights.whenReady(signal);
 *   return insights.find('kopfexamples') !== undefined;
 * }
 * ```
 */
export interface Insights {
  readonly watched: ReadonlySet<Resource>;
  readonly indexed: ReadonlySet<Resource>;
  readonly webhook: ReadonlySet<Resource>;
  readonly namespaces: ReadonlySet<string | null>;
  find(selector: SelectorSpec): Resource | undefined;
  /** Resolves after the first look at the cluster: before that, absence of a kind means nothing. */
  whenReady(signal?: AbortSignal): Promise<void>;
  /** Yields now, and after every revision. */
  revisions(signal: AbortSignal): AsyncIterable<void>;
}
