/**
 * Storing marks in the middle of a call. It goes the way of all patches, and counts as our own change of the object: it is
 * nobody's news, whatever the server makes of it.
 */
import { type Awaitable, type Body, KopfError, Patch } from '@kopf-ts/core';
import { isTooLarge, type Keeping, type KeepingPlace, NO_ROOM } from '@kopf-ts/core/engine';
import { newestBody, type Scene } from './scene.js';

/** Almost no handler needs it, and every cycle has one: so there is nothing in it until it is used. */
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
    // What is kept in the memory alone, since the object is full, is not what is asked for here.
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
