/**
 * News are changes by others. A finished handler is called again only if others have changed what it looks at; so this
 * tracks what our own changes make of the object. Pure.
 *
 * Each of our requests is for a version whose body is known, so that nobody else can have changed anything between that
 * body and the response: handlers that have seen the one need not see the other, whatever the server has made of it.
 */
import {
  type AnyObject,
  type ApiFor,
  type Body,
  deepCopy,
  deepEqual,
  type Essence,
  type FieldPath,
  type HandlerId,
  type Patch,
} from '@kopf-ts/core';
import { applyMergePatch, type Corrections, digestAt, type OwnWrite } from '@kopf-ts/core/engine';
import { compareVersions } from './versions.js';

/** What a handler has seen of the object. */
export interface Seen {
  /** The digest as it is stored. */
  readonly stored: string;
  /** The digest of what counts as seen. */
  readonly digest: string;
  /** What the handler looks at: a field of the essence, or all of it. */
  readonly path: FieldPath;
  /** The version of the object that the digest is of. */
  readonly version: string | undefined;
  /** Storing the digest alone was attempted once: it is not worth another try. */
  readonly isSettled?: boolean | undefined;
}

export interface NotedWrite extends OwnWrite {
  /** The part requested by handlers; the rest concerns our own marks. */
  readonly asked: Patch | undefined;
  /** The change or event handler that made the change by a verb, if any. */
  readonly by?: Parameters<ApiFor>[0]['by'];
}

type EssenceOf = (body: Body) => Essence;

/** What the finished handlers have seen, after all our own changes. */
export function followWrites(
  seen: ReadonlyMap<HandlerId, Seen>,
  writes: readonly NotedWrite[],
  essenceOf: EssenceOf,
): ReadonlyMap<HandlerId, Seen> {
  if (seen.size === 0 || writes.length === 0) return seen;
  const ordered = inOrder(writes);
  return new Map([...seen].map(([id, one]) => [id, follow(one, ordered, essenceOf)]));
}

/** The last handled state, after those of our changes that no handler requested: no handler is called for these. */
export function followMarks(handled: Seen, writes: readonly NotedWrite[], essenceOf: EssenceOf): Seen {
  const ofMarks = writes.filter((write) => !hasEffect(write, essenceOf));
  return ofMarks.length === 0 ? handled : follow(handled, inOrder(ofMarks), essenceOf);
}

/** Those that are in that state already. */
export function writesUntil(writes: readonly NotedWrite[], body: Body): readonly NotedWrite[] {
  return writes.filter(
    ({ after }) => (compareVersions(after.metadata?.resourceVersion, body.metadata?.resourceVersion) ?? 0) <= 0,
  );
}

function follow(seen: Seen, writes: readonly NotedWrite[], essenceOf: EssenceOf): Seen {
  let current = seen;
  for (const { before, after } of writes) {
    // It was followed already; or it was before that was seen.
    const order = compareVersions(before.metadata?.resourceVersion, current.version);
    if (order !== undefined && order < 0) continue;
    if (digestAt(essenceOf(before), current.path) !== current.digest) continue;
    current = {
      ...current,
      digest: digestAt(essenceOf(after), current.path),
      version: after.metadata?.resourceVersion,
    };
  }
  return current;
}

/** Responses may arrive in another order than the changes were made. */
function inOrder(writes: readonly NotedWrite[]): readonly NotedWrite[] {
  const isLater = (one: NotedWrite, two: NotedWrite): number =>
    compareVersions(one.after.metadata?.resourceVersion, two.after.metadata?.resourceVersion) ?? 0;
  return writes.toSorted(isLater);
}

/** The differences from what is stored. */
export function correctionsOf(seen: ReadonlyMap<HandlerId, Seen>): Corrections {
  return new Map([...seen].filter(([, { stored, digest }]) => stored !== digest));
}

/**
 * Whether anything that matters was asked for, and was not there already. Whatever else has changed then, the server has
 * made it of our marks, or of every write.
 */
function hasEffect({ before, asked }: NotedWrite, essenceOf: EssenceOf): boolean {
  if (asked === undefined || asked.isEmpty) return false;
  try {
    const wanted = deepCopy(before) as AnyObject;
    applyMergePatch(wanted, asked.merge);
    for (const fn of asked.fns) fn(wanted);
    return !deepEqual(essenceOf(before), essenceOf(wanted));
  } catch {
    // Of a broken patch, only a part was sent; whatever that was, a handler requested it.
    return true;
  }
}
