/**
 * A cluster can be restored from a backup: its versions go back then. A watch from a version of the future is silent
 * until the cluster gets there again, so nothing that happens meanwhile would ever be seen. Hence, after a trouble, the
 * current version is asked for; and whenever a version is below what was seen before, everything is listed anew.
 */
import { compareVersions } from '../../values/objects/versions.js';

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
