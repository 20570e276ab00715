/** Kubernetes events about objects, as Kopf writes them. */

import { describeError, toError } from '../errors.js';
import type { KubeClient } from '../seams/client.js';
import type { Clock } from '../seams/clock.js';
import type { Logger } from '../seams/logger.js';
import type { KubeEvent } from '../seams/poster.js';
import type { Settings } from '../settings.js';
import type { AnyObject } from '../values/body.js';
import { buildObjectReference } from '../values/references.js';
import { formatTimestamp } from '../values/timestamps.js';

export interface BuildEventOptions {
  readonly settings: Pick<Settings, 'posting'>;
  /** When it happened. */
  readonly at: Date;
  /** Where to put the events about cluster-scoped objects. Default: `default`. */
  readonly defaultNamespace?: string | undefined;
}

/** The event as it is sent to the cluster; `undefined` if it is about another event: those are never reported on. */
export function buildKubeEvent(event: KubeEvent, options: BuildEventOptions): AnyObject | undefined {
  const reference = buildObjectReference(event.about);
  if (reference.apiVersion === 'v1' && reference.kind === 'Event') return undefined;
  const { reportingComponent, reportingInstance, eventNamePrefix } = options.settings.posting;
  const namespace = reference.namespace ?? (options.defaultNamespace || 'default');
  const timestamp = formatTimestamp(options.at);
  return {
    metadata: { namespace, generateName: eventNamePrefix },
    action: 'Action?',
    type: event.type,
    reason: event.reason,
    message: cutMessage(event.message),
    reportingComponent,
    reportingInstance,
    source: { component: reportingComponent },
    involvedObject: { ...reference, namespace },
    firstTimestamp: timestamp,
    lastTimestamp: timestamp,
    eventTime: timestamp,
  };
}

/** The cluster refuses longer messages: so many bytes, though it calls them characters. */
const MAX_MESSAGE = 1024;
const CUT_MARK = '...';

/** Cuts the middle out of a long message: the beginning says what it is, and the end often says why. */
function cutMessage(message: string): string {
  if (sizeOf(message) <= MAX_MESSAGE) return message;
  const characters = [...message];
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
  readonly signal?: AbortSignal | undefined;
}

/** Posts the event. A failure to do so is only logged: events are for people, and nothing depends on them. */
export async function postEvent(client: KubeClient, event: KubeEvent, options: PostEventOptions): Promise<void> {
  const { clock, logger, signal } = options;
  const body = buildKubeEvent(event, { ...options, at: clock.utc() });
  if (body === undefined) return;
  try {
    await client.request({
      method: 'POST',
      path: `/api/v1/namespaces/${encodeURIComponent(body.metadata?.namespace ?? '')}/events`,
      contentType: 'application/json',
      body,
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    logger.warn(`Failed to post an event: ${describeError(error)}`, {
      error: toError(error),
      object: body.involvedObject,
    });
  }
}
