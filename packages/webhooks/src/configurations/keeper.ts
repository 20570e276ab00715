/**
 * Keeps the webhook configurations of the operator in the cluster as the handlers need them: two services, one for each
 * kind of configurations.
 *
 * A configuration is written when something differs: another address of the server, other kinds in the cluster, or
 * somebody's edit. When the operator exits, only the persistent webhooks stay there.
 */
import {
  ApiForbiddenError,
  type Clock,
  type Insights,
  type KubeClient,
  type Logger,
  type Registry,
  type Resource,
  type Seconds,
  type Service,
  type Settings,
  type WebhookClientConfig,
} from '@kopf-ts/core';
import {
  alarm,
  type Container,
  childController,
  condition,
  describeError,
  onAbort,
  titleOf as titleOfHandler,
} from '@kopf-ts/core/engine';
import { type ConfigurationAddress, configurationSelector } from './configuration-object.js';
import { leftovers } from './leftovers.js';
import { observation, titleOf } from './observation.js';
import { kopfReconciler, reconciler } from './reconciling.js';
import { type AdmissionReason, neverCalled, type WebhookEntry, webhookEntries } from './webhook-entries.js';

/** The address of the server, as it is now; and whom to tell when the cluster knows it. */
export interface Announcement {
  readonly config: WebhookClientConfig;
  /** Called when the configuration of this kind has the address, or does not need it; maybe, several times. */
  applied(reason: AdmissionReason): void;
}

export interface KeeperParts {
  readonly registry: Pick<Registry, 'handlers'>;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly client: KubeClient;
  readonly insights: Pick<Insights, 'find' | 'revisions' | 'webhook'>;
  /** Where the addresses come; empty until the server is up. */
  readonly configs: Container<Announcement>;
  readonly random?: (() => number) | undefined;
}

/** How long writing may take after the operator is told to exit. */
const EXIT_LIMIT: Seconds = 10;
/** How long our own server may take to come up before what is left of another one is removed. */
const LEFTOVERS_GRACE: Seconds = 10;

/**
 * Keeps the configuration of one kind, if it is managed at all. Fails if it is not permitted to keep it, or if
 * the API server finds it invalid; waits for better times if the API server is away.
 */
export function configurationKeeper(parts: KeeperParts, reason: AdmissionReason): Service {
  return {
    name: `admission ${reason} configuration manager`,
    async run(signal) {
      const { settings, registry, insights, configs, client } = parts;
      const { managed } = settings.admission;
      if (managed === undefined) {
        for await (const announcement of configs.values(signal)) announcement.applied(reason);
        return;
      }
      // The names do not depend on the address: so what is wrong with them can be told before there is any.
      const { compat } = settings.persistence;
      webhookEntries(registry.handlers.webhooks, { reason, managed, config: {}, resources: [], compat });
      const resource = await kindOfConfigurations(insights, reason, signal);
      if (resource !== undefined) await keep(parts, reason, { client, resource, name: managed }, signal);
    },
  };
}

async function kindOfConfigurations(
  insights: KeeperParts['insights'],
  reason: AdmissionReason,
  signal: AbortSignal,
): Promise<Resource | undefined> {
  for await (const _revision of insights.revisions(signal)) {
    const resource = insights.find(configurationSelector(reason));
    if (resource !== undefined) return resource;
  }
  return undefined;
}

async function keep(
  parts: KeeperParts,
  reason: AdmissionReason,
  at: ConfigurationAddress,
  signal: AbortSignal,
): Promise<void> {
  const { registry, settings, clock, logger, insights, configs, random = Math.random } = parts;
  const { compat } = settings.persistence;
  const handlers = registry.handlers.webhooks;
  const changed = condition();
  let hasNews = false;
  let cancelAlarm = (): void => {};
  const onNews = (): void => {
    hasNews = true;
    changed.notify();
  };

  const own = childController(signal);
  // What is under way when we are told to exit is not cut off: else it could come to the server after our clean-up.
  const writing = lasting(signal, clock);
  const object = observation({ at, settings, clock, logger, random, onNews });
  const makeReconciler = compat === 'kopf' ? kopfReconciler : reconciler;
  const { create, reconcile, conclude } = makeReconciler({
    ...{ at, object, reason, clock, logger, random },
    signal: writing.signal,
  });
  const webhooksFor = ({ config }: Announcement, onlyPersistent = false): readonly WebhookEntry[] =>
    webhookEntries(handlers, { reason, managed: at.name, config, resources: insights.webhook, onlyPersistent, compat });
  const warnOfNeverCalled = warningOfNeverCalled(parts, reason);

  let isNew: boolean;
  try {
    isNew = await create(signal);
  } catch (error) {
    writing.dispose();
    if (signal.aborted) return;
    if (error instanceof ApiForbiddenError) {
      logger.error(`There is no permission to create the ${titleOf(at.resource, at.name)}: ${describeError(error)}`);
    }
    throw error;
  }
  const left = isNew || compat === 'kopf' ? undefined : leftovers({ at, object, handlers, reason, logger });

  const work = async (): Promise<void> => {
    for (;;) {
      await changed.until(() => hasNews, own.signal);
      hasNews = false;
      cancelAlarm();
      const announcement = configs.value;
      if (announcement === undefined) {
        left?.tell();
        continue;
      }
      const outcome = await reconcile({ by: announcement, webhooks: webhooksFor(announcement) });
      if (outcome === 'done') announcement.applied(reason);
      else cancelAlarm = alarm(clock, outcome, onNews);
    }
  };
  const follow = async (source: AsyncIterable<unknown>): Promise<void> => {
    for await (const _ of source) {
      warnOfNeverCalled();
      onNews();
    }
  };
  const removeLeftovers = async (): Promise<void> => {
    const secondsLeft = await clock.sleep(LEFTOVERS_GRACE, { wakeup: own.signal });
    if (secondsLeft === undefined && configs.value === undefined) await left?.remove(writing.signal);
  };

  const tasks = [work(), follow(configs.values(own.signal)), follow(insights.revisions(own.signal))];
  if (compat !== 'kopf') tasks.push(object.watch(own.signal));
  if (left !== undefined) tasks.push(removeLeftovers());
  try {
    await Promise.all(tasks);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    own.abort();
    cancelAlarm();
    await Promise.allSettled(tasks);
    // If there was no address, then there is nothing of ours.
    const announcement = configs.value;
    if (announcement !== undefined) await conclude(webhooksFor(announcement, true));
    writing.dispose();
  }
}

/** Warns of handlers that are declared in vain, once for each. */
function warningOfNeverCalled({ registry, insights, logger }: KeeperParts, reason: AdmissionReason): () => void {
  const told = new Set<unknown>();
  return () => {
    for (const handler of neverCalled(registry.handlers.webhooks, { reason, resources: insights.webhook })) {
      if (told.has(handler)) continue;
      told.add(handler);
      logger.warn(
        `${titleOfHandler(handler)} will never be called: API servers never send reviews of their own admission settings.`,
      );
    }
  };
}

/** A signal that aborts some time after the other one. */
function lasting(signal: AbortSignal, clock: Clock): { readonly signal: AbortSignal; dispose(): void } {
  const late = childController();
  let cancelAlarm = (): void => {};
  const forget = onAbort(signal, () => {
    const tooLong = new Error(`It took longer than ${EXIT_LIMIT} seconds.`);
    cancelAlarm = alarm(clock, EXIT_LIMIT, () => late.abort(tooLong));
  });
  return {
    signal: late.signal,
    dispose() {
      forget();
      cancelAlarm();
    },
  };
}
