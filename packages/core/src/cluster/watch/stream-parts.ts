/** What the parts of one watch-stream have in common. */
import type { Facts } from '../../observing/facts.js';
import type { KubeClient } from '../../seams/client.js';
import type { Clock } from '../../seams/clock.js';
import type { Logger } from '../../seams/logger.js';
import type { WatchTarget } from '../../values/resources/watch-target.js';
import type { StreamHealth } from './health.js';
import type { ObjectEmitter } from './objects/emitter.js';
import type { MalformedObjects } from './objects/malformed.js';
import type { SeenVersions } from './seen-versions.js';
import type { ServerCapabilities, WatchOptions } from './signals.js';

export interface StreamParts {
  readonly client: KubeClient;
  readonly target: WatchTarget;
  /** The target in logs. */
  readonly title: string;
  readonly options: WatchOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly facts: Facts;
  readonly capabilities: ServerCapabilities;
  readonly health: StreamHealth;
  readonly malformed: MalformedObjects;
  readonly versions: SeenVersions;
  readonly emitter: ObjectEmitter;
}
