/**
 * Stores marks in the middle of a call. They are sent like all patches and count as our own change of the object: no
 * handler is called for them, whatever the server makes of them.
 */
import { type Awaitable, type Body, KopfError, Patch } from '@kopf-ts/core';
import { isTooLarge, type Keeping, type KeepingPlace, NO_ROOM } from '@kopf-ts/core/engine';
import { newestBody, type Scene } from './scene.js';

/** Every cycle has one, but almost no handler needs it: so it stays empty until first use. */
class CycleKeeping implements Keeping {
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  newest(): Body {
    return newestBody(this.#scene);
  }

  async keep(put: (place: KeepingPlace) => Awaitable<void>): Promise<void> {
    const { parts, resource, subject, known, signal, localLogger: logger } = this.#scene;
    // Marks that are kept only in memory, because the object is full, do not count here.
    if (known.unsavable !== undefined) throw noRoom();
    const body = newestBody(this.#scene);
    const patch = new Patch(undefined, { body });
    await put({ body, patch });
    try {
      const { missing } = await parts.apply({
        resource,
        body,
        patch,
        logger,
        signal,
        turn: () => subject.takeTurn(),
        newerThan: (than) => subject.newerThan(than)?.body,
        onWrite: ({ before, after }) => subject.noteWrite({ before, after, asked: undefined }),
      });
      if (missing) throw new KopfError('The object is gone.', { code: 'KOPF_OBJECT_GONE' });
    } catch (error) {
      throw isTooLarge(error) ? noRoom(error) : error;
    }
  }
}

export function keepingFor(scene: Scene): Keeping {
  return new CycleKeeping(scene);
}

function noRoom(cause?: unknown): KopfError {
  return new KopfError(
    'There is no room in the object for the progress of its handlers: annotations are limited to 256 KiB in total.',
    { code: NO_ROOM, cause },
  );
}
