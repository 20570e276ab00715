/** Controls the objects that an operator remembers, for consoles and commands. */
import {
  type Control,
  type ControlledObject,
  KopfError,
  type ObjectQuery,
  type ObservedObject,
  type Toggle,
} from '@kopf-ts/core';
import { parseSelector } from '@kopf-ts/core/engine';
import type { HandledObject } from '../objects/object.js';

export interface ControlParts {
  /** All objects that the operator remembers. */
  readonly objects: Iterable<HandledObject>;
  /** Pauses the whole operator when turned on, as peerings do. */
  readonly pausing: Toggle;
}

const FIELDS: ReadonlySet<string> = new Set(['resource', 'namespace', 'name', 'uid'] satisfies (keyof ObjectQuery)[]);

export function reactorControl({ objects, pausing }: ControlParts): Control {
  /** Paused objects, kept even if they have vanished since: what waits for them is released when they are resumed. */
  const paused = new Set<HandledObject>();

  const found = (query: ObjectQuery | undefined): readonly HandledObject[] => {
    const fits = matcherOf(query);
    // Objects outside of any stream are not handled yet.
    return [...new Set([...objects, ...paused])].filter((object) => object.isServed && fits(object.observed));
  };
  const size = (): number => found(undefined).length;

  return {
    get isPaused() {
      return pausing.isOn;
    },
    objects: (query) => found(query).map(controlled),
    retry(query) {
      refuseEmpty(query, 'retry');
      return found(query).filter((object) => object.retry()).length;
    },
    pause(query) {
      if (query === undefined) {
        const concerned = pausing.isOn ? 0 : size();
        pausing.turn(true);
        return concerned;
      }
      refuseEmpty(query, 'pause');
      const concerned = found(query).filter((object) => object.pause());
      for (const object of concerned) paused.add(object);
      return concerned.length;
    },
    resume(query) {
      if (query === undefined) {
        const concerned = pausing.isOn ? size() : 0;
        pausing.turn(false);
        return concerned;
      }
      refuseEmpty(query, 'resume');
      const concerned = found(query).filter((object) => paused.delete(object));
      for (const object of concerned) object.resume();
      return concerned.length;
    },
  };
}

function controlled(object: HandledObject): ControlledObject {
  const { phase, alarm, doubt, version } = object.state;
  return Object.freeze({
    object: object.observed,
    phase,
    isPaused: object.isHeld,
    until: alarm?.at ?? doubt?.until,
    version,
    calls: Object.freeze(object.running.map(({ id }) => id)),
    daemons: Object.freeze([...object.daemons.running.keys()]),
  });
}

/** Given fields must match; absent fields match anything. */
function matcherOf(query: ObjectQuery = {}): (object: ObservedObject) => boolean {
  refuseMistakes(query);
  const { resource, namespace, name, uid } = query;
  const selector = resource === undefined ? undefined : parseSelector(resource);
  return (object) =>
    (selector?.check(object.resource) ?? true) &&
    (namespace === undefined || namespace === object.namespace) &&
    (name === undefined || name === object.name) &&
    (uid === undefined || uid === object.uid);
}

/** The compiler refuses these, too; but queries also come from consoles and command lines. */
function refuseMistakes(query: ObjectQuery): void {
  if (typeof query !== 'object' || query === null || Array.isArray(query)) {
    throw badQuery('A query for objects is a mapping: { resource, namespace, name, uid }.');
  }
  for (const [field, value] of Object.entries(query)) {
    if (!FIELDS.has(field))
      throw badQuery(`There is no "${field}" in queries for objects. Known: ${[...FIELDS].join(', ')}.`);
    if (value !== undefined && (typeof value !== 'string' || value === '')) {
      throw badQuery(`The ${field} in a query for objects must be a text, and not an empty one.`);
    }
  }
}

/** An empty query is mostly a mistake, and would select all objects. */
function refuseEmpty(query: ObjectQuery, what: string): void {
  refuseMistakes(query);
  if (Object.values(query).some((value) => value !== undefined)) return;
  throw badQuery(`To ${what} all objects at once, name their kinds: an empty query is refused.`);
}

function badQuery(message: string): KopfError {
  return new KopfError(message, { code: 'KOPF_BAD_QUERY' });
}
