/** Admission as a part of an operator: the server, and the configurations that lead the API servers to it. */
import { type ConnectionInfo, KopfError, type Seconds, type Service, type WebhookClientConfig } from '@kopf-ts/core';
import { type Container, container, NO_FACTS, onAbort, placedTitleOf, untilAborted } from '@kopf-ts/core/engine';
import { type Announcement, configurationKeeper } from './configurations/keeper.js';
import type { AdmissionReason } from './configurations/webhook-entries.js';
import { type ReviewParts, reviewer } from './reviewing/reviewer.js';

/**
 * What admission needs of an operator.
 *
 * ```ts
 * const withConnection = (parts: kopf.webhooks.AdmissionParts): kopf.webhooks.AdmissionParts => ({
 *   ...parts,
 *   connection: () => kopf.client.login(),
 * });
 * ```
 */
export interface AdmissionParts extends ReviewParts {
  /** How the operator itself reaches the cluster; absent if that is not known, e.g. with a client of one's own. */
  readonly connection?: (() => Promise<ConnectionInfo>) | undefined;
  /** Turned on when reviews can come in: the server is up, and the configurations have its address. */
  readonly served?: { turn(isOn: true): void } | undefined;
}

const REASONS: readonly AdmissionReason[] = ['validating', 'mutating'];

/** API servers watch the configurations: soon after a change they all know of it, but not at once. */
const PROPAGATION: Seconds = 1;
/** A part of the time for the exit, and the most of it: the server waits so long for the configurations to be withdrawn. */
const WITHDRAWAL = { part: 0.5, limit: 12 } as const;
/** A part of the time for the exit that can be spent on waiting until the withdrawal is known to all. */
const PROPAGATION_PART = 0.1;

/**
 * The services of admission. Which server it is, and what is managed, is read when they start: after the startup.
 *
 * ```ts
 * const servicesOf = (parts: kopf.webhooks.AdmissionParts): string[] =>
 *   kopf.webhooks.admission(parts).map(({ name }) => name);
 * ```
 */
export function admission(parts: AdmissionParts): readonly Service[] {
  const configs = container<Announcement>();
  const keepers = REASONS.map((reason) => noticed(configurationKeeper({ ...parts, configs }, reason)));
  const withdrawn = Promise.all(keepers.map(({ ended }) => ended));
  return [admissionServer(parts, configs, withdrawn), ...keepers];
}

function admissionServer(
  parts: AdmissionParts,
  configs: Container<Announcement>,
  withdrawn: Promise<unknown>,
): Service {
  const { registry, settings, insights, logger, clock, client, connection = noConnection, facts = NO_FACTS } = parts;
  return {
    name: 'admission webhook server',
    async run(signal) {
      const { server } = settings.admission;
      if (server === undefined && registry.handlers.webhooks.size > 0) throw noServer();
      if (server === undefined) return await untilAborted(signal);
      warnOfUnmanaged(parts);
      // Otherwise, early requests would be told that there is no such resource.
      await insights.whenReady(signal);
      // Both last longer than the operator: as long as API servers ask, they should be answered.
      const [serving, reviewing] = [new AbortController(), new AbortController()];
      const stop = async (reason: unknown): Promise<void> => {
        if (isManaged(parts, configs)) await untilNobodyAsks(parts, withdrawn);
        serving.abort(reason);
      };
      const forget = onAbort(signal, (reason) => void stop(reason));
      const review = reviewer(parts, { signal: reviewing.signal });
      try {
        for await (const config of server.serve({
          review,
          signal: serving.signal,
          logger,
          clock,
          client,
          connection,
          refused: ({ code, why, from }) => {
            if (facts.wants['webhook.refused']) facts.tell({ kind: 'webhook.refused', code, why, from });
          },
          certified: (until) => {
            if (facts.wants['webhook.certified']) facts.tell({ kind: 'webhook.certified', until });
          },
        })) {
          await announce(parts, configs, config, signal);
          if (!signal.aborted) continue;
          await untilAborted(serving.signal);
          break;
        }
      } finally {
        forget();
        reviewing.abort(new DOMException('The admission server has stopped.', 'AbortError'));
      }
    },
  };
}

/**
 * Puts the address where the configurations are made. Resolves when they all have it and the API servers know: only
 * then the server can do what depends on that, e.g. use certificates of an authority that was just announced.
 */
async function announce(
  { settings, clock, served }: AdmissionParts,
  configs: Container<Announcement>,
  config: WebhookClientConfig,
  signal: AbortSignal,
): Promise<void> {
  const awaited = new Set(REASONS);
  await new Promise<void>((resolve) => {
    const forget = onAbort(signal, () => resolve());
    const applied = (reason: AdmissionReason): void => {
      awaited.delete(reason);
      if (awaited.size > 0) return;
      forget();
      resolve();
    };
    configs.put({ config, applied });
  });
  if (awaited.size > 0) return;
  served?.turn(true);
  if (settings.admission.managed !== undefined) await clock.sleep(PROPAGATION, { wakeup: signal });
}

/** Some people register the webhooks by themselves. For all others, reviews would never come. */
function warnOfUnmanaged({ registry, settings, logger }: AdmissionParts): void {
  if (settings.admission.managed !== undefined || registry.handlers.webhooks.size === 0) return;
  const titles = [...registry.handlers.webhooks].map((handler) => placedTitleOf(handler));
  logger.warn(
    'There are admission handlers, but settings.admission.managed is not set: no API server calls them unless you maintain ' +
      'the webhook configurations in the cluster yourself. To have the operator maintain them, set it to a domain, such ' +
      `as 'auto.kopf.dev', in a startup handler. They are: ${titles.join(', ')}.`,
  );
}

function isManaged({ settings }: AdmissionParts, configs: Container<Announcement>): boolean {
  return settings.admission.managed !== undefined && configs.value !== undefined;
}

/** Until the webhooks are withdrawn, API servers call us, and refuse the requests of users if nobody answers. */
async function untilNobodyAsks({ settings, clock }: AdmissionParts, withdrawn: Promise<unknown>): Promise<void> {
  const timeout = settings.process.ultimateExitingTimeout ?? Number.POSITIVE_INFINITY;
  const isDone = new AbortController();
  void withdrawn.then(() => isDone.abort());
  await clock.sleep(Math.min(WITHDRAWAL.limit, timeout * WITHDRAWAL.part), { wakeup: isDone.signal });
  await clock.sleep(Math.min(PROPAGATION, timeout * PROPAGATION_PART));
}

/** The same service, and a promise that it has ended, in whatever way. */
function noticed(service: Service): Service & { readonly ended: Promise<void> } {
  let notice = (): void => {};
  const ended = new Promise<void>((resolve) => {
    notice = resolve;
  });
  return { name: service.name, run: (signal) => service.run(signal).finally(notice), ended };
}

function noServer(): KopfError {
  return new KopfError(
    'There are admission handlers, but no admission server/tunnel is set: API servers have no address to call. Set ' +
      'settings.admission.server to one of those in `webhooks`, or to your own, in a startup handler or earlier.',
    { code: 'KOPF_NO_ADMISSION_SERVER' },
  );
}

function noConnection(): Promise<never> {
  return Promise.reject(
    new KopfError(
      'The address of the cluster is unknown: the operator was given a ready-made client and did ' +
        'not log in itself.',
      { code: 'KOPF_NO_CONNECTION' },
    ),
  );
}
