/** One queue for all simulated controllers: who is concerned is asked, and what they decide is written. */
import { ApiConflictError, ApiError, ApiNotFoundError, type Clock, type KubeClient } from '@kopf-ts/core';
import type { RunningController } from '../contracts/controller.js';
import type { ServedObject } from '../contracts/objects.js';
import type { Catalog } from '../contracts/resource.js';
import type { Collection, StoreEvent, StoreReader } from '../contracts/store.js';
import { pathOf } from '../controllers/object-paths.js';
import { Worker } from '../controllers/worker.js';
import type { Circumstances, Decision, Place, SimulatedController } from './decisions.js';
import { controllerOf, selectorOf } from './family.js';
import type { Note } from './notes.js';
import { EventRecorder } from './recorder.js';
import { Timetable } from './timetable.js';
import { World } from './world.js';
import type { Write } from './writes.js';

export interface LoopContext {
  readonly store: StoreReader;
  readonly catalog: Catalog;
  readonly clock: Clock;
  clientOf(controller: SimulatedController): KubeClient;
}

export interface Loop extends RunningController {
  /** Something has happened that cannot be seen in the cluster. */
  look(controller: SimulatedController, place: Place): void;
}

export function startLoop(context: LoopContext, controllers: readonly SimulatedController[]): Loop {
  const { store, clock } = context;
  const world = new World(store, clock);
  const byName = new Map(controllers.map((one) => [one.name, { controller: one, client: context.clientOf(one) }]));
  const recorder = new EventRecorder(clock);
  const failures = new Map<string, string>();
  const worker = new Worker(clock, work);
  const timetable = new Timetable(clock, (key) => worker.enqueue(key));
  const look = (controller: SimulatedController, { namespace, name }: Place): void =>
    worker.enqueue(`${controller.name}\n${namespace}\n${name}`);

  async function work(key: string): Promise<void> {
    const [which = '', namespace = '', name = ''] = key.split('\n');
    const { controller, client } = byName.get(which) as { controller: SimulatedController; client: KubeClient };
    const object = world.get(controller.collection, namespace, name);
    const decide = (): Decision => {
      const circumstances: Circumstances = { place: { namespace, name }, failure: failures.get(key) };
      return controller.decide(world.get(controller.collection, namespace, name), world, circumstances);
    };
    const tell = async (notes: readonly Note[] = []): Promise<void> => {
      if (object === undefined) return;
      for (const note of notes) await recorder.record(client, controller, object, note);
    };
    const { writes, again, notes } = decide();
    timetable.plan(key, again);
    await tell(notes);
    try {
      await sendAll(client, writes, tell);
      if (failures.delete(key)) worker.enqueue(key);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // Now the status can tell of it; the creation itself is tried again later, as all that fails.
      failures.set(key, error.cause.message);
      await sendAll(
        client,
        decide().writes.filter(({ subresource }) => subresource === 'status'),
        tell,
      );
      throw lasting(error.cause);
    }
  }

  async function sendAll(
    client: KubeClient,
    writes: readonly Write[],
    tell: (notes: readonly Note[] | undefined) => Promise<void>,
  ): Promise<void> {
    for (const write of writes) {
      try {
        const answer = await send(client, write);
        if (answer !== undefined) await tell(write.tells?.done?.(answer));
      } catch (error) {
        if (isWorthTelling(error)) await tell(write.tells?.refused?.(error.message));
        if (write.isReported === true && error instanceof ApiError) throw new Refusal(error);
        throw write.method === 'POST' ? lasting(error) : error;
      }
    }
  }

  async function send(
    client: KubeClient,
    { method, collection, namespace, name, subresource, body }: Write,
  ): Promise<ServedObject | undefined> {
    const [resource] = context.catalog.versionsOf(collection);
    // A kind that is not served is not written; the same holds for what would be done with it.
    if (resource === undefined) return undefined;
    const path = pathOf(resource, namespace, name, subresource);
    const contentType = method === 'PATCH' ? ({ contentType: 'application/merge-patch+json' } as const) : {};
    return await client.request<ServedObject>({ method, path, body, ...contentType });
  }

  const stops = [...listenersOf(controllers, world, look)].map(([collection, listeners]) =>
    store.observe(collection, (event) => {
      for (const listener of listeners) listener(event);
    }),
  );
  worker.fedBy(() => {
    for (const stop of stops) stop();
    timetable.stop();
  });
  for (const controller of controllers) {
    for (const revision of store.list(controller.collection)) look(controller, revision);
  }
  return {
    get isIdle() {
      return worker.isIdle;
    },
    look,
    stop: () => worker.stop(),
  };
}

/** What has changed in the meantime is looked at once more; what is gone, or goes with its namespace, is nobody's problem. */
function isWorthTelling(error: unknown): error is ApiError {
  if (!(error instanceof ApiError) || error instanceof ApiConflictError) return false;
  return !(error instanceof ApiNotFoundError) && !error.message.includes('because it is being terminated');
}

/** A name that somebody else has is not looked at once more at once, as other conflicts are: it takes time. */
function lasting(error: unknown): unknown {
  return error instanceof ApiConflictError ? new Error(error.message, { cause: error }) : error;
}

/** A creation that was refused, and that the status has to tell of. */
class Refusal extends Error {
  override readonly cause: ApiError;
  constructor(cause: ApiError) {
    super(cause.message);
    this.cause = cause;
  }
}

type Listener = (event: StoreEvent) => void;

function listenersOf(
  controllers: readonly SimulatedController[],
  world: World,
  look: Loop['look'],
): ReadonlyMap<Collection, readonly Listener[]> {
  const listeners = new Map<Collection, Listener[]>();
  const on = (collection: Collection, listener: Listener): void => {
    listeners.set(collection, [...(listeners.get(collection) ?? []), listener]);
  };
  for (const controller of controllers) {
    on(controller.collection, ({ object }) => look(controller, object));
    for (const dependents of controller.dependents ?? []) {
      on(dependents, (event) => {
        for (const place of ownersOf(event, controller, world)) look(controller, place);
      });
    }
    for (const [collection, concerned] of Object.entries(controller.concerns ?? {})) {
      on(collection, (event) => {
        for (const place of concerned(event, world)) look(controller, place);
      });
    }
  }
  return listeners;
}

/** Who controls the object, or did so before; if nobody does, who may want to. */
function* ownersOf({ object, previous }: StoreEvent, { collection }: SimulatedController, world: World) {
  const { namespace } = object;
  const controller = controllerOf(object);
  for (const reference of [controller, previous === undefined ? undefined : controllerOf(previous)]) {
    if (reference === undefined) continue;
    const owner = world.get(collection, namespace, reference.name);
    if (owner?.metadata.uid === reference.uid) yield { namespace, name: reference.name };
  }
  if (controller !== undefined) return;
  for (const candidate of world.list(collection, namespace)) {
    const { name = '' } = candidate.metadata;
    if (selectorOf(candidate)?.(object.labels) === true) yield { namespace, name };
  }
}
