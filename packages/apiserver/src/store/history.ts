/** The latest changes of everything, so that watches can begin in the past and lists can be taken from there. */
import type { StoreEvent } from '../contracts/store.js';

/**
 * How much of the past is kept: older versions answer watches with 410 Gone.
 *
 * ```ts
 * import { type HistoryLimits, localCluster } from 'kopf-ts/testing';
 * const history: HistoryLimits = { events: 10, characters: 100_000 };
 * await using cluster = await localCluster({ history });
 * ```
 */
export interface HistoryLimits {
  /** How many changes are remembered at most. */
  readonly events: number;
  /** How much text they may hold, in characters; the current objects count, too, if they are in it. */
  readonly characters: number;
}

export interface History {
  /** Changes up to this version are forgotten. */
  readonly compactedVersion: number;
  append(event: StoreEvent): void;
  /** Those after that version, the oldest first. */
  after(version: number): readonly StoreEvent[];
  compact(version: number): void;
}

export function makeHistory({ events: maxEvents, characters: maxCharacters }: HistoryLimits): History {
  let events: StoreEvent[] = [];
  /** Those before this index are forgotten; the array is cut only now and then. */
  let start = 0;
  let characters = 0;
  let compactedVersion = 0;

  const forgetFirst = (): void => {
    const event = events[start] as StoreEvent;
    start++;
    characters -= event.object.json.length;
    compactedVersion = event.version;
  };
  const cut = (): void => {
    if (start < 1024 || start < events.length / 2) return;
    events = events.slice(start);
    start = 0;
  };

  return {
    get compactedVersion() {
      return compactedVersion;
    },
    append(event) {
      events.push(event);
      characters += event.object.json.length;
      while (events.length - start > maxEvents || (characters > maxCharacters && events.length - start > 1))
        forgetFirst();
      cut();
    },
    after(version) {
      let low = start;
      let high = events.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((events[middle] as StoreEvent).version <= version) low = middle + 1;
        else high = middle;
      }
      return events.slice(low);
    },
    compact(version) {
      while (start < events.length && (events[start] as StoreEvent).version <= version) forgetFirst();
      compactedVersion = Math.max(compactedVersion, version);
      events = events.slice(start);
      start = 0;
    },
  };
}
