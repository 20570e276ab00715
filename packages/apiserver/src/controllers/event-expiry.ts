/** Events are forgotten an hour after their last change. This is seen to whenever there are new ones: so many never pile up. */
import type { Controller } from '../contracts/controller.js';
import type { Revision } from '../contracts/store.js';
import { Worker } from './worker.js';

const EVENTS = 'events';
const KEPT_FOR = 3_600_000;
const USER = 'system:apiserver';

export const eventExpiry: Controller = {
  start({ store, clock, clientAs }) {
    const client = clientAs(USER);
    /** The one that was changed last is the last one here. */
    const changed = new Map<string, { readonly revision: Revision; readonly at: number }>();
    const now = (): number => clock.utc().getTime();
    const note = (revision: Revision): void => {
      changed.delete(revision.uid);
      changed.set(revision.uid, { revision, at: now() });
    };
    const worker = new Worker(clock, async (uid) => {
      const expired = changed.get(uid);
      if (expired === undefined) return;
      changed.delete(uid);
      const { namespace, name } = expired.revision;
      const path = `/api/v1/namespaces/${namespace}/events/${encodeURIComponent(name)}`;
      await client.request({ method: 'DELETE', path, body: { preconditions: { uid } } });
    });
    for (const revision of store.list(EVENTS)) note(revision);
    return worker.fedBy(
      store.observe(EVENTS, ({ type, object }) => {
        if (type === 'DELETED') {
          changed.delete(object.uid);
          return;
        }
        note(object);
        for (const [uid, { at }] of changed) {
          if (now() - at < KEPT_FOR) break;
          worker.enqueue(uid);
        }
      }),
    );
  },
};
