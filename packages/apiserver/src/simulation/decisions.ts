/**
 * What a simulated controller is: it looks at one object and the world around it, and says what has to be written. It
 * keeps nothing in mind, sends nothing, and is asked again after every change; so it does not matter how the world has
 * become what it is.
 */
import type { Seconds } from '@kopf-ts/core';
import type { ServedObject } from '../contracts/objects.js';
import type { Collection, StoreEvent } from '../contracts/store.js';
import type { Note } from './notes.js';
import type { World } from './world.js';
import type { Write } from './writes.js';

export interface Decision {
  /** In this order. What they change is looked at once more. */
  readonly writes: readonly Write[];
  /** To be told at once, whatever becomes of the writes. */
  readonly notes?: readonly Note[];
  /** Look again after so long, even if nothing changes. */
  readonly again?: Seconds | undefined;
}

export const NOTHING: Decision = { writes: [] };

/** An object by its place. */
export interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** What is known of the last time. */
export interface Circumstances {
  readonly place: Place;
  /** Why the last creation of something was refused, if it was. */
  readonly failure: string | undefined;
}

export interface SimulatedController {
  /** One word for each. */
  readonly name: string;
  readonly username: string;
  /** The program that it is a part of, as the manager of its fields. */
  readonly program: string;
  /** As it is called in events. */
  readonly component: string;
  readonly collection: Collection;
  /** Collections of the objects that it controls: changes of these concern their controllers, or who selects them. */
  readonly dependents?: readonly Collection[];
  /** Whom else changes of other objects concern. */
  readonly concerns?: Readonly<Record<Collection, (event: StoreEvent, world: World) => Iterable<Place>>>;
  /** `undefined` if the object is gone. */
  decide(object: ServedObject | undefined, world: World, circumstances: Circumstances): Decision;
}

const MANAGER = 'kube-controller-manager';

/** One of those that are a part of kube-controller-manager in real clusters. */
export function managed(
  account: string,
  component = account,
): Pick<SimulatedController, 'name' | 'username' | 'program' | 'component'> {
  return { name: account, username: `system:serviceaccount:kube-system:${account}`, program: MANAGER, component };
}

/** The sooner of two delays. */
export function sooner(one: Seconds | undefined, other: Seconds | undefined): Seconds | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}
