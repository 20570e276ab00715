/** What is known of one configuration in the cluster: by our own writes, and by a watch-stream if it is permitted. */
import {
  type AnyObject,
  ApiForbiddenError,
  type Clock,
  type Logger,
  type Resource,
  type Seconds,
  type Settings,
} from '@kopf-ts/core';
import { childController, describeError, watchInto, watchTarget } from '@kopf-ts/core/engine';
import type { ConfigurationAddress } from './configuration-object.js';

/** When to ask again for what was not permitted. */
const FORBIDDEN_PAUSE: Seconds = 600;

export interface Observation {
  /** The newest state; `'unknown'` before the first one. */
  readonly state: AnyObject | 'absent' | 'unknown';
  /** Whether changes made by others are noticed. */
  readonly isWatched: boolean;
  /** Takes the answer to a request of ours: it is newer than whatever comes from the stream with older versions. */
  learn(state: AnyObject | 'absent'): void;
  /** Watches until aborted. If that is not permitted, it is told once, and asked for from time to time. */
  watch(signal: AbortSignal): Promise<void>;
}

export interface ObservationOptions {
  readonly at: ConfigurationAddress;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random?: (() => number) | undefined;
  /** Called whenever others have changed it. */
  readonly onNews: () => void;
}

export function observation({ at, settings, clock, logger, random, onNews }: ObservationOptions): Observation {
  const { client, resource, name } = at;
  const title = titleOf(resource, name);
  let state: Observation['state'] = 'unknown';
  let isWatched = false;
  let isRefusalTold = false;

  const observe = (body: AnyObject): void => {
    if (isOlder(body, state)) return;
    state = body;
    onNews();
  };
  const lose = (body?: AnyObject): void => {
    const isNamesake = typeof state === 'object' && body !== undefined && body.metadata?.uid !== state.metadata?.uid;
    if (isNamesake || state === 'absent') return;
    state = 'absent';
    onNews();
  };

  const tellOfRefusal = (error: Error): void => {
    if (isRefusalTold) return;
    isRefusalTold = true;
    logger.warn(
      `Changes of the ${title} will not be noticed, as it is not permitted to list and watch it: if it is edited or ` +
        `deleted by others, also by another replica on its exit, it stays so until the next change of ours. ` +
        describeError(error),
    );
  };

  const watchOnce = async (signal: AbortSignal): Promise<'forbidden' | undefined> => {
    const { signal: own, abort } = childController(signal);
    let outcome: 'forbidden' | undefined;
    let isSeen = false;
    const options = {
      settings,
      clock,
      logger: quieter(logger),
      signal: own,
      ...(random === undefined ? {} : { random }),
      onTrouble: (error: Error | undefined) => {
        if (error === undefined) return;
        isWatched = false;
        if (!(error instanceof ApiForbiddenError)) return;
        tellOfRefusal(error);
        outcome = 'forbidden';
        abort();
      },
    };
    const target = watchTarget(resource, { fieldSelector: `metadata.name=${name}` });
    await watchInto(client, target, options, (event) => {
      isWatched = true;
      if (event.type === 'LISTED') {
        if (!isSeen) lose();
      } else if (event.type === 'REWOUND') {
        if (typeof state === 'object') state = 'unknown';
      } else if (event.object.metadata?.name === name) {
        isSeen = true;
        if (event.type === 'DELETED') lose(event.object);
        else observe(event.object);
      }
    });
    return outcome;
  };

  return {
    get state() {
      return state;
    },
    get isWatched() {
      return isWatched;
    },
    learn(newest) {
      if (newest === 'absent' || !isOlder(newest, state)) state = newest;
    },
    async watch(signal) {
      while (!signal.aborted) {
        if ((await watchOnce(signal)) === 'forbidden') {
          await clock.sleep(FORBIDDEN_PAUSE, { wakeup: signal });
        }
      }
    },
  };
}

/** A configuration in the logs. */
export function titleOf({ plural }: Resource, name: string): string {
  return `${plural.replace('webhookconfigurations', '')} webhook configuration '${name}'`;
}

const DIGITS = /^\d+$/;

function isOlder(body: AnyObject, than: Observation['state']): boolean {
  if (typeof than !== 'object' || than.metadata?.uid === undefined || body.metadata?.uid !== than.metadata.uid) {
    return false;
  }
  const [version, known] = [body.metadata?.resourceVersion ?? '', than.metadata.resourceVersion ?? ''];
  return DIGITS.test(version) && DIGITS.test(known) && BigInt(version) < BigInt(known);
}

/** What is not permitted is told by ourselves, and of all the rest the streams of the operator tell as well. */
function quieter(logger: Logger): Logger {
  return {
    debug: (message, fields) => logger.debug(message, fields),
    info: (message, fields) => logger.debug(message, fields),
    warn: (message, fields) => logger.debug(message, fields),
    error: (message, fields) => logger.error(message, fields),
    child: (fields) => quieter(logger.child(fields)),
  };
}
