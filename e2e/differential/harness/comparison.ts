import { type Difference, describeDifference, differencesOf } from './difference.js';
import type { Exchange } from './runner.js';

/** Where an answer was given. */
export interface Place {
  readonly area: string;
  readonly sequence: string;
  readonly step: string;
}

/** Something in which the embedded server is not like the real one, and is not going to be. */
export interface KnownDifference {
  readonly id: string;
  readonly reason: string;
  /** In which answers it is forgiven. */
  appliesTo(place: Place): boolean;
  /** A copy of the answer without what is known to differ. */
  forgive(answer: unknown): unknown;
}

/** Compares runs, and remembers which of the known differences were really seen. */
export class Comparison {
  readonly #known: readonly KnownDifference[];
  readonly #seen = new Set<string>();

  constructor(known: readonly KnownDifference[]) {
    this.#known = known;
  }

  /** What is different and not forgiven, for people; empty if nothing is. */
  compare(
    { area, sequence }: Omit<Place, 'step'>,
    [leftName, left]: readonly [string, readonly Exchange[]],
    [rightName, right]: readonly [string, readonly Exchange[]],
  ): string {
    const report: string[] = [];
    for (const [index, differences] of this.differences({ area, sequence }, left, right).entries()) {
      if (differences.length === 0) continue;
      report.push(`  step ${index + 1}, ${left[index]?.step}: ${counted(differences.length)}`);
      for (const difference of differences.slice(0, 6)) {
        report.push(describeDifference(difference, [leftName, rightName]));
      }
    }
    return report.join('\n');
  }

  /** What is different and not forgiven, step by step. */
  differences(
    { area, sequence }: Omit<Place, 'step'>,
    left: readonly Exchange[],
    right: readonly Exchange[],
  ): readonly (readonly Difference[])[] {
    return left.map(({ step, answer }, index) =>
      this.#unforgiven({ area, sequence, step }, answer, right[index]?.answer),
    );
  }

  /** Known differences that were not seen in any of the runs. */
  stale(): string[] {
    return this.#known.map(({ id }) => id).filter((id) => !this.#seen.has(id));
  }

  #unforgiven(place: Place, left: unknown, right: unknown): Difference[] {
    const all = differencesOf(left, right);
    const known = this.#known.filter((one) => one.appliesTo(place));
    if (all.length === 0 || known.length === 0) return all;
    const without = (forgiven: readonly KnownDifference[]) =>
      differencesOf(forgive(left, forgiven), forgive(right, forgiven));
    const remaining = without(known);
    // Some differences hide others: one is seen if without it there would be more of them.
    for (const one of known) {
      if (without(known.filter((other) => other !== one)).length > remaining.length) this.#seen.add(one.id);
    }
    return remaining;
  }
}

function forgive(answer: unknown, known: readonly KnownDifference[]): unknown {
  return known.reduce((forgiven, one) => one.forgive(forgiven), answer);
}

function counted(count: number): string {
  return count === 1 ? 'one difference' : `${count} differences`;
}
