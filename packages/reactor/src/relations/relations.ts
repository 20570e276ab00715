/**
 * Which objects belong to which, at this moment. The streams of children feed it, the handlers of parents ask it, and
 * whenever something has changed for a parent, that one is woken.
 *
 * A parent is not handled before all its children are known: those in its own namespace; or those in all namespaces if it
 * is in none, or if a function tells whose they are.
 */
import {
  type AnyObject,
  type Body,
  KopfError,
  Patch,
  type RelatedNames,
  type Resource,
  type SelectorSpec,
} from '@kopf-ts/core';
import {
  type ChildrenLookup,
  describeError,
  filterKwargs,
  meaningOf,
  objectLogger,
  parseSelector,
  type Relation,
  toError,
  type VerbWrite,
  type WatchedEvent,
} from '@kopf-ts/core/engine';
import type { LiveInsights } from '../discovery/insights.js';
import type { AllObjects } from '../objects/all-objects.js';
import type { HandledObject } from '../objects/object.js';
import type { OperatorParts } from '../parts.js';
import { servedOf } from '../served.js';
import { RelatedObjects, type Stamp } from './related-objects.js';

/** Of one stream: of parents, of children, or of both. */
interface StreamRelations {
  /** Whether the objects of this stream have children. */
  readonly areParents: boolean;
  /** Whether the objects of this stream have parents. */
  readonly areChildren: boolean;
  /** Whether all children of the objects of this stream are known. */
  readonly isComplete: boolean;
  accept(event: WatchedEvent): void;
  /** A parent in this stream is gone. */
  forget(parent: Body): void;
  listed(): void;
  rewound(): void;
  paused(): void;
  /** The stream is over; or even more, its objects are not ours any more. */
  ended(): void;
  left(): void;
}

/**
 * Which objects belong to which.
 *
 * ```ts
 * const podsOf = (relations: kopf.reactor.Relations, resource: kopf.Resource): readonly kopf.Body[] =>
 *   relations.children({ resource, body }, 'pods');
 * ```
 */
export interface Relations {
  /** The `children` kwarg of handlers for their object. */
  readonly children: ChildrenLookup;
  /** A stamp that differs whenever the children of the object have changed. */
  stamp(relation: Relation, parent: Body): Stamp;
  /** The operator itself wrote an object. */
  written(write: VerbWrite): void;
  /** For one stream; a new one for each stream. */
  stream(at: {
    readonly resource: Resource;
    readonly namespace: string | null;
    /** Called when the knowledge of all children may be complete or incomplete now. */
    readonly onCompleteness: () => void;
  }): StreamRelations;
}

/**
 * The dependencies of relations.
 *
 * ```ts
 * const insights = kopf.reactor.liveInsights();
 * const objects = kopf.reactor.allObjects({ now: () => clock.now(), logger });
 * const registry = kopf.createRegistry();
 * const settings = kopf.settings();
 * const options: kopf.reactor.RelationsOptions = { registry, settings, logger, client, objects, insights };
 * ```
 */
export interface RelationsOptions
  extends Pick<OperatorParts, 'registry' | 'settings' | 'logger' | 'client' | 'indices'> {
  readonly objects: AllObjects;
  readonly insights: Pick<LiveInsights, 'watched' | 'namespaces'>;
}

/**
 * Knows nothing yet: the streams tell it.
 *
 * ```ts
 * const knowNothing = (options: kopf.reactor.RelationsOptions): kopf.reactor.Relations => kopf.reactor.relations(options);
 * ```
 */
export function relations(options: RelationsOptions): Relations {
  const { registry, objects, insights } = options;
  const declared = registry.handlers.relations;
  const streams = new Set<() => void>();
  const tellCompleteness = (): void => {
    for (const tell of [...streams]) tell();
  };
  const related = new RelatedObjects({
    relationsOfChild: (resource) => declared.ofChild(resource),
    parentsOf: (relation, resource, child) => parentsOf(relation, resource, child, options),
    isKnown: (relation, key) => parentsAt(relation, key).length > 0,
    onChanged(relation, key) {
      for (const parent of parentsAt(relation, key)) parent.summon();
    },
  });
  const found = new WeakMap<Resource, FoundRelations>();
  // Mostly, many ask the same one after another: for all objects of a kind, say.
  let latest: Asked | undefined;
  const asked = (resource: Resource, child: SelectorSpec | Relation): Asked => {
    if (latest !== undefined && latest.child === child && latest.resource === resource) return latest;
    const relation = isRelation(child) ? child : named(resource, child);
    latest = { resource, child, relation, lookUp: related.lookup(relation) };
    return latest;
  };

  return {
    children({ resource, body }, child) {
      const { relation, lookUp } = asked(resource, child);
      return lookUp(keyOf(relation, body));
    },
    stamp: (relation, parent) => related.stamp(relation, keyOf(relation, parent)),
    written({ resource, body, goneUid }) {
      if (goneUid !== undefined) related.deleted(goneUid);
      else if (body !== undefined && declared.ofChild(resource).length > 0) {
        const isServed = servedOf(options, resource).includes?.(body) !== false;
        related.written(resource, body, { isServed });
      }
    },
    stream({ resource, namespace, onCompleteness }) {
      const areChildren = declared.ofChild(resource).length > 0;
      const areParents = declared.ofParent(resource).length > 0;
      const isCompleteNow = (): boolean => isCompleteFor(resource, namespace, { inOthers: !isComplete });
      let isComplete = false;
      isComplete = !areParents || isCompleteNow();
      const update = (): void => {
        const before = isComplete;
        isComplete = isCompleteNow();
        if (isComplete !== before) onCompleteness();
      };
      if (areParents) streams.add(update);
      if (areChildren) {
        related.begin(resource, namespace);
        tellCompleteness();
      }
      return {
        areParents,
        areChildren,
        get isComplete() {
          return isComplete;
        },
        accept(event) {
          if (areChildren) related.accept(resource, namespace, event);
        },
        forget(parent) {
          for (const relation of declared.ofParent(resource)) related.forget(relation, keyOf(relation, parent));
        },
        listed() {
          if (!areChildren) return;
          related.listed(resource, namespace);
          tellCompleteness();
        },
        rewound() {
          if (areChildren) related.rewind(resource, namespace);
        },
        paused() {
          if (!areChildren) return;
          related.suspend(resource, namespace);
          tellCompleteness();
        },
        ended() {
          streams.delete(update);
          if (!areChildren) return;
          related.suspend(resource, namespace);
          tellCompleteness();
        },
        left() {
          if (areChildren) related.leave(resource, namespace);
        },
      };
    },
  };

  function parentsAt(relation: Relation, key: string): readonly HandledObject[] {
    // Of those that are declared, the list of a kind is known: selectors are asked once.
    const isParent = (object: HandledObject): boolean =>
      object.isServed && declared.ofParent(object.resource).includes(relation);
    if (relation.by.kind === 'owner') {
      const object = objects.find({ metadata: { uid: key } });
      return object !== undefined && isParent(object) ? [object] : [];
    }
    const slash = key.indexOf('/');
    return [...objects.named(key.slice(0, slash) || undefined, key.slice(slash + 1))].filter(isParent);
  }

  /**
   * The kinds that are not served do not count: nothing is going to be known of them. Only functions tell of parents in
   * other namespaces: these are waited for at first. Those that come later do not hold back what is at work already.
   */
  function isCompleteFor(
    parent: Resource,
    namespace: string | null,
    { inOthers }: { readonly inOthers: boolean },
  ): boolean {
    for (const { child, by } of declared.ofParent(parent)) {
      const isAnywhere = namespace === null || (inOthers && by.kind === 'function');
      for (const resource of insights.watched) {
        if (!child.check(resource)) continue;
        const places = resource.namespaced === false ? [null] : isAnywhere ? insights.namespaces : [namespace];
        for (const place of places) if (!related.isListed(resource, place)) return false;
      }
    }
    return true;
  }

  function named(resource: Resource, child: SelectorSpec): Relation {
    let ofResource = found.get(resource);
    if (ofResource === undefined) {
      ofResource = { byText: new Map(), byObject: new WeakMap() };
      found.set(resource, ofResource);
    }
    // Whoever writes down an object in each call, asks by another one each time.
    const isText = typeof child === 'string' || typeof child === 'symbol';
    const known = isText ? ofResource.byText.get(child) : ofResource.byObject.get(child);
    if (known !== undefined) return known;
    const relation = findRelation(declared.ofParent(resource), resource, child);
    if (isText) ofResource.byText.set(child, relation);
    else ofResource.byObject.set(child, relation);
    return relation;
  }
}

interface FoundRelations {
  readonly byText: Map<string | symbol, Relation>;
  readonly byObject: WeakMap<object, Relation>;
}

/** A request for children of a kind, and how to find them. */
interface Asked {
  readonly resource: Resource;
  readonly child: SelectorSpec | Relation;
  readonly relation: Relation;
  readonly lookUp: (key: string) => readonly AnyObject[];
}

function isRelation(child: SelectorSpec | Relation): child is Relation {
  return typeof child === 'object' && 'by' in child && 'key' in child;
}

function findRelation(relations: readonly Relation[], { plural }: Resource, child: SelectorSpec): Relation {
  const meaning = meaningOf(parseSelector(child));
  const relation = relations.find((one) => meaningOf(one.child) === meaning);
  if (relation !== undefined) return relation;
  const known = relations.map((one) => meaningOf(one.child)).join(', ');
  throw new KopfError(
    `Nobody has said that ${meaning} can be children of ${plural}, so these are not watched. Declare it when the operator ` +
      `starts: kopf.owns('${plural}', …). ${known === '' ? 'Nothing' : known} is declared so far, and must be asked for in the ` +
      'same words.',
    { code: 'KOPF_UNRELATED' },
  );
}

/** The key of an object as a parent. */
function keyOf({ by }: Relation, { metadata }: Body): string {
  const { uid = '', namespace, name = '' } = metadata ?? {};
  return by.kind === 'owner' ? uid : nameKey(namespace, name);
}

function nameKey(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}

/** The keys of all parents of the child. */
function parentsOf(
  { by }: Relation,
  resource: Resource,
  child: AnyObject,
  options: RelationsOptions,
): readonly string[] {
  switch (by.kind) {
    case 'owner': {
      const owners: unknown = child.metadata?.ownerReferences;
      return Array.isArray(owners)
        ? owners.flatMap(({ uid }) => (typeof uid === 'string' && uid !== '' ? [uid] : []))
        : [];
    }
    case 'label': {
      const name: unknown = child.metadata?.labels?.[by.label];
      return typeof name === 'string' && name !== '' ? keysOfNames(name, child) : [];
    }
    case 'function':
      try {
        return keysOfNames(by.fn(filterKwargs(causeOf(resource, child, options))), child);
      } catch (error) {
        const logger = objectLogger({ logger: options.logger, body: child });
        const text = 'The function that finds its parents failed, so it has none';
        logger.error(`${text}: ${describeError(error)}`, { error: toError(error) });
        return [];
      }
  }
}

function keysOfNames(names: RelatedNames, { metadata }: AnyObject): readonly string[] {
  if (names === undefined || names === null) return [];
  const list = Array.isArray(names) ? names : [names];
  const keys = list.flatMap((one: unknown) => {
    if (typeof one === 'string') return inAnyPlace(metadata?.namespace, one);
    const { name, namespace } = (one ?? {}) as { name?: unknown; namespace?: unknown };
    if (typeof name !== 'string') throw new KopfError('It must return names, objects with names, or lists of these.');
    return typeof namespace === 'string' ? [nameKey(namespace, name)] : inAnyPlace(metadata?.namespace, name);
  });
  return [...new Set(keys)];
}

/** In the same namespace, or in none. */
function inAnyPlace(namespace: string | undefined, name: string): readonly string[] {
  if (name === '') return [];
  return namespace === undefined ? [nameKey(undefined, name)] : [nameKey(namespace, name), nameKey(undefined, name)];
}

function causeOf(resource: Resource, body: AnyObject, { logger, client, indices }: RelationsOptions) {
  const patch = new Patch(undefined, { body });
  const ofObject = objectLogger({ logger, body });
  return { kind: 'indexing', resource, body, patch, memo: undefined, logger: ofObject, client, indices } as const;
}
