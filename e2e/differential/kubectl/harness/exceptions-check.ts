import type { Outcome } from './running.js';

/** Commands that print something else on the embedded server, and are going to. */
export interface Exception {
  readonly id: string;
  readonly reason: string;
  /** By the names of the scripts, as they are titled there; each of them must really differ. */
  readonly commands: Readonly<Record<string, readonly string[]>>;
  /** What is printed, without that which differs. If it is not given, all of it may differ. */
  forgive?(text: string): string;
}

/** Compares outcomes, and remembers what was seen of the exceptions. */
export class ExceptionsCheck {
  readonly #exceptions: readonly Exception[];
  readonly #seen = new Set<string>();
  readonly #scripts = new Set<string>();
  equal = 0;
  compared = 0;

  constructor(exceptions: readonly Exception[]) {
    this.#exceptions = exceptions;
  }

  /** What is different and not forgiven, for people; empty if nothing is. */
  compare(script: string, real: readonly Outcome[], embedded: readonly Outcome[]): string[] {
    this.#scripts.add(script);
    return real.flatMap((left, index) => {
      const right = embedded[index];
      const applying = this.#exceptions.filter(({ commands }) => commands[script]?.includes(left.title));
      this.compared += 1;
      if (textOf(left) === textOf(right)) {
        this.equal += 1;
        return [];
      }
      for (const { id } of applying) this.#seen.add(`${id}: ${script}: ${left.title}`);
      const [expected, found] = [forgiven(textOf(left), applying), forgiven(textOf(right), applying)];
      return expected === found ? [] : [`$ kubectl ${left.title}\n${lineByLine(expected, found)}`];
    });
  }

  /** Commands that are excepted, but were equal or are not there at all, in the scripts that were run. */
  stale(): string[] {
    return this.#exceptions
      .flatMap(({ id, commands }) =>
        Object.entries(commands)
          .filter(([script]) => this.#scripts.has(script))
          .flatMap(([script, titles]) => titles.map((title) => `${id}: ${script}: ${title}`)),
      )
      .filter((place) => !this.#seen.has(place));
  }
}

function textOf(outcome: Outcome | undefined): string {
  if (outcome === undefined) return 'it was not run';
  const { stdout, stderr, code } = outcome;
  return `${stdout}${stderr === '' ? '' : `\n[stderr]\n${stderr}`}\n[${code}]`;
}

function forgiven(text: string, exceptions: readonly Exception[]): string {
  return exceptions.reduce((rest, { forgive }) => (forgive === undefined ? '' : forgive(rest)), text);
}

const mostLines = 30;

/** The lines that are only on one side, in their order. */
function lineByLine(real: string, embedded: string): string {
  const [left, right] = [real.split('\n'), embedded.split('\n')];
  // The longest common subsequence would be nicer to read, and slow for what is long.
  const [inLeft, inRight] = [countsOf(left), countsOf(right)];
  const only = (lines: readonly string[], others: Map<string, number>, sign: string) =>
    lines
      .filter((line) => {
        const count = others.get(line) ?? 0;
        others.set(line, count - 1);
        return count <= 0;
      })
      .slice(0, mostLines)
      .map((line) => `    ${sign} ${line}`);
  const lines = [...only(left, inRight, 'real    '), ...only(right, inLeft, 'embedded')];
  return lines.length > 0 ? lines.join('\n') : '    the same lines in another order';
}

function countsOf(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}
