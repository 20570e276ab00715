/** Figures, and how good they have to be. */

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

export function percentile(values: readonly number[], percent: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length * percent) / 100)] ?? Number.NaN;
}

/** A row of the table at the end of all benchmarks. */
export interface Row {
  readonly what: string;
  readonly figure: string;
  /** From the best to the worst of the rounds. */
  readonly spread: string;
  readonly goal: string;
  readonly isMet: boolean | undefined;
}

interface Goal {
  readonly unit: string;
  readonly digits?: number;
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** By the median of the rounds. Without a goal, it is only told. */
export function row(what: string, rounds: readonly number[], { unit, digits = 2, atMost, atLeast }: Goal): Row {
  const value = median(rounds);
  const text = (number: number): string => `${number.toFixed(digits)}${unit}`;
  const goal = atMost !== undefined ? `≤ ${atMost}${unit}` : atLeast !== undefined ? `≥ ${atLeast}${unit}` : '';
  // Not a number is not good enough.
  const isMet = atMost !== undefined ? value <= atMost : atLeast !== undefined ? value >= atLeast : undefined;
  return { what, figure: text(value), spread: rounds.length > 1 ? spread(rounds, digits) : '', goal, isMet };
}

export function spread(rounds: readonly number[], digits: number): string {
  return `${Math.min(...rounds).toFixed(digits)} … ${Math.max(...rounds).toFixed(digits)}`;
}

/** Of neighbours in time: whatever else the machine does, it does to both of them. */
export function ofPairs(
  ours: readonly number[],
  theirs: readonly number[],
  compare: (ours: number, theirs: number) => number,
): readonly number[] {
  return ours.map((figure, round) => compare(figure, theirs[round] ?? Number.NaN));
}
