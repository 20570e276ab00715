/** Choices that the same seed makes alike, everywhere and always. */
export class Random {
  #state: number;

  constructor(seed: string) {
    // FNV-1a: similar seeds are far from each other.
    let hash = 0x811c9dc5;
    for (const byte of Buffer.from(seed, 'utf8')) hash = Math.imul(hash ^ byte, 0x01000193);
    this.#state = hash >>> 0;
  }

  /** From 0 up to 1, without 1 itself. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** One of 0 … count - 1. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    if (choices.length === 0) throw new RangeError('There is nothing to choose from.');
    return choices[this.below(choices.length)] as T;
  }

  /** By weights: `weighted([[3, often], [1, seldom]])`. */
  weighted<T>(choices: readonly (readonly [weight: number, value: T])[]): T {
    let left = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, value] of choices) {
      left -= weight;
      if (left < 0) return value;
    }
    return (choices.at(-1) as readonly [number, T])[1];
  }

  /** A part of the choices, in their order, with at least as many as asked for. */
  some<T>(choices: readonly T[], least = 1, probability = 0.4): T[] {
    const chosen = new Set(choices.filter(() => this.chance(probability)));
    while (chosen.size < Math.min(least, choices.length)) chosen.add(this.pick(choices));
    return choices.filter((one) => chosen.has(one));
  }

  /** An object with some of the fields; those that are left out are not even made. */
  fields(makers: Readonly<Record<string, () => unknown>>, probability = 0.3): Record<string, unknown> {
    const made: Record<string, unknown> = {};
    for (const [key, make] of Object.entries(makers)) if (this.chance(probability)) made[key] = make();
    return made;
  }
}
