/** An object that has to be in every namespace: it is created, and comes back when it is deleted or changed. */
import type { AnyObject, KubeClient } from '@kopf-ts/core';
import type { Controller, ControllerContext } from '../contracts/controller.js';
import type { ServedObject } from '../contracts/objects.js';
import { Worker } from './worker.js';

interface NamespacedObject {
  readonly user: string;
  /** Of the core group. */
  readonly collection: string;
  readonly name: string;
  objectFor(namespace: string): AnyObject;
  /** Is the existing one as it should be? */
  isRight(object: ServedObject): boolean;
}

const NAMESPACES = 'namespaces';

export function inEveryNamespace(wanted: NamespacedObject): Controller {
  return {
    start(context) {
      const { store } = context;
      const client = context.clientAs(wanted.user);
      const worker = new Worker(context.clock, (namespace) => ensure(context, client, wanted, namespace));
      const stops = [
        store.observe(NAMESPACES, ({ type, object }) => {
          if (type !== 'DELETED') worker.enqueue(object.name);
        }),
        store.observe(wanted.collection, ({ type, object }) => {
          if (object.name === wanted.name && type !== 'ADDED') worker.enqueue(object.namespace);
        }),
      ];
      for (const { name } of store.list(NAMESPACES)) worker.enqueue(name);
      return worker.fedBy(() => {
        for (const stop of stops) stop();
      });
    },
  };
}

async function ensure(
  { store }: ControllerContext,
  client: KubeClient,
  { collection, name, objectFor, isRight }: NamespacedObject,
  namespace: string,
): Promise<void> {
  const isGoing = store.get(NAMESPACES, '', namespace)?.isDeleting ?? true;
  if (isGoing) return;
  const path = `/api/v1/namespaces/${namespace}/${collection}`;
  const existing = store.get(collection, namespace, name);
  if (existing === undefined) {
    await client.request({ method: 'POST', path, body: objectFor(namespace) });
    return;
  }
  const object = JSON.parse(existing.json) as ServedObject;
  if (isRight(object)) return;
  const { metadata: _metadata, ...content } = objectFor(namespace);
  await client.request({ method: 'PUT', path: `${path}/${name}`, body: { ...object, ...content } });
}
