/** Kubernetes events about objects, as Kopf writes them. */

import { describeError, toError } from '../errors.js';
import type { KubeClient } from '../seams/client.js';
import type { Clock } from '../seams/clock.js';
import type { Logger } from '../seams/logger.js';
import type { KubeEvent } from '../seams/poster.js';
import type { Settings } from '../settings.js';
import type { AnyObject } from '../values/objects/body.js';
import { buildObjectReference } from '../values/objects/references.js';
import { formatTimestamp } from '../values/timestamps.js';

/** Several times of the same event, told as one. */
export interface EventRepeats {
  readonly count: number;
  /** When it happened for the first time, and for the last one. */
  readonly first: Date;
  readonly last: Date;
}

export interface BuildEventOptions {
  readonly settings: Pick<Settings, 'posting'>;
  /** When it happened. */
  readonly at: Date;
  /** If it happened several times: these times count, and not `at`. One time only is an event as any other. */
  readonly repeats?: EventRepeats | undefined;
  /** Where to put the events about cluster-scoped objects. Default: `default`. */
  readonly defaultNamespace?: string | undefined;
}

/** The event as it is sent to the cluster; `undefined` if it is about another event: those are never reported on. */
export function buildKubeEvent(event: KubeEvent, options: BuildEventOptions): AnyObject | undefined {
  const reference = buildObjectReference(event.about);
  if (reference.apiVersion === 'v1' && reference.kind === 'Event') return undefined;
  const { reportingComponent, reportingInstance, eventNamePrefix } = options.settings.posting;
  const namespace = reference.namespace ?? (options.defaultNamespace || 'default');
  const { count, first, last } = options.repeats ?? { count: 1, first: options.at, last: options.at };
  const firstTimestamp = formatTimestamp(first);
  return {
    metadata: { namespace, generateName: eventNamePrefix },
    action: 'Action?',
    type: event.type,
    reason: event.reason,
    message: cutEventMessage(event.message),
    reportingComponent,
    reportingInstance,
    source: { component: reportingComponent },
    involvedObject: { ...reference, namespace },
    firstTimestamp,
    lastTimestamp: formatTimestamp(last),
    eventTime: firstTimestamp,
    ...(count > 1 ? { count } : {}),
  };
}

/** The cluster refuses longer messages: so many bytes, though it calls them characters. */
const MAX_MESSAGE = 1024;
const CUT_MARK = '...';

/** Cuts the middle out of a long message: the beginning says what it is, and the end often says why. */
export function cutEventMessage(message: string): string {
  // A unit of a string takes three bytes at most, and one at least; so most messages need no measuring.
  if (message.length * 3 <= MAX_MESSAGE) return message;
  if (message.length <= MAX_MESSAGE && sizeOf(message) <= MAX_MESSAGE) return message;
  // Of a message of megabytes, nothing but its ends can remain.
  const ends =
    message.length <= 4 * MAX_MESSAGE ? message : message.slice(0, MAX_MESSAGE) + message.slice(-MAX_MESSAGE);
  const characters = [...ends];
  const head = Math.floor((MAX_MESSAGE - CUT_MARK.length + 1) / 2);
  const tail = MAX_MESSAGE - CUT_MARK.length - head;
  return [fitting(characters, head), CUT_MARK, fitting(characters.reverse(), tail).reverse()].flat().join('');
}

/** As many of the first characters as there is room for; a character is never cut in two. */
function fitting(characters: readonly string[], room: number): string[] {
  const taken: string[] = [];
  let left = room;
  for (const character of characters) {
    left -= sizeOf(character);
    if (left < 0) break;
    taken.push(character);
  }
  return taken;
}

function sizeOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

export interface PostEventOptions extends Omit<BuildEventOptions, 'at'> {
  readonly clock: Clock;
  readonly logger: Logger;
  /** How persistent the client is; by default, as its settings say. */
  readonly retries?: 'none' | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Posts the event. A failure to do so is only logged, and is the result, so that the caller can try again:
 * events are for people, and nothing depends on them.
 */
export async function postEvent(
  client: KubeClient,
  event: KubeEvent,
  options: PostEventOptions,
): Promise<Error | undefined> {
  const { clock, logger, retries, signal } = options;
  const body = buildKubeEvent(event, { ...options, at: clock.utc() });
  if (body === undefined) return undefined;
  try {
    await client.request({
      method: 'POST',
      path: `/api/v1/namespaces/${encodeURIComponent(body.metadata?.namespace ?? '')}/events`,
      contentType: 'application/json',
      body,
      ...(retries === undefined ? {} : { retries }),
      ...(signal === undefined ? {} : { signal }),
    });
    return undefined;
  } catch (thrown) {
    if (signal?.aborted) throw thrown;
    const error = toError(thrown);
    logger.warn(`Failed to post an event: ${describeError(thrown)}`, { error, object: body.involvedObject });
    return error;
  }
}
