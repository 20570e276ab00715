/** Relations of objects: parents and their children, by owner references, by a label, or by a function of the user. */
import { RegistrationError } from '../errors.js';
import type { Body } from '../values/objects/body.js';
import type { Resource } from '../values/resources/resource.js';
import type { Selector, SelectorSpec } from '../values/resources/selector.js';

/**
 * The name of an object, with its namespace if it differs from that of the child.
 *
 * ```ts
 * const parent: kopf.RelatedName = { namespace: 'shop', name: 'main' };
 * kopf.owns('kopfexamples', 'pods', { by: () => parent });
 * ```
 */
export interface RelatedName {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/**
 * The result of a function that finds parents: one name, several names, or nothing.
 *
 * ```ts
 * const parents: kopf.RelatedNames = ['main', { namespace: 'shop', name: 'other' }];
 * kopf.owns('kopfexamples', 'pods', { by: () => parents });
 * ```
 */
export type RelatedNames = string | RelatedName | readonly (string | RelatedName)[] | null | undefined;

// biome-ignore lint/suspicious/noExplicitAny: the registrars type the kwargs for the user
export type RelatingFn = (kwargs: any) => RelatedNames;

/** How the parents of a child are found. */
export type RelatedBy =
  | { readonly kind: 'owner' }
  /** The label has the name of the parent. */
  | { readonly kind: 'label'; readonly label: string }
  | { readonly kind: 'function'; readonly fn: RelatingFn };

/** One kind of objects belongs to another one. */
export interface Relation {
  /** Equal for all declarations of the same relation. */
  readonly key: string;
  readonly parent: Selector;
  readonly child: Selector;
  readonly by: RelatedBy;
}

/** Finds the children of an object. Throws if no such relation is declared. */
export type ChildrenLookup = (
  parent: { readonly resource: Resource; readonly body: Body },
  /** Their kind, or the relation itself. */
  child: SelectorSpec | Relation,
) => readonly Body[];

export interface RelationSet extends Iterable<Relation> {
  readonly size: number;
  /** Throws if the same kinds are already related in another way. */
  add(relation: Relation): void;
  ofParent(resource: Resource): readonly Relation[];
  ofChild(resource: Resource): readonly Relation[];
}

export function createRelations(): RelationSet {
  const relations = new Map<string, Relation>();
  let [byParent, byChild] = [new WeakMap<Resource, Relation[]>(), new WeakMap<Resource, Relation[]>()];
  const found = (known: WeakMap<Resource, Relation[]>, of: 'parent' | 'child', resource: Resource): Relation[] => {
    let list = known.get(resource);
    if (list === undefined) {
      list = [...relations.values()].filter((relation) => relation[of].check(resource));
      known.set(resource, list);
    }
    return list;
  };
  return {
    get size() {
      return relations.size;
    },
    [Symbol.iterator]: () => relations.values(),
    add(relation) {
      const known = relations.get(relation.key);
      if (known !== undefined && !isSameWay(known.by, relation.by)) {
        throw new RegistrationError(
          `The relation ${relation.key} is declared in two ways: ${wayOf(known.by)}, and ${wayOf(relation.by)}. Declare it ` +
            'the same way everywhere.',
        );
      }
      if (known !== undefined) return;
      relations.set(relation.key, relation);
      [byParent, byChild] = [new WeakMap(), new WeakMap()];
    },
    ofParent: (resource) => found(byParent, 'parent', resource),
    ofChild: (resource) => found(byChild, 'child', resource),
  };
}

export const BY_OWNER: RelatedBy = Object.freeze({ kind: 'owner' });

/** The identity of a relation. Functions are distinguished by the order of declaration, not by their texts. */
export function relationOf(parent: Selector, child: Selector, by: RelatedBy): Relation {
  return Object.freeze({ key: `${meaningOf(parent)} → ${meaningOf(child)}`, parent, child, by });
}

const numbers = new WeakMap<object, number>();
let lastNumber = 0;

export function meaningOf(selector: Selector): string {
  if (selector.fn === undefined) return String(selector);
  let number = numbers.get(selector.fn);
  if (number === undefined) {
    number = ++lastNumber;
    numbers.set(selector.fn, number);
  }
  return `${String(selector)}#${number}`;
}

function isSameWay(one: RelatedBy, two: RelatedBy): boolean {
  if (one.kind === 'label' && two.kind === 'label') return one.label === two.label;
  if (one.kind === 'function' && two.kind === 'function') return one.fn === two.fn;
  return one.kind === two.kind;
}

function wayOf(by: RelatedBy): string {
  if (by.kind === 'owner') return 'by owners';
  return by.kind === 'label' ? `by the label '${by.label}'` : 'by a function';
}
