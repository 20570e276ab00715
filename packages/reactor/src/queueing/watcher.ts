/** Watches one target and passes its events to the objects. */
import { KopfError, type Scheduler, type Seconds, type Settings, type WatchTarget } from '@kopf-ts/core';
import {
  type ConnectionLimiter,
  childController,
  describeError,
  formatResource,
  type ServerCapabilities,
  type ToggleView,
  toError,
  type WatchSignal,
  watchInto,
} from '@kopf-ts/core/engine';
import type { HandledObject } from '../objects/object.js';
import { type StreamObjectsOptions, type StreamObjectsParts, streamObjects } from '../objects/stream-objects.js';
import { servedOf } from '../served.js';
import { settlesWithin } from '../settles-within.js';
import { followers } from './followers.js';

export interface WatcherParts extends StreamObjectsParts {
  /** A new one for each stream; the title is for logs: `pods.v1`. */
  readonly scheduler: (of: { readonly title: string }) => Scheduler;
  readonly capabilities?: ServerCapabilities | undefined;
  readonly limiter?: ConnectionLimiter | undefined;
}

interface WatcherOptions extends Omit<StreamObjectsOptions, 'resource'> {
  readonly target: WatchTarget;
  /** Asked at the end: whether the objects are not ours any more, though they may still exist. Default: they are. */
  readonly hasLeft?: (() => boolean) | undefined;
}

/** How long handlers that are told to end may take for that, at the exit; and which part of the whole time for it. */
const HUNG_GRACE: Seconds = 5;
const HUNG_SHARE = 0.25;

/** Watches the target and handles its objects until the signal aborts. Rejects only on internal errors. */
export type RunWatcher = (options: WatcherOptions) => Promise<void>;

export function watcherOf(parts: WatcherParts): RunWatcher {
  return async (options) => {
    const { target, paused, signal } = options;
    const { resource, namespace } = target;
    const { client, settings, clock, logger, capabilities, limiter, random, facts } = parts;
    const scheduler = parts.scheduler({ title: formatResource(resource) });
    const streamControl = childController(signal);
    let failure: unknown;
    const fail = (error: unknown): void => {
      failure = error;
      streamControl.abort(error);
    };
    scheduler.failed.catch(fail);
    const { includes } = servedOf(parts, resource);
    const { signal: streamSignal } = streamControl;
    const watching = { settings, clock, logger, paused, capabilities, limiter, random, facts, signal: streamSignal };
    const isSelecting = target.labelSelector !== undefined || target.fieldSelector !== undefined;
    const onIdle = isSelecting ? ({ uid }: HandledObject): void => left?.onIdle(uid) : undefined;
    const objects = streamObjects(parts, { resource, namespace, paused, signal, includes, onIdle }, scheduler);
    const left = isSelecting ? followers({ ...parts, target, watching, objects, includes }) : undefined;
    const stopPausing = whenever(paused, () => objects.pause(), streamControl.signal);
    try {
      const onSignal = (event: WatchSignal): void => {
        try {
          if (event.type === 'LISTED') {
            objects.listed();
            left?.listed();
          } else if (event.type === 'REWOUND') objects.rewound();
          else if (!left?.take(event)) objects.push(event);
        } catch (error) {
          // Not a failure of the stream: reconnecting does not help.
          fail(error);
        }
      };
      await watchInto(client, target, watching, onSignal);
    } finally {
      stopPausing();
      streamControl.dispose();
      await left?.end();
      await objects.drain();
      const closed = scheduler.close();
      if (!(await settlesWithin(clock, hungGrace(settings), closed))) objects.abandon();
      if (options.hasLeft?.()) await objects.leave();
      objects.dispose();
    }
    if (failure !== undefined) {
      throw new KopfError(`Event processing has failed with an unrecoverable error: ${describeError(failure)}`, {
        cause: toError(failure),
      });
    }
  };
}

/** Calls the function whenever the toggle turns on, until stopped. */
function whenever(toggle: ToggleView, fn: () => void, signal: AbortSignal): () => void {
  const control = childController(signal);
  const loop = async (): Promise<void> => {
    for (;;) {
      await toggle.whenOn(control.signal);
      fn();
      await toggle.whenOff(control.signal);
    }
  };
  loop().catch(() => {});
  return () => control.abort();
}

function hungGrace({ process }: Settings): Seconds {
  return Math.min(HUNG_GRACE, (process.ultimateExitingTimeout ?? Number.POSITIVE_INFINITY) * HUNG_SHARE);
}
