/**
 * A cluster can be restored from a backup: its versions go back then. A watch from a version of the future is silent
 * until the cluster gets there again, so nothing that happens meanwhile would ever be seen. Hence, after a trouble, the
 * current version is asked for; and whenever a version is below what was seen before, everything is listed anew.
 */
import { describeError } from '../../errors.js';
import { compareVersions } from '../../values/objects/versions.js';
import { resourceUrl } from '../../values/resources/resource.js';
import { checkedList } from '../list-answers.js';
import type { Connection } from './connection.js';
import type { StreamParts } from './stream-parts.js';

/** The versions that a watch-stream has seen. */
export class SeenVersions {
  /** The highest one: of lists, bookmarks and events. */
  newest: string | undefined;
  /** There was a trouble since the version of the server was last known: it may have been restored meanwhile. */
  isDoubtful = false;

  remember(version: string): void {
    const order = compareVersions(version, this.newest);
    if (order !== undefined && order <= 0) return;
    this.newest = version;
    // It goes on from where it was: there is nothing to ask for.
    this.isDoubtful = false;
  }

  forget(): void {
    this.newest = undefined;
    this.isDoubtful = false;
  }
}

/** Is the current version of the server, as a list or a bookmark has it, below what was seen before? */
export function isRewound(newest: string | undefined, current: string | undefined): boolean {
  const order = compareVersions(current, newest);
  return order !== undefined && order < 0;
}

/**
 * Asks for the current version, if there was a trouble since it was last known. Interrupts the connection if it is below.
 *
 * It also ends the silence of servers that have nothing to tell: these send no bookmarks while their cache of the kind
 * is behind the version that the stream has reached, and the asking makes the cache catch up.
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
    // Events go on coming while it is asked for: the answer can be older than they are, but not than those before it.
    const { newest } = versions;
    // The empty version means the newest state. One object is enough: it is the version of the list that matters.
    const query = { labelSelector, fieldSelector, limit: 1, resourceVersion: '' };
    const path = resourceUrl(resource, { namespace, query });
    const answer = await client.request({ method: 'GET', path, retries: 'none', signal });
    const { resourceVersion } = checkedList(answer, resource).metadata;
    if (signal.aborted) return;
    if (isRewound(newest, resourceVersion)) connection.interrupt('rewound');
    else versions.isDoubtful = false;
  } catch (error) {
    // It is asked again the next time; the stream itself reports troubles with the server.
    if (signal.aborted) return;
    logger.debug(`The current version of ${title} is not known: ${describeError(error)}`);
  }
}
