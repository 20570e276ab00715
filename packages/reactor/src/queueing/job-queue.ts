/** Jobs in the order of arrival: a linked list, because there may be thousands. */
import type { Scheduler, Seconds } from '@kopf-ts/core';

export type Job = Parameters<Scheduler['spawn']>[0];

interface Waiting {
  readonly job: Job;
  readonly since: Seconds;
  next: Waiting | undefined;
}

export class JobQueue {
  #first: Waiting | undefined;
  #last: Waiting | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Since when the first one waits. */
  get oldest(): Seconds | undefined {
    return this.#first?.since;
  }

  put(job: Job, since: Seconds): void {
    const newcomer: Waiting = { job, since, next: undefined };
    if (this.#last === undefined) this.#first = newcomer;
    else this.#last.next = newcomer;
    this.#last = newcomer;
    this.#size += 1;
  }

  take(): Job | undefined {
    const taken = this.#first;
    if (taken === undefined) return undefined;
    this.#first = taken.next;
    if (taken.next === undefined) this.#last = undefined;
    this.#size -= 1;
    return taken.job;
  }

  clear(): void {
    this.#first = undefined;
    this.#last = undefined;
    this.#size = 0;
  }
}
