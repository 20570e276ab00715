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
}

export class Turns {
  /** When the turn of the one who has asked last is over. Nobody has a turn, if absent. */
  #last: Promise<void> | undefined;

  /** At once, if nobody else has a turn. */
  take({ clock, patience }: TurnOptions): Awaitable<EndTurn> {
    const before = this.#last;
    let tell = (): void => {};
    const mine = new Promise<void>((resolve) => {
      tell = resolve;
    });
    this.#last = mine;
    const end = (): void => {
      if (this.#last === mine) this.#last = undefined;
      tell();
    };
    if (before === undefined) return end;
    return new Promise((resolve) => {
      const cancel = alarm(clock, patience, () => resolve(end));
      void before.then(() => {
        cancel();
        resolve(end);
      });
    });
  }
}
