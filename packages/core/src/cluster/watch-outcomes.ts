/** What a watch-stream does after an attempt is over, for whatever reason. */
import { ApiForbiddenError, describeError, KopfError } from '../errors.js';
import type { Seconds } from '../seams/clock.js';
import type { Attempt } from './attempt.js';
import { backoffDelay } from './backoff.js';
import { isUndecodable } from './malformed.js';
import { isAboutUnknownOptions, judgeFailure } from './stream-failures.js';
import type { Doing, Progress, State, Stream } from './watch-stream.js';

/** The longest pause between the attempts: a server that is back should be noticed soon, however long it was away. */
const MAX_BACKOFF: Seconds = 10;
/** The same, if the server ends the streams politely, but too soon. */
const MAX_PAUSE_OF_SHORT_STREAMS: Seconds = 1;
/** How many odd endings in a row are not a coincidence. */
const SUSPICIOUS_IN_ROW = 3;
/** For how many times to believe that the server refuses to watch for some other reason than the version. */
const REFUSALS_UNTIL_LISTING = 3;
/** How rare the listings become if they do not help against lines that cannot be decoded: soon enough, but no burden. */
const UNDECODABLES_UNTIL_LISTING = 16;

export function nextDoing({ isListed, isDoubtful, version }: Progress): Doing {
  return isListed && !isDoubtful ? { kind: 'watching', version } : { kind: 'listing' };
}

/**
 * Silence instead of the list, no end of it, or the refusal of such a request, means that the server cannot do so. If it
 * is only not permitted to watch, then maybe it is permitted to list.
 */
export function isUnsupported({ interruption }: Attempt, error: unknown): boolean {
  if (interruption !== undefined) return interruption !== 'paused' && interruption !== 'doubtful';
  return isAboutUnknownOptions(error) || error instanceof ApiForbiddenError || isUndecodable(error);
}

export function withoutStreamedLists(stream: Stream, attempt?: Attempt, error?: unknown): State {
  const { capabilities, logger, title } = stream;
  stream.canStreamLists = false;
  // Permissions are of this kind only, and so is a list that takes too long, or is broken: they tell nothing of the server.
  const isOfThisKind =
    error instanceof ApiForbiddenError ||
    isUndecodable(error) ||
    attempt?.interruption === 'endless' ||
    attempt?.interruption === 'overdue';
  if (!isOfThisKind) capabilities.streamingLists ??= false;
  logger.debug(`The list for ${title} is not streamed by the server; listing in pages.`);
  return { kind: 'listing' };
}

/** The server has ended the stream in good order: as it always does when the time is over. */
export function afterEnd(stream: Stream, progress: Progress): State {
  if (!progress.isListed) return withoutStreamedLists(stream);
  if (progress.isProven) return nextDoing(progress);
  stream.failures += 1;
  if (stream.failures >= SUSPICIOUS_IN_ROW) {
    stream.health.fail('watching', new KopfError('The server ends it at once.', { code: 'KOPF_SHORT_STREAM' }));
  }
  const base = stream.settings.watching.reconnectBackoff;
  const cap = Math.max(base, MAX_PAUSE_OF_SHORT_STREAMS);
  const delay = backoffDelay(stream.failures, { base, cap, random: stream.random });
  return { kind: 'backing off', delay, next: nextDoing(progress) };
}

export function afterFailure(
  stream: Stream,
  attempt: Attempt,
  error: unknown,
  { doing, isProven }: { readonly doing: Doing; readonly isProven: boolean },
): State {
  const { logger, title, health, random, signal } = stream;
  if (signal.aborted) throw error;
  if (attempt.interruption === 'paused') return { kind: 'paused' };
  if (attempt.interruption === 'inactive') {
    logger.debug(`Watch-stream for ${title} is inactive, reconnecting.`);
    stream.isVersionDoubtful = true;
    return doing;
  }
  if (attempt.interruption === 'overdue') return afterOverdueLine(stream);
  if (attempt.interruption === 'doubtful') return { kind: 'listing' };
  if (isUndecodable(error) && doing.kind === 'watching' && isListingNeeded(stream, error)) {
    return { kind: 'listing' };
  }

  const { kind, retryAfter } = judgeFailure(error);
  // Connections are cut all the time, by the servers and by all that is in between: nothing to speak of.
  if (kind === 'broken' && isProven) {
    logger.debug(`Watch-stream for ${title} is cut, reconnecting.`, { error });
    return doing;
  }

  stream.failures += 1;
  stream.isVersionDoubtful = true;
  if (kind === 'refused' && doing.kind === 'watching') stream.refusals += 1;
  if (kind === 'expired') logger.debug(`Restarting the watch-stream for ${title}.`);
  if (kind !== 'expired' || stream.failures >= SUSPICIOUS_IN_ROW) health.fail(doing.kind, error);

  const { reconnectBackoff: base } = stream.settings.watching;
  const backoff = backoffDelay(stream.failures, { base, cap: Math.max(base, MAX_BACKOFF), random });
  const delay = Math.max(backoff, retryAfter * (1 + random() / 10));
  const mustList = kind === 'expired' || stream.refusals >= REFUSALS_UNTIL_LISTING;
  if (mustList) stream.refusals = 0;
  return { kind: 'backing off', delay, next: mustList ? { kind: 'listing' } : doing };
}

/**
 * A connection can be cut in the middle of a line, so it is tried once more. If the same comes again, it is not going
 * to be better, and what follows it would never be reached: a listing goes past it. If it comes even after that, then
 * it is probably not an event, but whatever is between us and the server; so further listings become rare.
 */
function isListingNeeded(stream: Stream, error: unknown): boolean {
  stream.undecodables += 1;
  const times = stream.undecodables;
  const isNeeded = times % UNDECODABLES_UNTIL_LISTING === 0 || (times > 1 && Number.isInteger(Math.log2(times)));
  if (isNeeded) stream.malformed.notice(`an event that cannot be decoded (${describeError(error)})`, 'event');
  return isNeeded;
}

/** It would come again if the watching went on from the same version. A listing brings what was in it by another way. */
function afterOverdueLine(stream: Stream): State {
  const { settings, health, random } = stream;
  const { lineTimeout, reconnectBackoff: base } = settings.watching;
  stream.failures += 1;
  const message = `An event has not come as a whole in ${lineTimeout} seconds (see settings.watching.lineTimeout).`;
  health.fail('watching', new KopfError(message, { code: 'KOPF_SLOW_LINE' }));
  const delay = backoffDelay(stream.failures, { base, cap: Math.max(base, MAX_BACKOFF), random });
  return { kind: 'backing off', delay, next: { kind: 'listing' } };
}
