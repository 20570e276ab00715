/** The election of a leader by a lease, in the manner of client-go. */
import {
  ApiConflictError,
  ApiNotFoundError,
  type Clock,
  type KubeClient,
  type KubeRequest,
  type Logger,
  type Seconds,
} from '@kopf-ts/core';
import { childController, describeError, makeResource, onAbort, resourceUrl, sleepAmong } from '@kopf-ts/core/engine';
import { impatient, withinTime } from '../urgent-requests.js';
import {
  freeSince,
  heldSpec,
  holderOf,
  type Lease,
  type LeaseSpec,
  type ObservedLease,
  observeLease,
  releasedSpec,
} from './lease-record.js';

export interface ElectionOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly name: string;
  readonly namespace: string;
  readonly identity: string;
  readonly leaseDuration: Seconds;
  readonly renewDeadline: Seconds;
  readonly retryPeriod: Seconds;
  /** Called whenever the leadership is won or lost. */
  readonly onChange: (isLeading: boolean) => void;
  /** Called when it becomes known who leads instead. */
  readonly onRival?: ((holder: string) => void) | undefined;
}

export interface Election {
  /** The leadership is ours at this very moment: asked of the clock itself, and not of a timer that may be late. */
  readonly isLeading: boolean;
  /** Stands for election until aborted, and then releases the lease, if it is ours. Never fails. */
  run(signal: AbortSignal): Promise<void>;
}

const LEASES = makeResource({
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
});
/** How long the release may take: the operator is on its way out. */
const LEAVING_LIMIT: Seconds = 5;

/**
 * Every write is for the version that was seen: if anybody was faster, it is refused. Others are waited for until
 * their lease has not changed for its whole duration by our own clock.
 *
 * The leadership lasts from the moment *before* the request that has won or renewed it, and for `renewDeadline`, which
 * is shorter than what the others wait for since the moment *after* that request. So there is a gap in between, and
 * it does not matter how long we were asleep or what time the others think it is.
 */
export function election(options: ElectionOptions): Election {
  const { clock, logger, random, name, namespace, identity, leaseDuration, renewDeadline, retryPeriod } = options;
  const client = impatient(options.client);
  const title = `'${namespace}/${name}'`;
  const tooLate = `it was not renewed for ${renewDeadline} seconds`;
  let observed: ObservedLease | undefined;
  /** The beginning of the last successful request; the leadership is counted from there. */
  let renewedAt: Seconds | undefined;
  /** Aborts with the end of the leadership. */
  let term: AbortController | undefined;
  let failure: string | undefined;
  let rival: string | undefined;

  const isLeading = (): boolean => renewedAt !== undefined && clock.now() < renewedAt + renewDeadline;

  const win = (): void => {
    if (term !== undefined) return;
    rival = undefined;
    term = new AbortController();
    logger.info(`Became the leader: acquired the lease ${title} as ${identity}.`);
    void guardDeadline(term.signal);
    options.onChange(true);
  };

  const lose = (why: string): void => {
    renewedAt = undefined;
    if (term === undefined) return;
    term.abort();
    term = undefined;
    logger.warn(`Lost the lease ${title}: ${why}. Pausing operations.`);
    options.onChange(false);
  };

  /** Notices the end of the leadership even if a request hangs at that time. */
  const guardDeadline = async (signal: AbortSignal): Promise<void> => {
    try {
      while (!signal.aborted) {
        if (!isLeading()) return lose(tooLate);
        await clock.sleep((renewedAt ?? 0) + renewDeadline - clock.now(), { signal });
      }
    } catch {
      // The term is over for some other reason.
    }
  };

  const ask = (request: Omit<KubeRequest, 'path' | 'signal'>, signal: AbortSignal): Promise<Lease> => {
    const path = resourceUrl(LEASES, { namespace, ...(request.method === 'POST' ? {} : { name }) });
    return client.request<Lease>({ ...request, path, signal });
  };

  const write = async (spec: LeaseSpec, signal: AbortSignal): Promise<void> => {
    const lease: Lease = {
      ...(observed?.lease ?? { metadata: { name, namespace } }),
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      spec,
    };
    const method = observed === undefined ? 'POST' : 'PUT';
    const answer = await ask({ method, body: lease, contentType: 'application/json' }, signal);
    observed = observeLease(answer, clock.now(), observed);
  };

  const read = async (signal: AbortSignal): Promise<void> => {
    try {
      const lease = await ask({ method: 'GET' }, signal);
      observed = observeLease(lease, clock.now(), observed);
    } catch (error) {
      if (!(error instanceof ApiNotFoundError)) throw error;
      observed = undefined;
    }
  };

  const hold = async (signal: AbortSignal): Promise<void> => {
    const startedAt = clock.now();
    await write(heldSpec(observed?.lease.spec, { identity, leaseDuration, utc: clock.utc() }), signal);
    renewedAt = startedAt;
    // The answer may have come too late to be of any use.
    if (isLeading()) win();
  };

  /** One request to become the leader, or to stay so. */
  const tryToLead = async (signal: AbortSignal): Promise<void> => {
    // After a long sleep of the whole process, it is not said that the guard wakes up before us.
    if (!isLeading()) lose(tooLate);
    else {
      try {
        return await hold(signal);
      } catch (error) {
        // Maybe, it was us: the answer to the previous request could have been lost.
        if (!(error instanceof ApiConflictError) && !(error instanceof ApiNotFoundError)) throw error;
      }
    }
    await read(signal);
    const holder = observed === undefined ? '' : holderOf(observed);
    if (holder !== identity) {
      lose(holder === '' ? 'nobody holds it' : `${holder} holds it`);
      if (observed !== undefined && freeSince(observed) > clock.now()) return tellOfRival(holder);
    }
    try {
      await hold(signal);
    } catch (error) {
      if (!(error instanceof ApiConflictError)) throw error;
      logger.debug(`Another operator took the lease ${title} first.`);
    }
  };

  const tellOfRival = (holder: string): void => {
    if (holder === rival) return;
    rival = holder;
    logger.info(`Waiting for the lease ${title}, held by ${holder}.`);
    options.onRival?.(holder);
  };

  const tryInTime = async (signal: AbortSignal): Promise<void> => {
    try {
      await withinTime(clock, renewDeadline / 2, signal, tryToLead);
      failure = undefined;
    } catch (error) {
      if (signal.aborted) return;
      const text = describeError(error);
      const message = `Could not ${isLeading() ? 'renew' : 'acquire'} the lease ${title}: ${text}`;
      if (text === failure) logger.debug(message);
      else logger.warn(message, { error });
      failure = text;
    }
  };

  /**
   * Candidates come a little more often than client-go's, and at the very moment of the end of the lease: so that
   * nobody leads for no longer than the lease and one period.
   */
  const pause = (): Seconds => {
    if (isLeading()) return retryPeriod;
    const someTime = retryPeriod * (0.5 + random() * 0.4);
    const untilFree = observed === undefined ? someTime : freeSince(observed) - clock.now();
    return untilFree > 0 ? Math.min(someTime, untilFree) : someTime;
  };

  const release = async (signal: AbortSignal): Promise<void> => {
    for (let tries = 1; observed !== undefined && holderOf(observed) === identity; tries++) {
      try {
        await write(releasedSpec(observed.lease.spec, clock.utc()), signal);
        logger.debug(`Released the lease ${title}.`);
        return;
      } catch (error) {
        if (!(error instanceof ApiConflictError) || tries > 1) throw error;
        await read(signal);
      }
    }
  };

  return {
    get isLeading() {
      // Others act upon the end of the time; so it is over from then on, whatever comes meanwhile.
      if (term !== undefined && !isLeading()) lose(tooLate);
      return isLeading();
    },

    async run(signal) {
      const wakeup = childController(signal);
      // What is under way when we are told to leave is waited for: else we could get a lease and leave with it.
      const grace = childController();
      const forget = onAbort(signal, () => {
        clock.sleep(LEAVING_LIMIT, { signal: grace.signal }).then(
          () => grace.abort(new Error(`Leaving takes longer than ${LEAVING_LIMIT} seconds.`)),
          () => {},
        );
      });
      try {
        while (!signal.aborted) {
          await tryInTime(grace.signal);
          if (!signal.aborted) await sleepAmong(clock, pause(), { wakeup: wakeup.signal });
        }
        // First the write guard, then the release: from there on, somebody else may write.
        renewedAt = undefined;
        const wasLeading = term !== undefined;
        term?.abort();
        term = undefined;
        if (wasLeading) options.onChange(false);
        await withinTime(clock, LEAVING_LIMIT, grace.signal, release);
      } catch (error) {
        logger.warn(`Could not release the lease ${title}: ${describeError(error)}`, { error });
      } finally {
        forget();
        wakeup.dispose();
        grace.abort();
      }
    },
  };
}
