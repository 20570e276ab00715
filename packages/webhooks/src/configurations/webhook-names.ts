/**
 * How handlers are named in the webhook configurations, and where the API server finds them.
 *
 * Everything is as Kopf has it, so that operators in both languages can take over from each other; except for what an
 * API server refuses: with that, there would be no webhooks at all. It takes only lower-case names of domains, of three
 * parts and more, each only once; and in paths of services, only the like of them.
 */
import { type HandlerId, KopfError, type ReviewHints } from '@kopf-ts/core';
import { quoteId } from '@kopf-ts/core/engine';

const DOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const MAX_LENGTH = 253;
const MIN_SEGMENTS = 3;
/** Room for the number that tells namesakes apart. */
const MAX_TAIL = 5;

/** A subdomain by RFC 1123, as Kubernetes understands it. */
export function isDomain(name: string): boolean {
  return name.length <= MAX_LENGTH && DOMAIN.test(name);
}

/** The name of a webhook as Kopf makes it, whether it is acceptable or not. */
export function kopfName(id: HandlerId, managed: string): string {
  const name = id
    .replaceAll('/', '.')
    .replaceAll('_', '-')
    .replace(/[^\p{L}\p{N}.-]/gu, hexOf);
  return managed === '' ? name : `${name}.${managed}`;
}

/** The id as a part of URLs: slashes stay, as well as everything that needs no encoding. */
export function encodeId(id: HandlerId): string {
  return id.replace(/[^A-Za-z0-9_.~/-]/gu, (char) =>
    bytesOf(char)
      .map((byte) => `%${byte.toUpperCase()}`)
      .join(''),
  );
}

/**
 * The names of the webhooks in one configuration, in the order of the ids; one id can be there several times, if a
 * function is declared for several kinds. Where Kopf's name is acceptable, it is used.
 */
export function webhookNames(ids: readonly HandlerId[], managed: string): readonly string[] {
  const taken = new Set<string>();
  const isAcceptable = (name: string): boolean => isDomain(name) && name.split('.').length >= MIN_SEGMENTS;
  const kopfNames = ids.map((id) => {
    const name = kopfName(id, managed);
    if (!isAcceptable(name) || taken.has(name)) return undefined;
    taken.add(name);
    return name;
  });
  return ids.map((id, index) => {
    const name = kopfNames[index] ?? untaken(taken, simplified(id, managed.length + 1), (base) => `${base}.${managed}`);
    if (!isAcceptable(name)) throw badManagedName(id, name, managed);
    return name;
  });
}

/**
 * The paths under which the API server asks for the handlers when it goes through a service: of each id, without
 * the leading slash. They are the ids themselves, where these are acceptable in such paths.
 */
export function servicePaths(ids: Iterable<HandlerId>): ReadonlyMap<HandlerId, string> {
  const unique = [...new Set(ids)];
  const paths = new Map(unique.filter(isServicePath).map((id) => [id, id]));
  const taken = new Set(paths.values());
  for (const id of unique) {
    if (!paths.has(id)) paths.set(id, untaken(taken, simplified(id)));
  }
  return paths;
}

/**
 * Whose handler it is that a request is addressed to: by the path after that of the server itself, without the leading
 * slash and decoded. Besides the ids, these can be the {@link servicePaths}. `undefined` if there is no such handler.
 */
export function handlerIdAt(path: string, ids: Iterable<HandlerId>): HandlerId | undefined {
  const all = [...ids];
  if (all.includes(path)) return path;
  return [...servicePaths(all)].find(([, servicePath]) => servicePath === path)?.[0];
}

/** The same hints, with the handler under its own id, whichever of its addresses was called. */
export function withHandlerId(hints: ReviewHints, handlers: Iterable<{ readonly id: HandlerId }>): ReviewHints {
  const { webhook } = hints;
  if (webhook === undefined || webhook === '') return hints;
  const ids: HandlerId[] = [];
  for (const { id } of handlers) {
    // Mostly, it is the id itself; and this is done for each review.
    if (id === webhook) return hints;
    ids.push(id);
  }
  const id = handlerIdAt(webhook, ids);
  return id === undefined ? hints : { ...hints, webhook: id };
}

/** Is it acceptable in the path of a service? */
export function isServicePath(path: string): boolean {
  return path.split('/').every(isDomain);
}

/** What remains of the id if only the acceptable is left in it, and all else is replaced. Different ids can become the same. */
function simplified(id: HandlerId, reserved = 0): string {
  const segments = id
    .toLowerCase()
    .replace(/[/_]/g, (char) => (char === '/' ? '.' : '-'))
    .replace(/[^a-z0-9.-]/gu, hexOf)
    .split('.')
    .map(trimmed)
    .filter((segment) => segment !== '');
  const room = Math.max(1, MAX_LENGTH - reserved - MAX_TAIL);
  return trimmed(segments.join('.').slice(0, room)) || 'handler';
}

/** The first one that nobody has: as it is, or with a number. */
function untaken(taken: Set<string>, base: string, complete = (name: string): string => name): string {
  for (let number = 1; ; number++) {
    const name = complete(number === 1 ? base : `${base}-${number}`);
    if (taken.has(name)) continue;
    taken.add(name);
    return name;
  }
}

function trimmed(text: string): string {
  return text.replace(/^[-.]+|[-.]+$/g, '');
}

function hexOf(char: string): string {
  return bytesOf(char).join('');
}

function bytesOf(char: string): string[] {
  return [...Buffer.from(char)].map((byte) => byte.toString(16).padStart(2, '0'));
}

function badManagedName(id: HandlerId, name: string, managed: string): KopfError {
  return new KopfError(
    `The webhook of ${quoteId(id)} would be named ${quoteId(name)}, which Kubernetes does not permit: it wants lower-case ` +
      `domains of at least three parts. Set settings.admission.managed to a domain of at least two parts ` +
      `instead of ${quoteId(managed)}: for example, 'auto.kopf.dev'.`,
    { code: 'KOPF_BAD_WEBHOOK_NAME' },
  );
}
