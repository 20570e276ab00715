/**
 * The kinds of events.k8s.io/v1, and what they are made of.
 *
 * Written by `npm run schemas`, by what Kubernetes 1.36 says of itself; not to be edited by hand.
 */
import type { ResourceToken } from '@kopf-ts/core';
import type { MicroTime, ObjectMeta, Time } from '../../meta.k8s.io/v1/index.js';
import type { EventSource, ObjectReference } from '../../v1/index.js';

/** Event is a report of an event somewhere in the cluster. */
export interface Event {
  apiVersion?: 'events.k8s.io/v1';
  kind?: 'Event';
  /** Standard object's metadata. */
  metadata: ObjectMeta;
  /** action is what action was taken/failed regarding to the regarding object. */
  action?: string;
  /** deprecatedCount is the deprecated field assuring backward compatibility with core.v1 Event type. */
  deprecatedCount?: number;
  /** deprecatedFirstTimestamp is the deprecated field assuring backward compatibility with core.v1 Event type. */
  deprecatedFirstTimestamp?: Time;
  /** deprecatedLastTimestamp is the deprecated field assuring backward compatibility with core.v1 Event type. */
  deprecatedLastTimestamp?: Time;
  /** deprecatedSource is the deprecated field assuring backward compatibility with core.v1 Event type. */
  deprecatedSource?: EventSource;
  /** eventTime is the time when this Event was first observed. */
  eventTime: MicroTime;
  /** note is a human-readable description of the status of this operation. */
  note?: string;
  /** reason is why the action was taken. */
  reason?: string;
  /** regarding contains the object this Event is about. */
  regarding?: ObjectReference;
  /** related is the optional secondary object for more complex actions. */
  related?: ObjectReference;
  /** reportingController is the name of the controller that emitted this Event, e.g. */
  reportingController?: string;
  /** reportingInstance is the ID of the controller instance, e.g. */
  reportingInstance?: string;
  /** series is data about the Event series this event represents or nil if it's a singleton Event. */
  series?: EventSeries;
  /** type is the type of this event (Normal, Warning), new types could be added in the future. */
  type?: string;
}
/** The events of `events.k8s.io/v1`. They are in namespaces. */
export const Event: ResourceToken<Event, string> = { selector: { group: 'events.k8s.io', version: 'v1', plural: 'events' }, namespaced: true };

/**
 * EventSeries contain information on series of events, i.e. thing that was/is happening continuously for some
 * time.
 */
export interface EventSeries {
  /** count is the number of occurrences in this series up to the last heartbeat time. */
  count: number;
  /** lastObservedTime is the time when last Event from the series was seen before last heartbeat. */
  lastObservedTime: MicroTime;
}
