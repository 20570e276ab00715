/** Events as lines of text. Each is made once, however many watchers there are. */
import type { StreamLine } from '../contracts/request.js';
import type { Revision, StoreEvent } from '../contracts/store.js';
import { textOf } from '../http/object-encoding.js';
import type { Status } from '../http/status-errors.js';
import type { Served } from '../kinds/served.js';
import { withVersion } from '../store/revision.js';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';
/** How the object of an event is shown: as it is, or as a table, or as metadata only. */
export type Representation = (text: string) => string;

export interface LineMaker {
  /** Of a change; `type` may differ from that of the event if an object enters or leaves a selection. */
  ofEvent(event: StoreEvent, type: EventType): StreamLine;
  /** Of an object that is there already. */
  ofRevision(revision: Revision): StreamLine;
  bookmark(version: number, isInitialEnd: boolean): StreamLine;
}

const line = (type: StreamLine['type'], object: string): StreamLine => ({
  type,
  text: `{"type":"${type}","object":${object}}\n`,
});

/** Remembers the lines of the served kind for as long as the events themselves are remembered. */
export function lineMaker(served: Served): LineMaker {
  const known = new WeakMap<StoreEvent, StreamLine>();
  return {
    ofEvent(event, type) {
      if (type !== event.type) return line(type, textOf(served, leaving(event, type)));
      let made = known.get(event);
      if (made === undefined) {
        made = line(type, textOf(served, event.object));
        known.set(event, made);
      }
      return made;
    },
    ofRevision: (revision) => line('ADDED', textOf(served, revision)),
    bookmark(version, isInitialEnd) {
      const object = served.strategy.blank();
      object.metadata = {
        ...object.metadata,
        resourceVersion: String(version),
        ...(isInitialEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
      };
      return line('BOOKMARK', JSON.stringify(object));
    },
  };
}

/** What leaves a selection is shown as it was in it, with the version in which it left. */
function leaving(event: StoreEvent, type: EventType): Revision {
  return type === 'DELETED' && event.previous !== undefined ? withVersion(event.previous, event.version) : event.object;
}

export function errorLine(status: Status): StreamLine {
  return line('ERROR', JSON.stringify(status));
}

/** The same line with the object shown otherwise. */
export function represented(original: StreamLine, representation: Representation): StreamLine {
  if (original.type === 'ERROR') return original;
  const prefix = `{"type":"${original.type}","object":`;
  return line(original.type, representation(original.text.slice(prefix.length, -2)));
}
