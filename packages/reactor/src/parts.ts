/** What all parts of one operator have in common. Nothing here is shared between operators of one process. */
import type {
  ApiFor,
  Clock,
  EventPoster,
  Indices,
  KubeClient,
  LifeCycle,
  Logger,
  Registry,
  Settings,
  Tracing,
} from '@kopf-ts/core';
import type { ChildrenLookup, Facts } from '@kopf-ts/core/engine';

/**
 * What most parts of an operator need.
 *
 * ```ts
 * const { poster } = kopf.reactor.eventPoster({ settings, clock, logger, client });
 * const registry = kopf.createRegistry();
 * const parts: kopf.reactor.OperatorParts = { registry, settings, clock, logger, client, poster };
 * ```
 */
export interface OperatorParts {
  // biome-ignore lint/suspicious/noExplicitAny: an operator runs handlers of any environment alike
  readonly registry: Registry<any>;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly client: KubeClient;
  /** Makes the verbs of handlers. */
  readonly apiFor?: ApiFor | undefined;
  readonly poster: EventPoster;
  readonly indices?: Indices | undefined;
  /** Finds what belongs to an object. Absent if nothing belongs to anything. */
  readonly children?: ChildrenLookup | undefined;
  /** Of change handlers; the default one of the process, if absent. */
  readonly lifecycle?: LifeCycle | undefined;
  readonly random?: (() => number) | undefined;
  readonly facts?: Facts | undefined;
  /** A safe one: whatever it does, the work is done once. */
  readonly tracing?: Tracing | undefined;
}
