/** The request by which a stream watches, and how long it takes to know that the server has agreed to it. */
import type { KubeRequest } from '../../seams/client.js';
import type { Seconds } from '../../seams/clock.js';
import { type QueryFields, resourceUrl } from '../../values/resources/resource.js';
import type { WatchTarget } from '../../values/resources/watch-target.js';
import type { WatchOptions } from './signals.js';

type Settings = WatchOptions['settings'];

/** From where to watch; `undefined` for the very beginning, and then the list comes by the same stream. */
export type WatchFrom = { readonly version: string | undefined } | undefined;

/** If connecting, or the answer after it, may take any time: when to presume that it is done. */
const PRESUMED_DONE: Seconds = 5;

export function watchRequest(
  { resource, namespace, labelSelector, fieldSelector }: WatchTarget,
  from: WatchFrom,
  { watching, networking }: Settings,
  random: () => number,
): KubeRequest {
  const query: QueryFields = {
    labelSelector,
    fieldSelector,
    watch: true,
    allowWatchBookmarks: true,
    ...(from === undefined ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } : {}),
    resourceVersion: from === undefined ? '' : from.version,
    timeoutSeconds: serverTimeout(watching.serverTimeout, random),
  };
  const connect = watching.connectTimeout ?? networking.connectTimeout ?? networking.requestTimeout;
  const headers = networking.headersTimeout;
  const total = watching.clientTimeout;
  return {
    method: 'GET',
    path: resourceUrl(resource, { namespace, query }),
    // The retries are ours: only here it is known from which version, and whether anybody still wants it.
    retries: 'none',
    timeouts: {
      ...(connect === undefined ? {} : { connect }),
      ...(headers === undefined ? {} : { headers }),
      ...(total === undefined ? {} : { total }),
    },
  };
}

/** Different for each request, so that all streams of all operators do not come back at the same moment. */
function serverTimeout(timeout: Settings['watching']['serverTimeout'], random: () => number): number | undefined {
  if (timeout === undefined) return undefined;
  const seconds = typeof timeout === 'number' ? timeout : timeout.min + random() * (timeout.max - timeout.min);
  return Math.max(1, Math.round(seconds));
}

/**
 * A client does not have to tell of success before the first line. But it tells of failures in time: so if there is none
 * when all the limits are over, the server must have agreed to watch, and there is just nothing to tell.
 */
export function handshakeLimit({ watching, networking }: Settings): Seconds {
  const connecting = watching.connectTimeout ?? networking.connectTimeout ?? PRESUMED_DONE;
  const answering = networking.headersTimeout ?? PRESUMED_DONE;
  return Math.min(connecting + answering, watching.inactivityTimeout);
}
