/** Somebody who creates, edits and deletes objects while the operator works, and remembers what was done. */
import { setTimeout as pause } from 'node:timers/promises';
import type { HttpKubeClient } from '@kopf-ts/client';
import { type AnyObject, ApiNotFoundError } from '@kopf-ts/core';
import { randomNumbers } from '../failures/random.js';
import { FINALIZER, newObject, type Plural, pathOf, persistently } from './cluster.js';
import type { Edit, Values } from './history.js';

export interface LoadOptions {
  readonly client: HttpKubeClient;
  readonly seed: number;
  /** At most so many live objects, and so many over all. */
  readonly live: number;
  readonly total: number;
  /** On average, from one write to the next. */
  readonly pauseMs: number;
}

export interface Writer {
  readonly edits: readonly Edit[];
  /** Works until the signal fires; ends after the write that it is in. */
  work(signal: AbortSignal): Promise<void>;
  /** Deletes everything that is still there. */
  deleteAll(): Promise<void>;
}

interface Live {
  readonly plural: Plural;
  readonly name: string;
  readonly uid: string;
  values: Values;
}

const MERGE = 'application/merge-patch+json';

export function newWriter({ client, seed, live: liveLimit, total, pauseMs }: LoadOptions): Writer {
  const random = randomNumbers(seed + 2);
  const edits: Edit[] = [];
  const live: Live[] = [];
  const freeNames: string[] = [];
  let created = 0;

  const record = (what: Edit['what'], { uid, plural, name, values }: Live, more: Partial<Edit> = {}): void => {
    edits.push({ at: Date.now(), what, uid, key: `${plural}/${name}`, values, ...more });
  };

  async function create(): Promise<void> {
    const freed = random() < 0.5 ? freeNames.shift() : undefined;
    const plural: Plural = created % 5 === 4 ? 'deployments' : 'things';
    created += 1;
    // A name of someone who was deleted before is good for a new object of the same kind.
    const [ofKind, name] = freed === undefined ? [plural, `o-${created}`] : (freed.split('/') as [Plural, string]);
    const values: Values = { edit: 0, round: 0, size: ofKind === 'things' ? 1 : -1 };
    const labels = random() < 0.3 ? { noisy: 'yes' } : { noisy: 'no' };
    const body = newObject(ofKind, name, values, labels);
    const uid = await createOnce(ofKind, name, body);
    if (uid === undefined) return;
    const object = { plural: ofKind, name, uid, values };
    live.push(object);
    record('create', object);
  }

  /** The answer may have been lost in a restart of the server; then it is there already. */
  async function createOnce(plural: Plural, name: string, body: AnyObject): Promise<string | undefined> {
    try {
      const made = await persistently(() =>
        client.request<AnyObject>({ method: 'POST', path: pathOf(plural), body, retries: 'none' }),
      );
      return made.metadata?.uid;
    } catch (error) {
      if ((error as { status?: number }).status !== 409) throw error;
      const there = await persistently(() =>
        client.request<AnyObject>({ method: 'GET', path: pathOf(plural, name), retries: 'none' }),
      );
      // The former one is not gone yet: another time, under another name.
      return there.metadata?.deletionTimestamp ? undefined : there.metadata?.uid;
    }
  }

  async function edit(object: Live): Promise<void> {
    const sort = random();
    const { edit: number, round, size } = object.values;
    const values: Values = {
      edit: number + 1,
      round: sort < 0.5 ? round + 1 : round,
      size: object.plural === 'things' && sort > 0.4 && sort < 0.8 ? size + 1 : size,
    };
    const ofThing = {
      metadata: { labels: { edit: String(values.edit) } },
      spec: { round: values.round, size: values.size },
    };
    const ofDeployment = { metadata: { labels: { edit: String(values.edit), round: String(values.round) } } };
    const body = object.plural === 'things' ? ofThing : ofDeployment;
    const path = pathOf(object.plural, object.name);
    try {
      await persistently(() => client.request({ method: 'PATCH', path, body, contentType: MERGE, retries: 'none' }));
    } catch (error) {
      if (!(error instanceof ApiNotFoundError)) throw error;
      // Nobody should have deleted it: the judge will miss it.
      live.splice(live.indexOf(object), 1);
      return;
    }
    object.values = values;
    record('edit', object);
  }

  async function remove(object: Live): Promise<void> {
    const path = pathOf(object.plural, object.name);
    live.splice(live.indexOf(object), 1);
    const body = { preconditions: { uid: object.uid } };
    let isBlocked = false;
    try {
      const answer = await client.request<AnyObject>({ method: 'DELETE', path, body, retries: 'none' });
      isBlocked = answer.metadata?.finalizers?.includes(FINALIZER) ?? false;
    } catch {
      // Done or not: it is asked for until it is certain, and nothing is expected of the handlers.
      await persistently(async () => {
        try {
          await client.request({ method: 'DELETE', path, body, retries: 'none' });
        } catch (error) {
          if (!(error instanceof ApiNotFoundError)) throw error;
        }
      });
    }
    record('delete', object, { isBlocked });
    freeNames.push(`${object.plural}/${object.name}`);
  }

  async function step(): Promise<void> {
    const chosen = live[Math.floor(random() * live.length)];
    const sort = random();
    const mayCreate = created < total && live.length < liveLimit;
    if (chosen === undefined || (mayCreate && (sort < 0.25 || live.length < liveLimit / 3))) {
      if (mayCreate) await create();
    } else if (sort < 0.35) await remove(chosen);
    else if (sort < 0.5) for (let burst = 3; burst > 0; burst -= 1) await edit(chosen);
    else await edit(chosen);
  }

  return {
    edits,
    async work(signal) {
      while (!signal.aborted) {
        await step();
        await pause(pauseMs * 2 * random(), undefined, { signal }).catch(() => {});
      }
    },
    async deleteAll() {
      for (const object of [...live]) await remove(object);
    },
  };
}
