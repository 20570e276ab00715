/** Lists all objects of a stream, page by page: where the list cannot come as a part of the stream itself. */
import { isMapping } from '../../values/json.js';
import { type ListPage, listPages } from '../list.js';
import { isUsualListKind, notAList } from '../list-answers.js';
import type { Ending } from './machine.js';
import { flawOf } from './objects/malformed.js';
import { isRewound } from './seen-versions.js';
import type { StreamParts } from './stream-parts.js';

export class PagedListing {
  readonly #parts: StreamParts;
  readonly #onRewound: () => Promise<void>;
  /** The kind of this resource's lists, if it is not the usual one: its own kind with `List` at the end. */
  #unusualListKind: string | undefined;

  constructor(parts: StreamParts, onRewound: () => Promise<void>) {
    this.#parts = parts;
    this.#onRewound = onRewound;
  }

  /** Emits all objects, but not the end of the listing. Rejects with whatever keeps it from completing. */
  async run(signal: AbortSignal): Promise<Extract<Ending, { readonly kind: 'listed' }>> {
    const { client, clock, health, versions, emitter, options } = this.#parts;
    const { resource, namespace, labelSelector, fieldSelector } = this.#parts.target;
    const { pageSize } = options;
    const request = { namespace, labelSelector, fieldSelector, pageSize, signal, retries: 'none' } as const;
    let version: string | undefined;
    let isDoubtful = false;
    // The server prepares a page while we process the previous one. If we leave, the connection ends with that page.
    for await (const page of listPages(client, resource, { ...request, readsAhead: true })) {
      health.touch(clock.now());
      this.#check(page);
      if (page.isFirst) emitter.beginListing();
      version = page.resourceVersion;
      if (page.isFirst && isRewound(versions.newest, version)) await this.#onRewound();
      if (version !== undefined) versions.remember(version);
      for (const object of page.items) {
        const flaw = flawOf(object);
        if (flaw !== undefined) {
          isDoubtful = emitter.skipListed(object, flaw) || isDoubtful;
          continue;
        }
        const emitted = emitter.see({ type: null, object });
        if (emitted !== undefined) await emitted;
        signal.throwIfAborted();
      }
    }
    return { kind: 'listed', version, isDoubtful };
  }

  /** Throws if the page is implausible, so that no object is taken for deleted because of it. */
  #check({ kind, items, resourceVersion }: ListPage): void {
    const { target, emitter } = this.#parts;
    const { resource } = target;
    if (resourceVersion === undefined) throw notAList(resource, `${kind} without metadata.resourceVersion`);
    const stranger = resource.kind && items.find((item) => isMapping(item) && item.kind !== resource.kind);
    if (stranger) throw notAList(resource, `${kind} with an item of kind ${String(stranger.kind)}`);
    // A definition may give its lists any kind, and change it later. So an unusual one is remembered, unless it would
    // mean that all objects are gone: then it is more likely a list of something else.
    const isBelievable = isUsualListKind(kind, resource) || kind === this.#unusualListKind;
    if (!isBelievable && items.length === 0 && emitter.size > 0) throw notAList(resource, `an empty ${kind}`);
    if (!isBelievable) this.#unusualListKind = kind;
  }
}
