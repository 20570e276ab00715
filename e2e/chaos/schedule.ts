/**
 * Which faults come when: all of it follows from the seed. What they hit depends on the moment, so two runs with one
 * seed are alike, not equal.
 */
import { randomNumbers } from '../failures/random.js';
import type { Fate, LineRequest } from './line.js';

/** What happens to everything at once. */
export type TimedFault =
  | { readonly kind: 'kill the operator' }
  | { readonly kind: 'stop the operator for a while'; readonly ms: number }
  | { readonly kind: 'break all connections' }
  | { readonly kind: 'freeze all connections'; readonly ms: number }
  | { readonly kind: 'compact etcd' }
  /** After a compaction, so that watches have to begin anew. */
  | { readonly kind: 'restart the API server'; readonly isAbrupt: boolean };

export interface Schedule {
  /** In order; `at` is in milliseconds from the beginning. */
  readonly faults: readonly { readonly at: number; readonly fault: TimedFault }[];
  /** What happens to a request at that moment. */
  fateOf(request: LineRequest, at: number): Fate;
}

/** Out of ten faults; each of them comes true within ten of them. */
const DECK = ['kill', 'kill', 'kill', 'stop', 'break', 'break', 'freeze', 'freeze', 'compact', 'restart'] as const;

export interface ScheduleOptions {
  readonly seed: number;
  readonly seconds: number;
  /** From one fault of everything to the next: at least, at most. */
  readonly gap?: readonly [number, number];
}

export function schedule({ seed, seconds, gap = [2, 4.5] }: ScheduleOptions): Schedule {
  const random = randomNumbers(seed);
  const between = (low: number, high: number): number => low + random() * (high - low);
  const faults: { at: number; fault: TimedFault }[] = [];
  let deck: (typeof DECK)[number][] = [];
  for (let at = between(1, 3); at < seconds; at += between(...gap)) {
    if (deck.length === 0) deck = shuffled(DECK, random);
    faults.push({ at: at * 1000, fault: timedFault(deck.pop() ?? 'kill', between) });
  }
  // Storms and calms in turns.
  const changes: number[] = [];
  for (let at = between(0.5, 2); at < seconds; at += between(2, 5)) changes.push(at * 1000);
  const isStormAt = (moment: number): boolean => changes.filter((change) => change <= moment).length % 2 === 1;

  const ofRequests = randomNumbers(seed + 1);
  return {
    faults,
    fateOf(request, at) {
      const isStorm = isStormAt(at);
      const usual = request.isWrite ? 0.03 : 0.01;
      const inStorms = request.isWrite ? 0.3 : 0.15;
      if (ofRequests() >= (isStorm ? inStorms : usual)) return { kind: 'pass' };
      return fate(request, ofRequests);
    },
  };
}

function timedFault(card: (typeof DECK)[number], between: (low: number, high: number) => number): TimedFault {
  switch (card) {
    case 'kill':
      return { kind: 'kill the operator' };
    case 'stop':
      return { kind: 'stop the operator for a while', ms: between(1_000, 5_000) };
    case 'break':
      return { kind: 'break all connections' };
    case 'freeze':
      return { kind: 'freeze all connections', ms: between(1_000, 6_000) };
    case 'compact':
      return { kind: 'compact etcd' };
    case 'restart':
      return { kind: 'restart the API server', isAbrupt: between(0, 1) < 0.5 };
  }
}

function fate({ isWatch }: LineRequest, random: () => number): Fate {
  const sort = random();
  if (sort < 0.3) return { kind: 'lose the answer' };
  if (sort < 0.45) return { kind: 'reset' };
  if (sort < 0.55) return { kind: 'refuse', status: 500 };
  if (sort < 0.65) return { kind: 'refuse', status: 503 };
  if (sort < 0.75) return { kind: 'refuse', status: 429 };
  // A watch that begins late is nothing new, and the limit for it is shorter.
  if (sort < 0.88) return { kind: 'freeze', ms: (isWatch ? 0.3 : 1) * (500 + random() * 5_500) };
  return { kind: 'trickle', ms: 500 + random() * 2_500 };
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other] as T, result[last] as T];
  }
  return result;
}
