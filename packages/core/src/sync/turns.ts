/** Taking turns: one after another, in the order of asking. It is a courtesy: whoever waits too long, goes on anyway. */
import type { Awaitable } from '../seams/awaitable.js';
import type { Clock, Seconds } from '../seams/clock.js';
import { alarm } from './alarm.js';

/** To be called when the turn is over; once is enough. */
export type EndTurn = () => void;

export interface TurnOptions {
  readonly clock: Clock;
  /** How long to wait for those before. */
  readonly patience: Seconds;
  /** Whether to go before all others that wait. There must be few of these. */
  readonly isUrgent?: boolean | undefined;
}

export class Turns {
  #isTaken = false;
  readonly #waiting: (() => void)[] = [];

  /** At once, if nobody else has a turn. Whoever goes on without a turn has nothing to end. */
  take({ clock, patience, isUrgent = false }: TurnOptions): Awaitable<EndTurn> {
    if (!this.#isTaken) {
      this.#isTaken = true;
      return this.#ending();
    }
    return new Promise((resolve) => {
      const begin = (): void => {
        cancel();
        resolve(this.#ending());
      };
      const cancel = alarm(clock, patience, () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        resolve(NOTHING_TO_END);
      });
      if (isUrgent) this.#waiting.unshift(begin);
      else this.#waiting.push(begin);
    });
  }

  #ending(): EndTurn {
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const next = this.#waiting.shift();
      if (next === undefined) this.#isTaken = false;
      else next();
    };
  }
}

const NOTHING_TO_END: EndTurn = () => {};
