/** What comes out of a watch-stream: the objects that are there, those that have vanished, and the marks between them. */
import type { Facts } from '../../../observing/facts.js';
import type { Awaitable } from '../../../seams/awaitable.js';
import type { Clock, Seconds } from '../../../seams/clock.js';
import { isMapping } from '../../../values/json.js';
import type { AnyObject } from '../../../values/objects/body.js';
import type { WatchTarget } from '../../../values/resources/watch-target.js';
import type { Emit, WatchedEvent } from '../signals.js';
import { KnownObjects } from './known-objects.js';
import { describeMalformed, type MalformedObjects } from './malformed.js';

export interface EmitterOptions {
  readonly target: WatchTarget;
  readonly clock: Clock;
  readonly facts: Facts;
  readonly malformed: MalformedObjects;
  readonly emit: Emit;
}

export class ObjectEmitter {
  readonly #target: WatchTarget;
  readonly #clock: Clock;
  readonly #facts: Facts;
  readonly #malformed: MalformedObjects;
  readonly #emit: Emit;
  readonly #known = new KnownObjects();
  #listingSince: Seconds = 0;
  #isListedOnce = false;

  constructor({ target, clock, facts, malformed, emit }: EmitterOptions) {
    this.#target = target;
    this.#clock = clock;
    this.#facts = facts;
    this.#malformed = malformed;
    this.#emit = emit;
  }

  /** How many objects there are, as far as it is known. */
  get size(): number {
    return this.#known.size;
  }

  beginListing(): void {
    this.#known.beginListing();
    this.#listingSince = this.#clock.now();
  }

  /** The object is there, in a listing or in an event. */
  see(event: WatchedEvent): Awaitable<void> {
    const namesake = this.#known.see(event.object);
    return namesake === undefined ? this.#emitEvent(event) : this.#emitAll([vanished(namesake), event]);
  }

  /** The object is deleted, as an event says. */
  forget(object: AnyObject): Awaitable<void> {
    this.#known.forget(object);
    return this.#emitEvent({ type: 'DELETED', object });
  }

  /**
   * The object is there, but cannot be emitted. True if that is news: then nothing can be concluded from this listing,
   * as it is not known which object was malformed; and one more listing has to confirm it.
   */
  skipListed(object: unknown, flaw: string): boolean {
    const what = describeMalformed(null, object, flaw);
    if (isMapping(object) && isMapping(object['metadata'])) this.#known.keep(object['metadata']);
    if (this.#malformed.notice(what, 'listing')) return true;
    this.#malformed.confirm(what);
    return false;
  }

  /** The listing is complete. */
  async endListing(): Promise<void> {
    this.#malformed.conclude();
    await this.#emitAll(this.#known.endListing().map(vanished));
    const isFirst = !this.#isListedOnce;
    this.#isListedOnce = true;
    if (this.#facts.wants['stream.listed']) {
      const duration = this.#clock.now() - this.#listingSince;
      const count = this.#known.size;
      this.#facts.tell({ kind: 'stream.listed', stream: this.#target, count, isFirst, duration });
    }
    await this.#emit({ type: 'LISTED' });
  }

  /** To be called before anything of the earlier state is emitted. */
  async rewind(): Promise<void> {
    await this.#emit({ type: 'REWOUND' });
  }

  #emitEvent(event: WatchedEvent): Awaitable<void> {
    if (this.#facts.wants['stream.event']) this.#tellEvent(event);
    return this.#emit(event);
  }

  async #emitAll(events: readonly WatchedEvent[]): Promise<void> {
    for (const event of events) await this.#emitEvent(event);
  }

  #tellEvent({ type, object }: WatchedEvent): void {
    const { resource } = this.#target;
    const { namespace, name, uid, resourceVersion } = object.metadata ?? {};
    this.#facts.tell({
      kind: 'stream.event',
      stream: this.#target,
      type,
      object: { resource, kind: object.kind ?? resource.kind, namespace, name, uid },
      version: resourceVersion,
    });
  }
}

function vanished(object: AnyObject): WatchedEvent {
  return { type: 'DELETED', object, vanished: true };
}
