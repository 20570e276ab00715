/** Declarations that are valid but probably mistakes. Reported for each handler when an operator starts. */
import { didYouMean } from '../../values/suggestions.js';
import type { Handlers } from '../handler-set.js';
import type { AnyHandler } from '../handlers.js';
import { kwargNames } from '../kwargs.js';
import { placedTitleOf } from './places.js';
import { destructuredNames } from './source-texts.js';

/** Whole sentences, with the handlers and their places. */
export function doubtsAbout(handlers: Handlers): readonly string[] {
  const { activities, indexing, watching, spawning, changing, related, webhooks } = handlers;
  const all: readonly AnyHandler[] = [activities, indexing, watching, spawning, changing, related, webhooks].flatMap(
    (family) => [...(family as Iterable<AnyHandler>)],
  );
  const indices = new Set([...indexing].map(({ id }) => id));
  const doubts = all.flatMap((handler) =>
    [aboutAttempts(handler), aboutRhythm(handler), ...aboutKwargs(handler, indices)].flatMap((doubt) =>
      doubt === undefined ? [] : `${placedTitleOf(handler)} ${doubt}`,
    ),
  );
  // A function may be declared for several causes.
  return [...new Set(doubts)];
}

function aboutAttempts({ retries, timeout }: AnyHandler): string | undefined {
  if (retries === 0)
    return 'has retries: 0, so it is never called: the first attempt counts, too. For a single one, use 1.';
  if (timeout === 0) return 'has timeout: 0, so it is never called: leave the timeout out for no limit.';
  return undefined;
}

function aboutRhythm(handler: AnyHandler): string | undefined {
  if (handler.kind !== 'timer') return undefined;
  const { interval, idle, schedule } = handler as typeof handler & { readonly schedule?: unknown };
  if (interval === 0) {
    return 'has interval: 0, so it is called again at once, without any pause: give it some seconds, such as { interval: 60 }.';
  }
  if (interval !== undefined || idle !== undefined || schedule !== undefined) return undefined;
  return 'has no interval, so it is called only once for each object: add one in seconds, such as { interval: 60 }.';
}

/** In JavaScript, misspelt kwargs are silently undefined. */
function aboutKwargs(handler: AnyHandler, indices: ReadonlySet<string>): readonly string[] {
  const known = kwargNames(handler.kind);
  const unknown = destructuredNames(handler.fn).filter((name) => !known.includes(name) && !indices.has(name));
  return unknown.map(
    (name) =>
      `takes "${name}", which handlers of this kind do not get: it is undefined.${didYouMean(name, [...known, ...indices])}`,
  );
}
