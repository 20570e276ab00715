/** What all steps of one cycle of one object need. */
import {
  type AnyObject,
  type DiffBaseStorage,
  KopfError,
  type Logger,
  Patch,
  type ProgressStorage,
  type Resource,
} from '@kopf-ts/core';
import { type ChangingCause, objectLogger, type ToggleView, type WatchedEvent } from '@kopf-ts/core/engine';
import type { ObjectMemory } from '../memories.js';
import type { OperatorParts } from '../parts.js';
import type { ApplyFn } from './applier.js';
import type { RunningDaemons } from './spawning.js';
import type { Work } from './work.js';

export interface ProcessorParts extends OperatorParts {
  readonly apply: ApplyFn;
  readonly paused: ToggleView;
  readonly daemons: RunningDaemons;
}

export interface CycleOptions extends Work {
  readonly resource: Resource;
  readonly memory: ObjectMemory;
  readonly signal: AbortSignal;
}

export interface Cycle {
  readonly parts: ProcessorParts;
  readonly resource: Resource;
  readonly memory: ObjectMemory;
  readonly eventType: WatchedEvent['type'];
  readonly body: AnyObject;
  readonly patch: Patch;
  /** The patch begins with what could not be sent before. */
  readonly hasRemaining: boolean;
  /** What was remembered when it began: valid again, if all is to be done again. */
  readonly before: Pick<ObjectMemory, 'handled' | 'isHandledOnce'>;
  readonly signal: AbortSignal;
  /** Has the object looked at again. */
  readonly comeBack: (() => void) | undefined;
  /** Of those who do not post what they log as events of Kubernetes. */
  readonly localLogger: Logger;
  /** The same in all causes. */
  readonly ofOperator: Pick<ChangingCause, 'client' | 'indices'>;
}

export function newCycle(parts: ProcessorParts, options: CycleOptions, body: AnyObject): Cycle {
  const { client, indices, logger } = parts;
  const { resource, memory, signal, state, comeBack } = options;
  return {
    parts,
    resource,
    memory,
    signal,
    comeBack,
    body,
    eventType: state?.type ?? null,
    patch: new Patch(memory.remaining, { body }),
    hasRemaining: memory.remaining !== undefined,
    before: { handled: memory.handled, isHandledOnce: memory.isHandledOnce },
    localLogger: objectLogger({ logger, body }),
    ofOperator: { client, ...(indices === undefined ? {} : { indices }) },
  };
}

export interface Storages {
  readonly progressStorage: ProgressStorage;
  readonly diffbaseStorage: DiffBaseStorage;
}

export function storagesOf({ settings }: OperatorParts): Storages {
  const { progressStorage, diffbaseStorage } = settings.persistence;
  if (progressStorage !== undefined && diffbaseStorage !== undefined) return { progressStorage, diffbaseStorage };
  throw new KopfError(
    'There is no storage for the progress of handlers and for the last handled states of objects. Set both ' +
      'settings.persistence.progressStorage and settings.persistence.diffbaseStorage: e.g. to those of @kopf-ts/storage.',
    { code: 'KOPF_NO_STORAGE' },
  );
}
