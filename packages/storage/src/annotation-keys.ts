/**
 * Annotations' names for what is remembered under a key: a handler's id, or a purpose of a storage.
 *
 * Kubernetes limits the part after the slash to 63 characters of a narrow alphabet, while ids are arbitrarily long
 * and have slashes of their own. So the names are made safe, cut, and completed with a hash where they were cut.
 * There are two ways of doing it, as Kopf has changed it once: the older one (v1) limits the whole name, with the
 * prefix, to 63 characters. Both are written and read, unless told otherwise, so that operators can be downgraded.
 */
import { type Body, KopfError } from '@kopf-ts/core';
import { blake2b } from '@noble/hashes/blake2.js';

const MAX_NAME = 63;
/** Together with the slash and the longest name, it makes the 253 characters that Kubernetes permits. */
const MAX_PREFIX = 189;

export interface KeyOptions {
  /** What stands before the slash in the annotations of this operator. */
  readonly prefix: string;
  /** Whether to write and read the names of the older format, too. */
  readonly v1: boolean;
}

/** Refuses a prefix that can never work, and warns of the one that can fail in the cluster. */
export function checkPrefix(prefix: string): void {
  if (prefix === '') {
    throw new KopfError('Annotations of a storage must have a prefix, e.g. "my-operator.example.com".', {
      code: 'KOPF_EMPTY_PREFIX',
    });
  }
  if (codePoints(prefix).length > MAX_PREFIX) {
    process.emitWarning(
      `The annotations prefix is too long: more than ${MAX_PREFIX} characters. ` +
        'Kubernetes can refuse the patches with such annotations.',
      { code: 'KOPF_LONG_PREFIX' },
    );
  }
}

/** So many keys are remembered: there are as many as handlers, but the ids of sub-handlers can be made of anything. */
const MAX_REMEMBERED = 1000;

/** As {@link formKeys}, but remembers what it has formed: the same few keys are needed for each event of each object. */
export function keysFormer(options: KeyOptions): (key: string, body: Body) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  return (key, body) => {
    const marked = markedKey(key, body);
    let keys = known.get(marked);
    if (keys === undefined) {
      keys = formMarkedKeys(marked, options);
      if (known.size >= MAX_REMEMBERED) known.clear();
      known.set(marked, keys);
    }
    return keys;
  };
}

/** All annotations for a key, the one to be read first going first. */
export function formKeys(key: string, body: Body, options: KeyOptions): readonly string[] {
  return formMarkedKeys(markedKey(key, body), options);
}

function formMarkedKeys(marked: string, { prefix, v1 }: KeyOptions): readonly string[] {
  const current = formCurrentKey(marked, prefix);
  if (!v1) return [current];
  const former = formFormerKey(marked, prefix);
  return current === former ? [current] : [current, former];
}

/**
 * Deployments pass their annotations down to their ReplicaSets. If both kinds are handled, a ReplicaSet would take
 * the progress of its Deployment for its own; so its keys are different.
 */
function markedKey(key: string, body: Body): string {
  if (body.kind !== 'ReplicaSet') return key;
  const owners = body.metadata?.ownerReferences ?? [];
  const isOfDeployment = owners.some((owner) => owner.kind === 'Deployment');
  return isOfDeployment ? `${key}-ofDRS` : key;
}

function formCurrentKey(key: string, prefix: string): string {
  const suffix = codePoints(key).length > MAX_NAME ? hashSuffix(key) : '';
  return `${prefix}/${cut(safe(key), MAX_NAME - suffix.length)}${suffix}`;
}

function formFormerKey(key: string, prefix: string): string {
  const room = MAX_NAME - codePoints(`${prefix}/`).length;
  const suffix = codePoints(key).length > room ? hashSuffix(safe(key)) : '';
  // With a prefix of 63 characters or longer, the room is negative, and cuts that many characters from the end.
  // Such names are invalid; but they are what Kopf forms, and so they have to be the same.
  return `${prefix}/${cut(safe(key), room - suffix.length)}${suffix}`;
}

function safe(key: string): string {
  return key.replaceAll('/', '.').replace(/[<>]/g, '_');
}

function hashSuffix(key: string): string {
  // The digest of 4 bytes is not the beginning of a longer one: the length goes into the hash itself.
  const digest = blake2b(new TextEncoder().encode(key), { dkLen: 4 });
  // No need to care of the last character, which must not be a dash or a dot: of 4 bytes, it is a letter.
  return `-${Buffer.from(digest).toString('base64url').replaceAll('_', '.')}`;
}

function cut(text: string, length: number): string {
  return codePoints(text).slice(0, length).join('');
}

/** Lengths are counted in characters, as in Kopf, not in the UTF-16 units of JavaScript. */
function codePoints(text: string): readonly string[] {
  return Array.from(text);
}
