/**
 * Posts events about objects to the cluster: later, few at a time, and with no effect on anything else. Events are
 * for people: whatever goes wrong here is only logged, and the operator goes on.
 */
import type { Clock, EventPoster, KubeClient, KubeEvent, Logger, Seconds, Service, Settings } from '@kopf-ts/core';
import { childController, describeError, onAbort, postEvent, retryable, toError } from '@kopf-ts/core/engine';
import { type AggregationLimits, eventAggregation } from './aggregation.js';
import { countedEvents, lossReport } from './losses.js';
import type { OutgoingEvent } from './series.js';

interface EventPosterLimits extends AggregationLimits {
  /** How many requests are made at once. */
  readonly concurrency: number;
  /** How long the rest may take when the operator stops. */
  readonly exitTimeout: Seconds;
}

/**
 * What posting needs of an operator.
 *
 * ```ts
 * const options: kopf.reactor.EventPosterOptions = { settings, clock, logger, client: () => client };
 * ```
 */
export interface EventPosterOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The way to the cluster, or who knows it when it is needed. */
  readonly client: KubeClient | (() => KubeClient);
  /** Where events about cluster-scoped objects go, as far as the credentials tell; otherwise, to `default`. */
  readonly defaultNamespace?: (() => string | undefined) | undefined;
  readonly limits?: Partial<EventPosterLimits> | undefined;
}

const LIMITS: EventPosterLimits = {
  window: 10,
  perObject: { burst: 25, perSecond: 1 / 5 },
  overall: { burst: 200, perSecond: 50 },
  waiting: 10_000,
  attempts: 5,
  concurrency: 4,
  exitTimeout: 2,
};

/**
 * The poster takes events at any time, also before the service runs: they wait for it. When the service is stopped,
 * it posts what is left, for a short time; what comes afterwards is lost. Losses of all kinds are told in the logs.
 *
 * ```ts
 * const { poster, service } = kopf.reactor.eventPoster({ settings, clock, logger, client });
 * poster.post({ about: body, type: 'Normal', reason: 'Resized', message: 'It has 5 GiB now.' });
 * await service.run(signal);
 * ```
 */
export function eventPoster(options: EventPosterOptions): { readonly poster: EventPoster; readonly service: Service } {
  const { clock, logger, settings, client, defaultNamespace } = options;
  const limits = { ...LIMITS, ...options.limits };
  const events = eventAggregation(limits);
  let state: 'waiting' | 'running' | 'stopping' | 'ended' = 'waiting';
  let isWarnedOfTheEnd = false;
  /** How many requests are made now, and how many times of events they stand for. */
  let requests = 0;
  let underway = 0;
  let wake = (): void => {};
  const losses = lossReport(clock, logger, limits.window);

  const isStopping = (): boolean => state === 'stopping';

  const post = (event: KubeEvent): void => {
    if (state === 'ended') {
      if (!isWarnedOfTheEnd) logger.warn('Events are not posted anymore: the operator has stopped.');
      isWarnedOfTheEnd = true;
      return;
    }
    try {
      events.add(event, { now: clock.now(), utc: clock.utc() });
    } catch (error) {
      // What is being reported on may be anything, and may be broken in any way.
      logger.warn(`Failed to post an event: ${describeError(error)}`, { error: toError(error) });
    }
    losses.dropped(events.takeDropped());
    wake();
  };

  const send = async (outgoing: OutgoingEvent, signal: AbortSignal): Promise<void> => {
    const { event, repeats } = outgoing;
    requests += 1;
    underway += repeats.count;
    try {
      const failure = await postEvent(typeof client === 'function' ? client() : client, event, {
        settings,
        clock,
        logger,
        repeats,
        defaultNamespace: defaultNamespace?.(),
        // The repeats of the client would hold up all other events, when it is the cluster that is in trouble.
        retries: 'none',
        signal,
      });
      const isToBeRepeated = failure !== undefined && retryable(failure) === 'later' && state === 'running';
      if (isToBeRepeated && events.giveBack(outgoing, clock.now())) {
        logger.debug(`Posting the event failed; it will be posted again in ${limits.window} seconds.`);
      }
    } catch (error) {
      if (signal.aborted) return;
      logger.warn(`Failed to post an event: ${describeError(error)}`, { error: toError(error) });
    } finally {
      // When aborted, it stays among those that are lost.
      if (!signal.aborted) underway -= repeats.count;
      requests -= 1;
      wake();
    }
  };

  /** Starts as many requests as may be made now. */
  const sendAll = (signal: AbortSignal): void => {
    const isHurrying = isStopping();
    while (requests < limits.concurrency) {
      const outgoing = events.take(clock.now(), { isHurrying });
      if (outgoing === undefined) return;
      if (outgoing.isSummary) losses.merged(outgoing.repeats.count);
      void send(outgoing, signal);
    }
  };

  /** Until something happens that may permit more requests, or it is the time for them. */
  const pause = async (signal: AbortSignal): Promise<void> => {
    const awakened = childController(signal);
    wake = () => awakened.abort();
    try {
      const now = clock.now();
      const isBusy = requests >= limits.concurrency;
      const nextAt = isBusy ? undefined : events.nextAt(now, { isHurrying: isStopping() });
      const times = [nextAt, losses.nextAt].filter((time) => time !== undefined);
      if (times.length === 0) await new Promise<void>((resolve) => void onAbort(awakened.signal, () => resolve()));
      else await clock.sleep(Math.min(...times) - now, { wakeup: awakened.signal });
    } finally {
      wake = () => {};
      awakened.dispose();
    }
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    const deadline = childController();
    state = 'running';
    const forget = onAbort(signal, () => {
      state = 'stopping';
      wake();
      // Nobody waits for it: whichever comes first, the deadline or the end of all requests, ends the run.
      void clock.sleep(limits.exitTimeout, { wakeup: deadline.signal }).then(() => deadline.abort());
    });
    try {
      while (!deadline.signal.aborted) {
        sendAll(deadline.signal);
        losses.report();
        if (isStopping() && requests === 0 && events.pending === 0) break;
        await pause(deadline.signal);
      }
    } finally {
      state = 'ended';
      forget();
      deadline.abort(new Error('The time for posting events is over.'));
      losses.report({ isLast: true });
      const lost = events.pending + underway;
      if (lost > 0) logger.warn(`${countedEvents(lost)} lost: the operator has stopped before posting them.`);
    }
  };

  return { poster: { post }, service: { name: 'poster of events', run } };
}
