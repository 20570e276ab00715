/** All watches that are open now, so that they can be ended when their kind goes away or the server stops. */
import type { Collection } from '../contracts/store.js';
import type { Served } from '../kinds/served.js';
import type { Channel } from './channel.js';
import { type LineMaker, lineMaker } from './lines.js';

export interface OpenWatches {
  /** Returns the way to forget it. */
  add(served: Served, channel: Channel): () => void;
  /** Ends all of them. */
  end(): void;
  /** The way to end those of the collection that are open now, and no others that come later. */
  openOf(collection: Collection): () => void;
  /** Is nothing on its way to anyone? */
  readonly areDelivered: boolean;
  /** Shared by all watches of the kind: each line is made once. */
  linesOf(served: Served): LineMaker;
}

export function openWatches(): OpenWatches {
  const channels = new Map<Channel, Collection>();
  const makers = new WeakMap<Served, LineMaker>();
  return {
    add(served, channel) {
      channels.set(channel, served.collection);
      return () => void channels.delete(channel);
    },
    end() {
      for (const channel of [...channels.keys()]) channel.end();
    },
    openOf(collection) {
      const open = [...channels].filter(([, own]) => own === collection).map(([channel]) => channel);
      return () => {
        for (const channel of open) channel.end();
      };
    },
    get areDelivered() {
      for (const channel of channels.keys()) if (channel.size > 0) return false;
      return true;
    },
    linesOf(served) {
      let maker = makers.get(served);
      if (maker === undefined) {
        maker = lineMaker(served);
        makers.set(served, maker);
      }
      return maker;
    },
  };
}
