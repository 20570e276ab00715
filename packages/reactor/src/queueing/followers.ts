/**
 * Objects that are no longer served while we still work on them: each is followed by its name until our finalizer is off
 * and its handlers and daemons have ended.
 *
 * A stream with selectors reports the same for a deleted object and for one that has left the selection. A request by
 * name tells them apart. It is not sent if nothing is left to do for the object.
 *
 * A stream does not report objects that left while it was disconnected or before it began, so all objects are searched
 * once for our finalizer.
 */
import type { AnyObject, Body, WatchTarget } from '@kopf-ts/core';
import {
  childController,
  describeError,
  formatWatchTarget,
  type WatchedEvent,
  type WatchOptions,
  type WatchSignal,
  watchInto,
  watchTarget,
} from '@kopf-ts/core/engine';
import type { StreamObjects } from '../objects/stream-objects.js';
import type { OperatorParts } from '../parts.js';
import { streamLife } from '../stream-life.js';

export interface FollowersParts extends Pick<OperatorParts, 'client' | 'settings' | 'clock' | 'logger' | 'facts'> {
  readonly target: WatchTarget;
  readonly watching: WatchOptions;
  readonly objects: StreamObjects;
  /** Whether the object is served again. */
  readonly includes: ((body: Body) => boolean) | undefined;
}

export interface Followers {
  /** Accepts an event of the stream. Returns whether the followers handle it. */
  take(event: WatchedEvent): boolean;
  /** All served objects have been listed. */
  listed(): void;
  /** Nothing is left to do for the object at the moment. */
  onIdle(uid: string | undefined): void;
  /** Stops all followers. */
  end(): Promise<void>;
}

interface Follower {
  /** Its last known state; absent until it is known whether it exists. */
  body: AnyObject | undefined;
  stop(): void;
}

/** So many streams for single objects are enough at once. The others wait: most are done in a moment. */
const MAX_FOLLOWERS = 100;

export function followers({ target, objects, includes, watching, ...parts }: FollowersParts): Followers {
  const { client, settings, logger } = parts;
  const { resource, namespace } = target;
  const all = new Map<string, Follower>();
  const waiting = new Map<string, WatchedEvent>();
  const running = new Set<Promise<void>>();
  // At the beginning, too.
  let mayHaveMissed = true;
  const control = childController(watching.signal);

  const hasOurFinalizer = ({ metadata }: Body): boolean =>
    metadata?.finalizers?.includes(settings.persistence.finalizer) === true;

  /** Opens a stream beside the main one. Returns a function that ends it. */
  const watchBeside = (beside: WatchTarget, onSignal: (event: WatchSignal) => void): (() => void) => {
    const own = childController(control.signal);
    const { signal } = own;
    const life = streamLife(beside, parts);
    const ended = watchInto(client, beside, { ...watching, signal }, onSignal)
      .catch((error: unknown) => {
        const title = formatWatchTarget(beside);
        if (!signal.aborted) logger.error(`Watching ${title} has failed unexpectedly: ${describeError(error)}`);
      })
      .finally(() => {
        life.ended();
        running.delete(ended);
      });
    running.add(ended);
    return () => own.abort();
  };

  const forget = (uid: string): void => {
    all.get(uid)?.stop();
    all.delete(uid);
    waiting.delete(uid);
    const [next] = waiting;
    if (next === undefined || all.size >= MAX_FOLLOWERS || control.signal.aborted) return;
    waiting.delete(next[0]);
    follow(next[1], next[0]);
  };

  const endIfDone = (uid: string): void => {
    const body = all.get(uid)?.body;
    if (body === undefined || hasOurFinalizer(body) || objects.isAtWork(body)) return;
    forget(uid);
    void objects.drop(body);
  };

  const follow = (last: WatchedEvent, uid: string): void => {
    const { name, namespace: place } = last.object.metadata ?? {};
    if (all.size >= MAX_FOLLOWERS) {
      waiting.set(uid, last);
      return;
    }
    const named = watchTarget(resource, { namespace: place ?? namespace, fieldSelector: `metadata.name=${name}` });
    const stop = watchBeside(named, (event) => {
      if (all.get(uid) !== follower || event.type === 'REWOUND') return;
      const isGone = event.type === 'LISTED' ? follower.body === undefined : event.type === 'DELETED';
      if (event.type !== 'LISTED') {
        // It may be another object of the same name.
        if (event.object.metadata?.uid !== uid) return;
        follower.body = event.object;
        objects.push(event);
        if (!isGone) endIfDone(uid);
      } else if (isGone) {
        objects.push({ ...last, type: 'DELETED' });
      }
      if (isGone) forget(uid);
    });
    const follower: Follower = { body: undefined, stop };
    all.set(uid, follower);
  };

  /** Finds objects with our finalizer that are no longer served. */
  const findLeft = (): void => {
    if (includes === undefined) return;
    const stop = watchBeside(watchTarget(resource, { namespace }), (event) => {
      if (event.type === 'LISTED') stop();
      if (event.type === 'LISTED' || event.type === 'REWOUND' || event.type === 'DELETED') return;
      const { uid } = event.object.metadata ?? {};
      if (uid === undefined || !hasOurFinalizer(event.object) || includes(event.object)) return;
      if (!all.has(uid) && !waiting.has(uid)) follow(event, uid);
    });
  };

  return {
    take(event) {
      if (event.vanished) mayHaveMissed = true;
      const { uid } = event.object.metadata ?? {};
      if (uid === undefined) return false;
      if (event.type !== 'DELETED') {
        // It is served again.
        if (all.has(uid) || waiting.has(uid)) forget(uid);
        return false;
      }
      if (!hasOurFinalizer(event.object) && !objects.isAtWork(event.object)) return false;
      follow(event, uid);
      return true;
    },
    listed() {
      if (mayHaveMissed) findLeft();
      mayHaveMissed = false;
    },
    onIdle(uid) {
      if (uid !== undefined) endIfDone(uid);
    },
    async end() {
      control.abort();
      waiting.clear();
      await Promise.all(running);
      control.dispose();
    },
  };
}
