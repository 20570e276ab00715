/**
 * Detects that a cluster was restored from a backup, so that its versions went back. A watch from a future version
 * stays silent until the cluster reaches it again, so all changes until then would be missed. Hence, after failures,
 * the current version is requested; and whenever a version is lower than one seen before, everything is listed again.
 */
import { describeError } from '../../errors.js';
import { compareVersions } from '../../values/objects/versions.js';
import { resourceUrl } from '../../values/resources/resource.js';
import { checkedList } from '../list-answers.js';
import type { Connection } from './connection.js';
import type { StreamParts } from './stream-parts.js';

/** The versions that a watch stream has seen. */
export class SeenVersions {
  /** The highest version of lists, bookmarks and events. */
  newest: string | undefined;
  /** There was a failure since the version of the server was last known: it may have been restored meanwhile. */
  isDoubtful = false;

  remember(version: string): void {
    const order = compareVersions(version, this.newest);
    if (order !== undefined && order <= 0) return;
    this.newest = version;
    // It continues from where it was: there is nothing to ask for.
    this.isDoubtful = false;
  }

  forget(): void {
    this.newest = undefined;
    this.isDoubtful = false;
  }
}

/** Whether the current version of the server, from a list or a bookmark, is lower than one seen before. */
export function isRewound(newest: string | undefined, current: string | undefined): boolean {
  const order = compareVersions(current, newest);
  return order !== undefined && order < 0;
}

/**
 * Requests the current version if there was a failure since it was last known. Interrupts the connection if it is
 * lower.
 *
 * This also ends the silence of quiet servers: they send no bookmarks while their cache of the kind is behind the
 * version that the stream has reached, and the request makes the cache catch up.
 */
export async function checkVersion(
  { client, target, title, logger, versions, options }: StreamParts,
  connection: Connection,
): Promise<void> {
  const { resource, namespace, labelSelector, fieldSelector } = target;
  const { signal } = connection;
  if (!versions.isDoubtful || versions.newest === undefined) return;
  try {
    await options.limiter?.acquire(signal);
    // Events keep coming during the request: the response can be older than they are, but not older than those before
    // it.
    const { newest } = versions;
    // The empty version means the newest state. One object is enough: only the version of the list matters.
    const query = { labelSelector, fieldSelector, limit: 1, resourceVersion: '' };
    const path = resourceUrl(resource, { namespace, query });
    const answer = await client.request({ method: 'GET', path, retries: 'none', signal });
    const { resourceVersion } = checkedList(answer, resource).metadata;
    if (signal.aborted) return;
    if (isRewound(newest, resourceVersion)) connection.interrupt('rewound');
    else versions.isDoubtful = false;
  } catch (error) {
    // It is requested again next time; the stream itself reports failures of the server.
    if (signal.aborted) return;
    logger.debug(`The current version of ${title} is not known: ${describeError(error)}`);
  }
}
