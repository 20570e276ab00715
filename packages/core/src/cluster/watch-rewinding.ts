/**
 * A cluster can be restored from a backup: its versions go back then. A watch from a version of the future is silent
 * until the cluster gets there again, so nothing that happens meanwhile would ever be seen. Hence, after a trouble, the
 * current version is asked for; and whenever a version is below what was seen before, everything is listed anew.
 */
import { describeError } from '../errors.js';
import { compareVersions } from '../values/objects/versions.js';
import { resourceUrl } from '../values/resources/resource.js';
import type { Attempt } from './attempt.js';
import { checkedList } from './list-answers.js';
import type { Emit, Stream } from './watch-stream.js';

/** Of lists, bookmarks and events: whatever comes, the highest of it is remembered. */
export function rememberVersion(stream: Stream, version: string): void {
  const order = compareVersions(version, stream.newest);
  if (order !== undefined && order <= 0) return;
  stream.newest = version;
  // It goes on from where it was: there is nothing to ask for.
  stream.isVersionDoubtful = false;
}

/** Is the current version of the server, as a list or a bookmark tells it, below what was seen before? */
export function isRewound({ newest }: Pick<Stream, 'newest'>, current: string | undefined): boolean {
  const order = compareVersions(current, newest);
  return order !== undefined && order < 0;
}

/** To be called before anything of the earlier state is told. */
export async function emitRewound(stream: Stream, emit: Emit): Promise<void> {
  const { logger, title, newest } = stream;
  logger.warn(
    `The cluster was restored to an earlier state: versions in the watch-stream for ${title} are below ${newest}, ` +
      'which was seen before. All objects are listed and looked at anew.',
  );
  stream.newest = undefined;
  stream.isVersionDoubtful = false;
  await emit({ type: 'REWOUND' });
}

/** Asks for the current version, if there was a trouble since it was last known. Interrupts the attempt if it is below. */
export async function checkVersion(stream: Stream, attempt: Attempt): Promise<void> {
  const { client, resource, namespace, fieldSelector, limiter, logger, title } = stream;
  const { signal } = attempt;
  if (!stream.isVersionDoubtful || stream.newest === undefined) return;
  try {
    await limiter?.acquire(signal);
    // Events go on coming while it is asked for: the answer can be older than they are, but not than those before it.
    const { newest } = stream;
    // The empty version means the newest state. One object is enough: it is the version of the list that matters.
    const path = resourceUrl(resource, { namespace, query: { fieldSelector, limit: 1, resourceVersion: '' } });
    const answer = await client.request({ method: 'GET', path, retries: 'none', signal });
    const { resourceVersion } = checkedList(answer, resource).metadata;
    if (signal.aborted) return;
    if (isRewound({ newest }, resourceVersion)) attempt.interrupt('rewound');
    else stream.isVersionDoubtful = false;
  } catch (error) {
    // It is asked again the next time; the stream itself tells of troubles with the server.
    if (!signal.aborted) logger.debug(`The current version of ${title} is not known: ${describeError(error)}`);
  }
}
