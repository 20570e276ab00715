/** What is collected for posting: the same event over and over again, reduced to what is needed to tell of it. */
import { type Body, buildObjectReference, type KubeEvent, type Seconds } from '@kopf-ts/core';
import { cutEventMessage, type EventRepeats } from '@kopf-ts/core/engine';

/** One event to be posted: of one time, of several, or a summary of different ones. */
export interface OutgoingEvent {
  readonly event: KubeEvent;
  readonly repeats: EventRepeats;
  /** Whether it stands for different events, whose texts are lost. */
  readonly isSummary: boolean;
  /** Which attempt it is, beginning with 1. */
  readonly attempt: number;
}

/** The same event, over and over again. */
export interface EventSeries {
  readonly key: string;
  readonly objectKey: string;
  readonly event: KubeEvent;
  /** Not posted yet. */
  repeats: EventRepeats | undefined;
  windowEndsAt: Seconds;
  /** In a row, until now. */
  failures: number;
}

/**
 * The event with no more of the object than needed to refer to it: objects may be big, and may change meanwhile.
 * Events about events are never posted.
 */
export function describeEvent(event: KubeEvent): Pick<EventSeries, 'key' | 'objectKey' | 'event'> | undefined {
  const { apiVersion, kind, name, namespace, uid } = buildObjectReference(event.about);
  if (apiVersion === 'v1' && kind === 'Event') return undefined;
  const about: Body = {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
    },
  };
  const { type, reason } = event;
  const message = cutEventMessage(String(event.message));
  const objectKey = uid ?? JSON.stringify([apiVersion, kind, namespace, name]);
  return {
    key: JSON.stringify([objectKey, type, reason, message]),
    objectKey,
    event: { about, type, reason, message },
  };
}

export function joinedRepeats(earlier: EventRepeats | undefined, later: EventRepeats | undefined): EventRepeats {
  if (earlier === undefined || later === undefined) return (earlier ?? later) as EventRepeats;
  return { count: earlier.count + later.count, first: earlier.first, last: later.last };
}

export function summaryOf({ message }: KubeEvent, count: number): string {
  return `${count} events were too many to be posted one by one. The last of them: ${message}`;
}
